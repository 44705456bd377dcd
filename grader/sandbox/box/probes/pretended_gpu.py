"""What a student's module is made of on a machine with a GPU: it is imported and built anew where one seems to be.

`nn.Parameter(…).to(device)` is the parameter itself where it already lies on that device, and a plain tensor elsewhere.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from ..loading import student_code, student_machine
from ..loading.later_modules import later
from .configured_module import built


def parameters_on_a_gpu(file: str, name: str, config: dict[str, Any]) -> dict[str, list[int]] | None:
    """The shapes of its parameters; None if it cannot be told. Whatever lies on that GPU in fact stays where it is."""
    with contextlib.suppress(Exception), _imported_anew(), student_machine.pretended_gpu():
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
