"""Weights looked at all at once: what passes so passes input by input, and what does not is told as ever."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from grader.checks.functions import all_weights, values
from grader.compare import RTOL
from grader.errors import Crashed
from grader.kept_question import Answers
from grader.model import Outcome, Status
from grader.sandbox.inside.array_answers import ArrayAnswers, TakenDown
from reference.attention import attention

Function = Callable[..., Any]


class _Together(Answers):
    """What a box sends for several questions."""

    def __init__(self, arrays: list[Any]) -> None:
        taken = TakenDown()
        assert all(taken.takes({"value": array}) for array in arrays)
        self._answers = ArrayAnswers(*taken.packed())
        self._each = iter(self._answers)

    def __next__(self) -> Any:
        return next(self._each)

    def together(self) -> ArrayAnswers:
        return self._answers


class _Asked:
    """A student whose answers come together, or one by one."""

    def __init__(self, function: Function, together: bool) -> None:
        self._function, self._together = function, together

    def probe_each(self, probe: str, file: str, requests: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        answers = [np.asarray(self._function(*one["args"], **one["kwargs"])) for one in requests]
        return _Together(answers) if self._together else iter(answers)


def _bent(by: Callable[[Any], Any]) -> Function:
    return lambda Q, K, V, beta: by(attention(Q, K, V, beta))


def _first_query(H: Any) -> Any:
    return np.repeat(H[:, :1], H.shape[1], axis=1)


def _last_entry(value: float) -> Function:
    def bend(H: Any) -> Any:
        H = H.copy()
        H[-1, -1] = value
        return H

    return _bent(bend)


FUNCTIONS: dict[str, Function] = {
    "right": attention,
    "float32": _bent(lambda H: H.astype(np.float32)),
    "near the edge, within": _bent(lambda H: H * (1 + RTOL * 0.9)),
    "near the edge, beyond": _bent(lambda H: H * (1 + RTOL * 1.1)),
    "off": _bent(lambda H: H * 1.01),
    "negative": _bent(lambda H: H - 0.01),
    "transposed": _bent(np.transpose),
    "one query for all": _bent(_first_query),
    "nan at the end": _last_entry(np.nan),
    "infinite at the end": _last_entry(np.inf),
    "other at the end": _last_entry(0.5),
    "no weights": lambda Q, K, V, beta: np.full((len(V), Q.shape[1]), 1 / V.shape[1]),
    "no values": lambda Q, K, V, beta: np.ones((len(V), Q.shape[1])) * np.arange(1, Q.shape[1] + 1),
    "the order of values": lambda Q, K, V, beta: np.repeat(V[:, :1], Q.shape[1], axis=1),
    "whole numbers": lambda Q, K, V, beta: np.ones((len(V), Q.shape[1]), int),
    "a number": lambda Q, K, V, beta: 1.0,
}


@pytest.mark.parametrize("check", [values.columns_sum_to_one, values.ignores_the_order_of_pairs])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_together_they_are_judged_as_one_by_one(check: Any, function: Function) -> None:
    for seed in range(5):
        at_once, one_by_one = (_outcome(check, _Asked(function, together), seed) for together in (True, False))
        assert at_once == one_by_one


def _outcome(check: Any, student: Any, seed: int) -> Outcome:
    found: Outcome = check(student, np.random.default_rng(seed), file="attention.py", function="attention")
    return found


@pytest.mark.parametrize("check", [values.columns_sum_to_one, values.ignores_the_order_of_pairs])
def test_right_weights_pass_by_the_one_look(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "difference", None)  # what looks input by input would need them
    monkeypatch.setattr(values, "zip", None, raising=False)
    assert _outcome(check, _Asked(attention, True), 0).status is Status.PASSED


def test_the_one_look_leaves_sums_near_the_edge_to_the_other() -> None:
    """They are added up in another order there."""
    cases = values._with_unit_values(np.random.default_rng(0))
    weights = [attention(*case.args) for case in cases]
    shapes = [one.shape for one in weights]
    assert all_weights.are_weights(_Together(weights).together(), cases, shapes)
    edge = [one * (1 + RTOL * 0.9) for one in weights]
    assert not all_weights.are_weights(_Together(edge).together(), cases, shapes)


class _Ends:
    """A box that ends over the first question."""

    def probe_each(self, *asked: Any) -> Answers:
        class Silent(Answers):
            def __next__(self) -> Any:
                raise Crashed("attention() in attention.py ended its own process instead of returning")

            def together(self) -> None:
                next(self)

        return Silent()


@pytest.mark.parametrize("check", [values.columns_sum_to_one, values.ignores_the_order_of_pairs])
def test_code_that_ends_its_box_is_told_with_which_input(check: Any) -> None:
    with pytest.raises(Crashed) as raised:
        _outcome(check, _Ends(), 0)
    assert "Q 4×3" in raised.value.message
