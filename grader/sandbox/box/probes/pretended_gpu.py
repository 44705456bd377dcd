"""What a student's module is made of on a machine with a GPU: it is imported and built anew where one seems to be.

`nn.Parameter(…).to(device)` is the parameter itself where it already lies on that device, and a plain tensor elsewhere.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from ..calls import replaced
from ..loading import student_code
from ..loading.later_modules import later
from .configured_module import built


def parameters_on_a_gpu(file: str, name: str, config: dict[str, Any]) -> dict[str, list[int]] | None:
    """The shapes of its parameters; None if it cannot be told. Whatever lies on that GPU in fact stays where it is."""
    with contextlib.suppress(Exception), _imported_anew(), _pretending():
        module = built(file, name, config, "float32")
        return {key: list(value.shape) for key, value in module.named_parameters()}
    return None


@contextlib.contextmanager
def _imported_anew() -> Iterator[None]:
    """Within, none of the student's files has been imported yet."""
    modules = student_code.own_modules()
    own = {key: module for key, module in later() if module in modules}
    loaded = dict(student_code.loaded)
    for key in own:
        del sys.modules[key]
    student_code.loaded.clear()
    try:
        yield
    finally:
        student_code.loaded.clear()
        student_code.loaded.update(loaded)
        sys.modules.update(own)


@contextlib.contextmanager
def _pretending() -> Iterator[None]:
    import torch
    from torch.overrides import TorchFunctionMode

    class Copying(TorchFunctionMode):  # type: ignore[misc]  # torch declares no types for it
        """Moving to the GPU gives a copy, as it would; all else happens here."""

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            options = dict(kwargs or {})
            if function is torch.Tensor.cuda:
                return args[0].clone()
            if function is torch.Tensor.to and any(map(_is_gpu, (*args[1:2], options.get("device")))):
                return args[0].clone()
            if _is_gpu(options.get("device")):
                options["device"] = "cpu"
            return function(*args, **options)

    def _is_gpu(device: Any) -> bool:
        if isinstance(device, int) and not isinstance(device, bool):
            return True
        return isinstance(device, str | torch.device) and str(device).startswith("cuda")

    answers = {"is_available": True, "current_device": 0, "device_count": 1}
    places = [(torch.cuda, name, lambda *_, value=value: value) for name, value in answers.items()]
    with replaced(places), Copying():
        yield
