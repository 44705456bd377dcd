"""A rubric says which size what comes out has."""

from __future__ import annotations

import pytest

from grader.checks.formulas.key_variants import Reading, with_readable_keys


@pytest.mark.parametrize("shape", ["mxn", "m×k", "m", "m×n×t", ""])
def test_a_size_of_a_result_that_is_none_stops_when_the_rubric_is_loaded(shape: str) -> None:
    symbols = {"Q": "d×n", "K": "d×m", "V": "t×m", "β": "scalar", "d": "size", "n": "size", "m": "size", "t": "size"}
    reading = Reading(name="H", symbols=symbols, equals=["V softmax_β(K^T Q)"], results={"A": shape})
    reading.softmax_normalises = "each_column"
    with pytest.raises(ValueError, match="the size of A"):
        with_readable_keys([reading])
    assert with_readable_keys([reading.model_copy(update={"results": {"A": "m×n", "H": "t×n"}})])
