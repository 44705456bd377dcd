"""What a student's machine has and this one may not: a GPU, and a compiler for torch.

Code that asks for a GPU runs on what there is, and that is noted. Moving to a device that is not here makes a copy, as
moving to one would: what is a parameter before it is none afterwards, and what is written into the copy is not written
into the original. Nothing else is changed.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any

from ..calls import replaced

_NAMED = re.compile(r"(cuda|mps|xpu|hip)(:\d+)?")
_ASKED_FOR = re.compile(rb"cuda|mps|xpu|get_device")

asked_for: set[str] = set()  # kinds of devices that code wanted and this machine has not
_installed: list[Any] = []
_pretending: list[bool] = []  # while code is told that there is a GPU


def offer(source: bytes) -> None:
    """Before a file is run that may ask for either."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return
    if b"compile" in source:
        torch.compile = _uncompiled  # computes the same, and needs no compiler and no seconds to load one
    # Not where there is one, nor while a probe pretends so: it has a way of its own to move things.
    if _ASKED_FOR.search(source) and not _installed and not torch.cuda.is_available():
        _stand_in_for_a_gpu(torch)


def _uncompiled(model: Any = None, **options: Any) -> Any:
    return model if model is not None else lambda decorated: decorated


@contextlib.contextmanager
def pretended_gpu() -> Iterator[None]:
    """Within, code that asks whether there is a GPU is told so, and moving to it makes a copy. That is not noted."""
    import torch

    asked_before = set(asked_for)
    answers = {"is_available": True, "current_device": 0, "device_count": 1}
    places = [(torch.cuda, name, lambda *_, value=value: value) for name, value in answers.items()]
    _pretending.append(True)
    try:
        with replaced(places), _mode(torch)():
            yield
    finally:
        _pretending.clear()
        asked_for.intersection_update(asked_before)


def _stand_in_for_a_gpu(torch: Any) -> None:
    _installed.append(_mode(torch)())
    _installed[0].__enter__()
    set_default = torch.set_default_device
    torch.set_default_device = lambda device: set_default("cpu" if _is_absent(torch, device) else device)
    answers = {"current_device": 0, "get_device_name": "no GPU", "synchronize": None, "set_device": None}
    for name, value in answers.items():
        setattr(torch.cuda, name, _answering(value))


def _answering(value: Any) -> Any:
    def answer(*args: Any, **options: Any) -> Any:
        asked_for.add("cuda")
        return value

    return answer


def _is_absent(torch: Any, device: Any) -> bool:
    """Whether it names a device that this machine has not. Numbers are GPUs; a tensor on the CPU says it is on -1."""
    if isinstance(device, bool) or not isinstance(device, str | int | torch.device):
        return False
    kind = "cuda" if isinstance(device, int) else str(device).partition(":")[0]
    if isinstance(device, str) and not _NAMED.fullmatch(device):
        return False
    present = {
        "cuda": lambda: not _pretending and torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available,
        "xpu": torch.xpu.is_available,
    }
    if kind in ("cpu", "meta") or (kind in present and present[kind]()):
        return False
    asked_for.add(kind)
    return True


def _mode(torch: Any) -> type:
    from torch.overrides import TorchFunctionMode

    moves = {torch.Tensor.cuda, *(getattr(torch.Tensor, name) for name in ("xpu",) if hasattr(torch.Tensor, name))}

    class OnWhatThereIs(TorchFunctionMode):  # type: ignore[misc]  # torch declares no types for it
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            options = dict(kwargs or {})
            if function in moves and _is_absent(torch, "cuda"):
                return args[0].to("cpu", copy=True)
            if function is torch.Tensor.to and len(args) > 1 and _is_absent(torch, args[1]):
                args = (args[0], torch.device("cpu"), *args[2:4])  # what may come fifth says whether to copy
                options["copy"] = True
            if "device" in options and _is_absent(torch, options["device"]):
                options["device"] = torch.device("cpu")
                if function is torch.Tensor.to:
                    options["copy"] = True
            return function(*args, **options)

    return OnWhatThereIs
