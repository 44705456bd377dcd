"""The encoder block of 2.3 explained by its equations at first sight: one question for each of its sizes.

Who explains all its values by the equations need not be told which tensors have influence: that only narrows down what
could be what. A gradient tells which have any on a single token, which attends to itself alone; all are thought to have
some on several. Where that is not so nothing is explained, and the careful way looks.

Beside what the careful way asks there is one large batch: a mistake that shows in few tokens would otherwise have two
chances to pass, one here and one there.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from grader.checks.functions.preparation import drawn
from grader.checks.modules.encoder_form import BATCHES, SIZES, Sizes
from grader.checks.modules.recovery.block_fits import Wanted
from grader.checks.modules.recovery.block_reading import Answered, BlockSizes, View
from grader.checks.modules.recovery.first_look import FirstLook, apart, looked, question, seed_for
from grader.checks.modules.recovery.token_bench import may_be_cut
from grader.checks.modules.recovery.workbench import Workbench
from grader.compare import Array, difference
from grader.kept_question import KeptQuestion, KeptQuestions
from grader.model import Student
from reference.mistakes.encoder_blocks import POST, RELU

_BATCHES = (*BATCHES, (16, 12))  # the large one last: what does not fit is mostly seen by the small ones


def wanted(sizes: Sizes) -> Wanted:
    return Wanted((POST,), (RELU,), output=sizes.heads > 1, hidden=sizes.hidden)


@dataclass(frozen=True)
class _Asked:
    questions: KeptQuestions
    single: tuple[tuple[Array, ...], ...]  # for each of the sizes
    several: tuple[tuple[Array, ...], ...]


def is_right_at_once(student: Student, rng: np.random.Generator, file: str, name: str) -> bool:
    """Whether its values are those of the equations, for all sizes and inputs."""
    asked = drawn(apart(rng), _asked, name)
    seen = looked(student, file, asked.questions)
    if seen is None:
        return False
    bench = Workbench(student, file, name, [])
    return all(
        _is_explained(bench, sizes, look, single, several)
        for sizes, look, single, several in zip(SIZES, seen, asked.single, asked.several, strict=True)
    )


def _asked(rng: np.random.Generator, name: str) -> _Asked:
    questions = list[KeptQuestion]()
    single, several = list[tuple[Array, ...]](), list[tuple[Array, ...]]()
    for sizes in SIZES:
        single.append(tuple(rng.normal(size=(1, 1, sizes.width)) for _ in range(3)))
        several.append(tuple(rng.normal(size=(*batch, sizes.width)) for batch in _BATCHES))
        inputs = [*single[-1], *several[-1], several[-1][0]]
        cotangent = rng.normal(size=single[-1][0].shape)
        questions.append(question(name, astuple(sizes), seed_for(rng), inputs, cotangent=cotangent))
    return _Asked(KeptQuestions(questions), tuple(single), tuple(several))


def _is_explained(
    bench: Workbench, sizes: Sizes, look: FirstLook, single: tuple[Array, ...], several: tuple[Array, ...]
) -> bool:
    *outputs, again = look.outputs
    given = Answered(several, single, np.asarray, (outputs[len(single) :], outputs[: len(single)]))
    alike = all(one.shape == x.shape for one, x in zip(outputs, (*single, *several), strict=True))
    if not alike or difference(again, outputs[len(single)]) or may_be_cut(look.values):
        return False
    bench.values = look.values
    view = View.at_first_sight(
        bench, BlockSizes(*astuple(sizes)), wanted(sizes), given, frozenset(look.values) - frozenset(look.open)
    )
    return view is not None and view.is_right()
