"""What every module is held to (`obligations.py`), asked at once. None says that one has to look, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grader.checks.functions.preparation import drawn
from grader.checks.modules.recovery.first_look import FirstLook, apart, looked, question, seed_for
from grader.checks.modules.recovery.obligations import STEPS, differs_much, every_one_is_trained, is_unchanged
from grader.checks.modules.recovery.workbench import has_moved
from grader.compare import Array, difference
from grader.kept_question import KeptQuestions
from grader.model import Outcome, Student

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Form:
    """A module built from these arguments: which shapes it makes of which, and a batch to be looked at closely."""

    arguments: tuple[int, ...]
    shapes: tuple[tuple[Shape, Shape], ...]
    batch: Shape


@dataclass(frozen=True)
class _FormAsked:
    questions: KeptQuestions
    batches: tuple[Array, ...]


def all_right_in_form(
    student: Student, rng: np.random.Generator, file: str, name: str, forms: tuple[Form, ...]
) -> list[Array] | None:
    """What it makes of each batch, if `right_in_form` finds nothing in any of these forms."""
    asked = drawn(apart(rng), _form_asked, name, forms)
    seen = looked(student, file, asked.questions)
    if seen is None:
        return None
    are_right = map(_is_right_in_form, forms, asked.batches, seen)
    return [one.outputs[len(form.shapes)] for form, one in zip(forms, seen, strict=True)] if all(are_right) else None


def _form_asked(rng: np.random.Generator, name: str, forms: tuple[Form, ...]) -> _FormAsked:
    questions, batches = [], []
    for form in forms:
        seed, x = seed_for(rng), rng.normal(size=form.batch)
        alone = [x[n : n + 1] for n in range(len(x))]
        inputs = [*(rng.normal(size=given) for given, _ in form.shapes), x, x, *alone]
        questions.append(question(name, form.arguments, seed, inputs, watched=True, in_float32=len(form.shapes)))
        batches.append(x)
    return _FormAsked(KeptQuestions(questions), tuple(batches))


def _is_right_in_form(form: Form, x: Array, look: FirstLook) -> bool:
    count = len(form.shapes)
    outputs, (together, again, *alone) = look.outputs[:count], look.outputs[count:]
    fits = (one.shape == want and np.isfinite(one).all() for one, (_, want) in zip(outputs, form.shapes, strict=True))
    return (
        all(fits)
        and together.shape[:1] == x.shape[:1]
        and is_unchanged((x,), [look.given[count]])
        and difference(again, together) is None
        and all(difference(one, together[n : n + 1]) is None for n, one in enumerate(alone))
        and look.single is not None
        and differs_much(look.single, together) is None
    )


@dataclass(frozen=True)
class _TrainingAsked:
    questions: KeptQuestions
    cotangent: Array
    ways: tuple[int, int]  # seeds of directions for all parameters
    direction: Array  # of the input


def trained_at_once(
    student: Student,
    rng: np.random.Generator,
    file: str,
    name: str,
    arguments: Sequence[int],
    shapes: tuple[Shape, Shape],
) -> tuple[FirstLook, Outcome] | None:
    """That `trained` passes it, and what was seen, if all its gradients agree with differences.

    All its parameters and the input move at once along two ways each, as `obligations.py` explains. A gradient that is
    right and not nothing shows influence; the other parameters are moved one by one, and if one of them has influence
    all the same, that is left to the careful way.
    """
    asked = drawn(apart(rng), _training_asked, name, tuple(arguments), shapes)
    seen = looked(student, file, asked.questions)
    if seen is None:
        return None
    (look,) = seen
    if any(one.shape != shapes[1] or not np.isfinite(one).all() for one in (*look.outputs, *look.moved)):
        return None
    if not look.made.shapes or look.made.shapes.keys() != look.made.trainable or not _are_slopes(look, asked):
        return None
    idle = look.open
    if idle and _any_has_influence(student, rng, file, asked, look, idle):
        return None
    return look, every_one_is_trained(len(look.made.shapes) - len(idle), len(idle))


def _training_asked(
    rng: np.random.Generator, name: str, arguments: tuple[int, ...], shapes: tuple[Shape, Shape]
) -> _TrainingAsked:
    given, made = shapes
    seed, ways = seed_for(rng), (seed_for(rng), seed_for(rng))
    x, onward, cotangent = rng.normal(size=given), rng.normal(size=given), rng.normal(size=made)
    step = STEPS[0][0]
    moves = [(way, sign * step) for way in ways for sign in (1, -1)]
    inputs = [x, x, x + step * onward, x - step * onward]
    asked = question(name, arguments, seed, inputs, cotangent=cotangent, moves=moves)
    return _TrainingAsked(KeptQuestions([asked]), cotangent, ways, onward)


def _are_slopes(look: FirstLook, asked: _TrainingAsked) -> bool:
    """Whether the gradients are those of the output; and whether that is the same for the same input."""
    step, off = STEPS[0]
    once, again, ahead, behind = look.outputs
    if look.input_gradient is None or look.input_gradient.shape != asked.direction.shape or difference(again, once):
        return False
    along = [(float((look.input_gradient * asked.direction).sum()), ahead, behind)]
    for way, moved in zip(asked.ways, (look.moved[:2], look.moved[2:]), strict=True):
        along.append((look.along(way), moved[0], moved[1]))
    for got, ahead, behind in along:
        want = float((asked.cotangent * (ahead - behind)).sum() / (2 * step))
        if not abs(got - want) <= off:
            return False
    return True


def _any_has_influence(
    student: Student, rng: np.random.Generator, file: str, asked: _TrainingAsked, look: FirstLook, names: list[str]
) -> bool:
    (before,) = asked.questions
    other = apart(rng)
    changes = [{name: look.values[name] + other.normal(size=look.values[name].shape)} for name in names]
    again = question(before["name"], before["config"], before["seed"], before["inputs"][:1], changes=changes)
    seen = looked(student, file, [again])
    return seen is None or any(has_moved(seen[0].outputs[0], one) for one in seen[0].changed)
