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
    mistaken = frozen.named_apart([(Diagnosis("it forgets the scale", "no_scale"), abs), ("it forgets the scale", abs)])
    one = frozen.Question((first, 2), {"mask": second}, {frozen.RIGHT: first.T, **dict.fromkeys(mistaken, first)})
    other = frozen.Question((first, 2), {"mask": ~second}, {frozen.RIGHT: -first, **dict.fromkeys(mistaken, first)})
    frozen.write(tmp_path / "deep" / "answers.json", [one, other], seed=7)
    right = frozen.answers(tmp_path / "deep" / "answers.json")[frozen.RIGHT]
    np.testing.assert_array_equal(right(first, 2, mask=second), first.T)
    np.testing.assert_array_equal(right(first, 2, mask=~second), -first)
    mistakes = [what for what, _ in frozen.mistakes(tmp_path / "deep" / "answers.json")]
    assert mistakes == ["it forgets the scale"] * 2
    assert [code_of(what) for what in mistakes] == ["no_scale", ""]
    for args, kwargs in (((first, 3), {"mask": second}), ((first, 2), {}), ((first, 2), {"mask": first > 9})):
        with pytest.raises(UsageError, match=r"^answers\.json knows no answer .* it was made for seed 7$"):
            right(*args, **kwargs)


def test_a_file_without_questions_has_no_answers(tmp_path: Path) -> None:
    frozen.write(tmp_path / "answers.json", [], seed=0)
    assert frozen.answers(tmp_path / "answers.json") == {}


def test_nested_arguments_and_answers_come_back(tmp_path: Path) -> None:
    x = np.arange(3.0)
    batch = {"x": (x, [x]), "shape": (2, 3), 7: None, "nan": float("nan")}
    answer = (x, {"y": x + 1, "z": np.array(2.0)})
    frozen.write(tmp_path / "answers.json", [frozen.Question((batch,), {}, {frozen.RIGHT: answer})], seed=0)
    right = frozen.answers(tmp_path / "answers.json")[frozen.RIGHT]
    first, rest = right({**batch, "x": (x + 1e-12, [x])})
    np.testing.assert_array_equal(first, x)
    assert (rest["y"].tolist(), rest["z"].shape) == ([1, 2, 3], ())
    for other in ({**batch, "shape": (3, 2)}, {**batch, "x": (x, [x + 1])}, {**batch, 7: 0}, {**batch, "x": [x, [x]]}):
        with pytest.raises(UsageError, match="knows no answer"):
            right(other)
