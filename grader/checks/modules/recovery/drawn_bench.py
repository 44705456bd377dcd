"""A module on a workbench whose parameters its box draws: only those that are set otherwise are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.checks.modules.recovery.first_look import FirstLook, looked, question
from grader.checks.modules.recovery.image_bench import ImageBench, Sizes
from grader.checks.modules.recovery.workbench import Ran
from grader.compare import Array
from grader.errors import Crashed
from grader.model import Student


@dataclass
class DrawnBench(ImageBench):
    """For a first look (`first_look.py`), which asks about one input at a time. What is not clear to it is a crash."""

    seed: int = 0
    drawn: dict[str, Array] = field(default_factory=dict)
    used: frozenset[str] = frozenset()  # with all parameters as they are drawn
    made: Sequence[int] = ()  # the shape of an output, but for the batch

    def run(self, *inputs: Sequence[Array], cotangents: Sequence[Array] = (), **changed: Any) -> Ran:
        assert len(inputs) == 1
        assert not cotangents
        assert not changed
        return Ran(self._seen(inputs[0]).outputs, {}, [], [])

    def run_changed(self, *inputs: Sequence[Array], changes: Sequence[Mapping[str, Array]]) -> list[list[Array]]:
        assert len(inputs) == 1
        return [[output] for output in self._seen(inputs[0], changes=[dict(change) for change in changes]).changed]

    def influential(self, rng: np.random.Generator, inputs: Sequence[Array]) -> set[str]:
        """The parameters whose gradients are not nothing: a guess, which is good enough for what values then prove."""
        if not self._held():
            return set(self.used)
        cotangent = rng.normal(size=(len(inputs[0]), *self.made))
        return with_influence(self._seen(inputs, cotangent=cotangent))

    def _held(self) -> dict[str, Array]:
        return {name: value for name, value in self.values.items() if value is not self.drawn[name]}

    def _seen(self, inputs: Sequence[Array], **more: Any) -> FirstLook:
        assert isinstance(self.settings, list)
        asked = question(self.name, self.settings, self.seed, inputs, parameters=self._held(), **more)
        if (seen := looked(self.student, self.file, [asked])) is None:
            raise Crashed(f"{self.name} gave no outputs")
        return seen[0]


def with_influence(look: FirstLook) -> set[str]:
    return set(look.made.shapes).difference(look.open)


def drawn_bench(student: Student, file: str, name: str, sizes: Sizes, seed: int, look: FirstLook) -> DrawnBench:
    """The workbench of a model of images that was looked at with this seed."""
    return DrawnBench(
        student,
        file,
        name,
        sizes.arguments(),
        sizes=sizes,
        values=look.values,
        fresh={name: look.values[name] for name in look.made.shapes},  # no values of the student's own are known
        trainable=[name for name in look.values if name in look.made.trainable],
        buffers=dict.fromkeys(look.made.buffers, ()),
        seed=seed,
        drawn=look.values,
        used=frozenset(with_influence(look)),
        made=look.outputs[0].shape[1:],
    )
