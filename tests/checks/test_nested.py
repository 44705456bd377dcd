"""What a reference returns says in which parts a student's value is read; fair ways to write them are all read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.checks.functions.nested import UnsupportedValue, as_asked, difference_in, flat, values_in
from grader.errors import WrongKind

ROWS = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("reference", "returned"),
    [
        ((0.5, 2), (np.array(0.5), 2.0)),
        ((0.5, 2), np.array([0.5, 2])),
        ([0.5, 2], (0.5, 2)),
        ([[1, 2], [3, 4]], np.array([[1.0, 2], [3, 4]])),
        (list(ROWS), tuple(ROWS)),
        (list(ROWS), ROWS),
        ((ROWS, {"loss": np.float32(1)}), [ROWS.tolist(), {"loss": 1}]),
        ([ROWS, ROWS[0]], (ROWS, [0, 1, 2])),
        ((), []),
        ({}, {}),
        ("the cat", "the cat"),
        (None, None),
        ((["the", "cat"], None, 2), (["the", "cat"], None, 2.0)),
    ],
)
def test_a_right_value_is_right_however_its_parts_are_written(reference: Any, returned: Any) -> None:
    want = values_in(reference)
    got = as_asked(returned, want, "f()")
    assert difference_in(got, want, 0, 0) is None
    np.testing.assert_array_equal(flat(got), flat(want))


@pytest.mark.parametrize(
    ("reference", "returned", "says"),
    [
        ((ROWS, 1), ROWS[:1], "f() returned an array; 2 values were asked for"),
        ((ROWS, 1), [ROWS, 1, 2], "f() returned 3 values; 2 values were asked for"),
        ((ROWS, 1), 7, "f() returned one value; 2 values were asked for"),
        ({"a": ROWS}, {}, "f() returned an empty dictionary; a dictionary with a was asked for"),
        ({"a": (1, ROWS)}, {"a": (1, "no")}, "f()['a'][1] returned text; an array of real numbers was asked for"),
        (("the", None), ("the", 0), "f()[1] returned one value; nothing (None) was asked for"),
        (("the", None), (None, None), "f()[0] returned nothing (None); text was asked for"),
    ],
)
def test_other_parts_are_named_but_in_hidden_checks(reference: Any, returned: Any, says: str) -> None:
    with pytest.raises(WrongKind) as raised:
        as_asked(returned, values_in(reference), "f()")
    assert raised.value.message == says
    assert raised.value.concealed_code == "wrong_kind"
    assert raised.value.concealed == "it returned another kind of value than was asked for"


@pytest.mark.parametrize("returned", [object(), (ROWS, b"bytes"), np.array(1j)])
def test_a_reference_returns_what_can_be_compared(returned: Any) -> None:
    with pytest.raises(UnsupportedValue):
        values_in(returned)


def test_another_text_is_shown_beside_the_right_one() -> None:
    want = values_in(["the", "cat"])
    found = difference_in(as_asked(["the", "dog"], want, "f()"), want, 0, 0)
    assert found is not None
    assert (found.code, found.detail) == ("other_text", "in [1], got dog, expected cat")
    np.testing.assert_array_equal(flat(want), [*map(ord, "thecat")])
