"""What a module computes on the way to its output: every tensor that an operation of torch takes or gives.

torch reports each operation to a dispatch mode, whoever asked for it: layers of its own, functions, operators, scripts.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import Any

from ..loading import student_code

_MOST_NUMBERS = 4_000_000  # 32 MB: half of what a message may hold
_MOST_OF_ONE = 500_000
_MOST_VALUES = 60_000  # loops over every pair of tokens make some ten thousands


class IntermediateValues:
    """Within `with`, collects the values of every operation, with the line of the student's code that asked for it.

    Values of one place in a loop lie together, in the order of its turns: place by place, each value once.
    """

    def __init__(self, parameters: Any, file: str) -> None:
        self._file = os.path.abspath(file)
        self.complete = True
        self.single = False  # whether something is computed in single precision
        self._parameters = {value.untyped_storage().data_ptr() for value in parameters}
        self._places: dict[tuple[Any, ...], list[Any]] = {}
        self._known: set[tuple[Any, ...]] = set()
        self._values = self._numbers = 0
        self._stack = ExitStack()

    def __enter__(self) -> IntermediateValues:
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel
        from torch.utils._python_dispatch import TorchDispatchMode

        class Reporting(TorchDispatchMode):  # type: ignore[misc]  # torch declares no types for it
            @classmethod
            def _should_skip_dynamo(cls) -> bool:
                return False  # to skip torch's compiler it would be loaded first, for a second or two

            def __torch_dispatch__(mode, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                line = _line()
                parameters = tuple(
                    (part.untyped_storage().data_ptr(), part.storage_offset())
                    for part in args
                    if self._is_parameter(part)
                )
                for number, part in enumerate(args):  # what was written into since it was made is new
                    self._keep(part, (line, str(operation), number, parameters), only_new=True)
                given = operation(*args, **(kwargs or {}))
                for number, part in enumerate(given if isinstance(given, tuple | list) else (given,)):
                    self._keep(part, (line, str(operation), -1 - number, parameters))
                return given

        was = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        self._stack.callback(torch.backends.mha.set_fastpath_enabled, was)
        self._stack.enter_context(sdpa_kernel(SDPBackend.MATH))  # a fused kernel keeps its weights to itself
        self._stack.enter_context(Reporting())
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def found(self) -> dict[str, Any]:
        """For each place and shape an array with one row for each turn, and its line in the student's file."""
        import numpy as np

        return {
            "values": [np.stack(values) for values in self._places.values()],
            "lines": [line if file == self._file else 0 for (file, line), *_ in self._places],
            "complete": self.complete,
            "single": self.single,
        }

    def _is_parameter(self, part: Any) -> bool:
        import torch

        return isinstance(part, torch.Tensor) and part.untyped_storage().data_ptr() in self._parameters

    def _keep(self, part: Any, place: tuple[Any, ...], only_new: bool = False) -> None:
        import torch

        if not isinstance(part, torch.Tensor) or not part.is_floating_point() or self._is_parameter(part):
            return
        if part.numel() < 2:  # loops over pairs of tokens make one number at a time
            return
        if self._values >= _MOST_VALUES or part.numel() > _MOST_OF_ONE or self._numbers > _MOST_NUMBERS:
            self.complete = False
            return
        self.single = self.single or part.dtype != torch.float64
        value = part.detach().to(torch.float64).numpy()
        content = (value.shape, hash(value.tobytes()))
        key = (place, *content)
        if key not in self._known and not (only_new and content in self._known):
            self._known |= {key, content}
            self._values += 1
            self._numbers += value.size
            self._places.setdefault((*place, value.shape), []).append(value.copy())


def _line() -> tuple[str, int]:
    """The file and the line of the student's code that asks for an operation."""
    frame = sys._getframe(2)
    while frame is not None and not student_code.is_own(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)
