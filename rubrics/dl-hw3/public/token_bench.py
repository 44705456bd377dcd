"""A student's module of tokens on a workbench: its crashes say the sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader import Array, Crashed, Killed, NotImportable, TimedOut, shape
from grader.modules import Workbench


@dataclass
class TokenBench(Workbench):
    """`called` are its arguments as a student writes them."""

    called: str = ""

    def ask(
        self, config: Any, values: Any, inputs: Any, cotangents: Any, changes: Sequence[Any] = ()
    ) -> dict[str, Any]:
        try:
            return super().ask(config, values, inputs, cotangents, changes)
        except (TimedOut, Killed, NotImportable):
            raise
        except Crashed as fault:
            raise self._with_sizes(fault, inputs) from None

    def _with_sizes(self, fault: Crashed, inputs: Sequence[Sequence[Array]]) -> Crashed:
        """The crash, with the sizes the module was built with and, if they are all alike, those of its input."""
        built = f"{self.name}({self.called})"
        shapes = {shape(array.shape) for arrays in inputs for array in arrays}
        given = f", given {shapes.pop()} (batch × tokens × width)" if len(shapes) == 1 else ""
        message = fault.message.replace(f"{self.name}()", built)
        return Crashed(message + given, fault.detail, fault.concealed, code=fault.code)
