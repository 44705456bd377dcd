"""Answers that are kept in a file come back for the questions they were written for, and for no other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader.checks.functions import frozen
from grader.checks.functions.ground_truth import code_of
from grader.errors import UsageError
from reference.mistakes.diagnosis import Diagnosis


def test_answers_come_back_for_their_own_questions_alone(tmp_path: Path) -> None:
    first, second = np.arange(6.0).reshape(2, 3), np.array([[True], [False]])
    mistaken = [(Diagnosis("it forgets the scale", "no_scale"), first), ("it forgets the scale", 2 * first)]
    one = frozen.Question((first, 2), {"mask": second}, first.T, mistaken)
    other = frozen.Question((first, 2), {"mask": ~second}, -first, mistaken)
    frozen.write(tmp_path / "deep" / "answers.json", [one, other], seed=7)
    known = frozen.answers(tmp_path / "deep" / "answers.json")
    right = known.function
    np.testing.assert_array_equal(right(first, 2, mask=second), first.T)
    np.testing.assert_array_equal(right(first, 2, mask=~second), -first)
    assert [what for what, _ in known.mistakes] == ["it forgets the scale"] * 2
    assert [code_of(what) for what, _ in known.mistakes] == ["no_scale", ""]
    for (_, mistake), values in zip(known.mistakes, (first, 2 * first), strict=True):
        np.testing.assert_array_equal(mistake(first, 2, mask=second), values)
    for args, kwargs in (((first, 3), {"mask": second}), ((first, 2), {}), ((first, 2), {"mask": first > 9})):
        with pytest.raises(UsageError, match=r"^answers\.json knows no answer .* it was made for seed 7$"):
            right(*args, **kwargs)


def test_a_file_without_questions_has_no_answers(tmp_path: Path) -> None:
    frozen.write(tmp_path / "answers.json", [], seed=0)
    known = frozen.answers(tmp_path / "answers.json")
    assert not known.mistakes
    with pytest.raises(UsageError, match="knows no answer"):
        known.function(1.0)


def test_nested_arguments_and_answers_come_back(tmp_path: Path) -> None:
    x = np.arange(3.0)
    batch = {"x": (x, [x]), "shape": (2, 3), 7: None, "nan": float("nan")}
    answer = (x, {"y": x + 1, "z": np.array(2.0)})
    frozen.write(tmp_path / "answers.json", [frozen.Question((batch,), {}, answer)], seed=0)
    right = frozen.answers(tmp_path / "answers.json").function
    first, rest = right({**batch, "x": (x + 1e-12, [x])})
    np.testing.assert_array_equal(first, x)
    assert (rest["y"].tolist(), rest["z"].shape) == ([1, 2, 3], ())
    for other in ({**batch, "shape": (3, 2)}, {**batch, "x": (x, [x + 1])}, {**batch, 7: 0}, {**batch, "x": [x, [x]]}):
        with pytest.raises(UsageError, match="knows no answer"):
            right(other)
