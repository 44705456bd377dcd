"""Differences: found wherever they are, and none seen where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.compare import MAX_NUMBERS, Difference, difference, numbers, told_apart
from grader.errors import WrongKind
from tests.conftest import raises

finite = hnp.arrays(
    np.float64, hnp.array_shapes(max_dims=3, max_side=5), elements=st.floats(-1e6, 1e6, allow_nan=False)
)


@given(finite)
def test_an_array_agrees_with_itself_and_its_float32_form(array: np.ndarray) -> None:
    assert difference(array, array) is None
    assert difference(array.astype(np.float32), array) is None


@given(finite, st.data())
def test_one_wrong_number_is_found_where_it_is(array: np.ndarray, data: st.DataObject) -> None:
    at = tuple(data.draw(st.integers(0, side - 1)) for side in array.shape)
    wrong = array.copy()
    wrong[at] += 1 + abs(wrong[at])
    found = difference(wrong, array)
    assert found is not None
    assert str(at) in found.summary
    assert found.size == pytest.approx(1 + abs(array[at]))


def test_the_worst_is_where_the_tolerance_is_missed_most_and_not_where_numbers_are_large() -> None:
    want = np.array([[1e6, 2.0, 1.0], [4.0, 5.0, 6.0]])
    got = want + np.array([[50.0, 0.0, 0.25], [-0.5, 0.0, 0.1]])  # 50 of a million is within the tolerance
    assert difference(got, want) == Difference("off by 0.5 at (1, 0)", "got 3.5, expected 4", 0.5)


def test_a_tolerance_is_of_the_right_number_and_reaches_up_to_its_bound() -> None:
    assert difference(np.array([1.5]), np.array([1.0]), rtol=0.25, atol=0.25) is None
    assert difference(np.array([1.5]), np.array([1.0]), rtol=0.25, atol=0.0) is not None
    assert difference(np.array([-1.5]), np.array([-1.0]), rtol=0.5, atol=0.0) is None
    assert difference(np.array([1.0]), np.array([0.5]), rtol=0.5, atol=0.0) is not None  # half of 1 is not what counts
    assert difference(np.zeros((0, 3)), np.zeros((0, 3))) is None
    for off, want in ((1e-5, 0.0), (1.1e-4, 1.0)):  # unless told otherwise
        assert difference(np.array([want + 0.99 * off]), np.array([want])) is None
        assert difference(np.array([want + 1.01 * off]), np.array([want])) is not None


def test_numbers_that_differ_are_shown_so_that_they_do() -> None:
    found = difference(np.array([-0.30411]), np.array([-0.30408]), rtol=1e-6, atol=0.0)
    assert found is not None
    assert found.detail == "got -0.30411, expected -0.30408"
    assert told_apart(0.1, 0.1 + 2e-16) == ("0.1", "0.1000000000000002")
    assert told_apart(1.5, 1.5) == ("1.5", "1.5")
    assert told_apart(0.1, 0.1) == ("0.10000000000000001",) * 2


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_named(odd: float) -> None:
    found = difference(np.array([[1.0, 9.0], [odd, odd]]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert found == Difference(f"it is {odd} at (1, 0)", "expected 3", code="not_finite")


@pytest.mark.parametrize(
    ("got", "want", "said"),
    [
        ((3, 2), (2, 3), "its shape is not 2×3 as asked; it looks transposed: it is 3×2"),
        ((2,), (2, 1), "its shape is not 2×1 as asked; an axis of length one is missing or too many: it is 2"),
        ((1, 2), (2,), "its shape is not 2 as asked; an axis of length one is missing or too many: it is 1×2"),
        ((4, 4), (2, 3), "its shape is not 2×3 as asked: it is 4×4"),
        ((), (2,), "its shape is not 2 as asked: it is a single number"),
    ],
)
def test_a_wrong_shape_is_told_exactly(got: tuple[int, ...], want: tuple[int, ...], said: str) -> None:
    found = difference(np.zeros(got), np.zeros(want))
    assert found is not None
    assert said == f"{found.summary}: {found.detail}"


def test_lists_of_numbers_count_as_arrays_and_words_do_not() -> None:
    assert numbers([[1, 2], [3, 4]], "f()").shape == (2, 2)
    with raises(WrongKind, "not_numbers"):
        numbers("1", "f()")
    assert numbers([np.ones(3), np.zeros(3)], "f()").shape == (2, 3)
    with raises(WrongKind, "wrong_parts"):
        numbers((np.ones(3), np.zeros(3)), "f()")
    assert numbers((1, 2.5), "f()").tolist() == [1, 2.5]


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "returned_nothing"),
        ([1, None], "returned_nothing"),
        ([1, 2j], "not_numbers"),
        (np.array([2j]), "not_numbers"),
        ([np.array([2j])], "not_numbers"),
        ([{"a": 1}], "not_numbers"),
        ([[1, 2], [3]], "ragged_rows"),
        ([10**400], "ragged_rows"),
    ],
)
def test_what_is_no_array_of_numbers_is_named(value: object, code: str) -> None:
    with raises(WrongKind, code):
        numbers(value, "f()")


def test_a_large_answer_is_taken_up_to_the_bound() -> None:
    assert numbers(np.zeros(MAX_NUMBERS, np.int8), "f()").size == MAX_NUMBERS
    with raises(WrongKind, "too_many_numbers"):
        numbers(np.zeros(MAX_NUMBERS + 1, np.int8), "f()")


def test_a_list_counts_as_a_number_beside_those_in_it() -> None:
    assert numbers([np.zeros(MAX_NUMBERS - 1, np.int8)], "f()").size == MAX_NUMBERS - 1
    with raises(WrongKind, "too_many_numbers"):
        numbers([np.zeros(MAX_NUMBERS, np.int8)], "f()")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "code"),
    [
        (["x" * 10**6] + ["y"] * 1000, "not_numbers"),
        (np.zeros(3_000_000), "too_many_numbers"),
        ([[np.zeros(1_500_000)], [np.zeros(1_500_000)]], "too_many_numbers"),
        ([[0] * 10**5] * 30, "too_many_numbers"),
    ],
    ids=["text", "array", "arrays in lists", "lists"],
)
def test_what_is_far_too_large_is_refused_before_it_is_unfolded(value: object, code: str) -> None:
    with raises(WrongKind, code):
        numbers(value, "f()")
