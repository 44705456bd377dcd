"""A student's module of tokens on a workbench: its crashes say the sizes, a tensor of four maps shows as four."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader import compare
from grader.checks.modules.recovery.workbench import Workbench
from grader.compare import Array, numbers
from grader.errors import Crashed, Killed, NotImportable, TimedOut

_MAPS = 4  # queries, keys, values and output; where three are packed, each reading of them is tried


@dataclass
class TokenBench(Workbench):
    """`called` are its arguments as a student writes them."""

    called: str = ""
    cut: tuple[str, ...] = field(default=())  # the tensors that are shown in pieces

    def _ask(
        self, config: Any, values: Any, inputs: Any, cotangents: Any, changes: Sequence[Any] = ()
    ) -> dict[str, Any]:
        try:
            whole = [self._whole({**values, **change}, change) for change in changes]
            reply = super()._ask(config, self._whole(values, values), inputs, cotangents, whole)
        except (TimedOut, Killed, NotImportable):
            raise
        except Crashed as fault:
            raise self._with_sizes(fault, inputs) from None
        if not self.values:
            self.cut = _in_four({name: numbers(value, self.name) for name, value in reply["parameters"].items()})
        reply["trainable"] = [piece for name in reply["trainable"] for piece in self._pieces(name)]
        return reply | {kind: self._in_pieces(reply[kind]) for kind in ("parameters", "gradients")}

    def _with_sizes(self, fault: Crashed, inputs: Sequence[Sequence[Array]]) -> Crashed:
        """The crash, with the sizes the module was built with and, if they are all alike, those of its input."""
        built = f"{self.name}({self.called})"
        shapes = {compare.shape(array.shape) for arrays in inputs for array in arrays}
        given = f", given {shapes.pop()} (batch × tokens × width)" if len(shapes) == 1 else ""
        message = fault.message.replace(f"{self.name}()", built)
        return Crashed(message + given, fault.detail, fault.concealed)

    def _pieces(self, name: str) -> list[str]:
        return [f"{name}[{n}]" for n in range(_MAPS)] if name in self.cut else [name]

    def _in_pieces(self, tensors: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in tensors.items():
            found |= dict(zip(self._pieces(name), value, strict=True)) if name in self.cut else {name: value}
        return found

    def _whole(self, values: Mapping[str, Array], changed: Mapping[str, Array]) -> dict[str, Array]:
        """Those that are changed, put together from all pieces."""
        found = {
            name: value for name, value in changed.items() if not name.startswith(tuple(f"{c}[" for c in self.cut))
        }
        for name in self.cut:
            if any(piece in changed for piece in self._pieces(name)):
                found[name] = np.stack([values[piece] for piece in self._pieces(name)])
        return found


def _in_four(tensors: Mapping[str, Array]) -> tuple[str, ...]:
    """Tensors of four square matrices; beside one, those of four vectors as well."""
    matrices = [name for name, value in tensors.items() if value.ndim == 3 and len(value) == _MAPS]
    square = {tensors[name].shape[1:]: name for name in matrices if len(set(tensors[name].shape[1:])) == 1}
    sides = {side for side, _ in square}
    vectors = [name for name, value in tensors.items() if value.shape in {(_MAPS, side) for side in sides}]
    return tuple(sorted([*(name for name in matrices if tensors[name].shape[1:] in square), *vectors]))
