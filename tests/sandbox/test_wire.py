"""Frames: what goes in comes out, and no bytes whatever do harm."""

from __future__ import annotations

import contextlib
import json
import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.sandbox.inside import wire

texts = st.text(st.characters(exclude_categories=["Cs"]))
dtypes = st.sampled_from(sorted(wire.DTYPES)).map(np.dtype)
arrays = dtypes.flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
)
leaves = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | texts | arrays | st.complex_numbers()
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, list):
        return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    if isinstance(one, complex):
        return _same(one.real, other.real) and _same(one.imag, other.imag)
    return type(one) is type(other) and one == other


@given(values, st.integers(1, 50))
def test_values_survive_the_wire_however_they_are_cut(value: Any, cut: int) -> None:
    data = b"".join(wire.pack(value)) * 2
    frames = wire.Frames()
    got = [found for start in range(0, len(data), cut) for found in frames.feed(data[start : start + cut])]
    assert len(got) == 2
    assert all(_same(value, found) for found in got)


@given(st.binary(max_size=200))
def test_any_bytes_give_values_or_a_wire_error(data: bytes) -> None:
    _feed(data)


@given(st.binary(max_size=60), st.binary(max_size=40))
def test_any_header_and_body_give_a_value_or_a_wire_error(header: bytes, body: bytes) -> None:
    _feed(struct.pack(">4sIQ", b"gbx1", len(header), len(body)) + header + body)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["array", "dict", "<f8", "O", "~"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["~", "dtype", "shape", "at", "items", "parts"]), inner, max_size=5)
    ),
)


@settings(max_examples=400)
@given(json_values, st.binary(max_size=40))
def test_any_json_header_gives_a_value_or_a_wire_error(encoded: Any, body: bytes) -> None:
    header = json.dumps(encoded).encode()
    _feed(struct.pack(">4sIQ", b"gbx1", len(header), len(body)) + header + body)


def _feed(data: bytes) -> None:
    """Anything but a value or a WireError would come through here and fail the test."""
    with contextlib.suppress(wire.WireError):
        wire.Frames().feed(data)


def test_arrays_from_a_frame_cannot_be_written_to() -> None:
    (got,) = wire.Frames().feed(b"".join(wire.pack(np.zeros(3))))
    with pytest.raises(ValueError, match="read-only"):
        got[0] = 1


def test_two_arrays_do_not_overlap() -> None:
    (got,) = wire.Frames().feed(b"".join(wire.pack([np.arange(3), np.arange(3.0)])))
    np.testing.assert_array_equal(got[0], [0, 1, 2])
    np.testing.assert_array_equal(got[1], [0.0, 1.0, 2.0])
