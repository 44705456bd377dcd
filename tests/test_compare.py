"""Differences: found wherever they are, and none seen where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.compare import difference, numbers
from grader.errors import WrongKind

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


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_named(odd: float) -> None:
    found = difference(np.array([[1.0, odd]]), np.array([[1.0, 2.0]]))
    assert found is not None
    assert found.summary == f"it is {odd} at (0, 1)"


@pytest.mark.parametrize(
    ("got", "want", "said"),
    [
        ((3, 2), (2, 3), "its shape is not 2×3 as asked; it looks transposed: it is 3×2"),
        ((2,), (2, 1), "its shape is not 2×1 as asked; an axis of length one is missing or too many: it is 2"),
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
    with pytest.raises(WrongKind, match=r"f\(\) returned text"):
        numbers("1", "f()")
    assert numbers([np.ones(3), np.zeros(3)], "f()").shape == (2, 3)
    with pytest.raises(WrongKind, match="2 things"):
        numbers((np.ones(3), np.zeros(3)), "f()")


@pytest.mark.parametrize(
    "value",
    [
        ["x" * 10**6] + ["y"] * 1000,
        np.zeros(3_000_000),
        [[np.zeros(1_500_000)], [np.zeros(1_500_000)]],
        [[0] * 10**5] * 30,
    ],
    ids=["text", "array", "arrays in lists", "lists"],
)
def test_what_is_far_too_large_is_refused_before_it_is_unfolded(value: object) -> None:
    with pytest.raises(WrongKind, match=r"text|far more numbers"):
        numbers(value, "f()")
