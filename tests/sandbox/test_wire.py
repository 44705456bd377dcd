"""Frames: what goes in comes out, and no bytes whatever do harm."""

from __future__ import annotations

import contextlib
import json
import math
import os
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.sandbox.box import wire
from tests.conftest import examples

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


@pytest.mark.slow
@settings(max_examples=examples(400))
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


def _frame(encoded: Any, body: bytes = b"") -> Any:
    header = json.dumps(encoded).encode()
    (value,) = wire.Frames().feed(struct.pack(">4sIQ", b"gbx1", len(header), len(body)) + header + body)
    return value


def _array(**changed: Any) -> dict[str, Any]:
    return {"~": "array", "dtype": "<f8", "shape": [2], "at": 0} | changed


def _nested(depth: int) -> Any:
    return [_nested(depth - 1)] if depth else 0


@pytest.mark.parametrize(
    ("encoded", "body", "said"),
    [
        (_array(), 15, "beyond its frame"),
        (_array(at=1), 16, "beyond its frame"),
        (_array(at=-8), 16, "beyond its frame"),
        ([_array(), _array()], 16, "beyond its frame"),  # twice the same bytes: a frame would unfold without end
        (_array(dtype="|O"), 16, "dtype"),
        (_array(dtype=">f8"), 16, "dtype"),
        (_array(shape=[-1]), 16, "impossible shape"),
        (_array(shape=[True, 2]), 16, "impossible shape"),
        (_array(shape=[1] * 33), 16, "impossible shape"),
        (_array(shape=[0, wire.MAX_BODY_BYTES + 1]), 0, "impossible shape"),
        (_array(more=1), 16, "no known kind"),
        ({"~": "tuple", "items": [], "more": 1}, 0, "no known kind"),
        ({"~": "dict", "items": [["key", 1, 2]]}, 0, "not a pair"),
        ({"~": "dict", "items": [[1, 2]]}, 0, "not a pair"),
        ({"~": "complex", "parts": [10**400, 0]}, 0, "out of range|larger than"),
        (2**1024, 0, "an integer larger"),
        ([1.5, "x", 2**1024], 0, "an integer larger"),
        ({"~": "tuple", "items": [2**1024]}, 0, "an integer larger"),
        (_nested(33), 0, "deeper nesting"),
        ({"~": "tuple", "items": [_nested(32)]}, 0, "deeper nesting"),
        ({"~": "dict", "items": [["key", _nested(32)]]}, 0, "deeper nesting"),
        ([0] * wire.MAX_ITEMS, 0, "more items"),
        ([[0] * (wire.MAX_ITEMS // 2)] * 2, 0, "more items"),
    ],
)
def test_a_frame_that_promises_too_much_is_refused(encoded: Any, body: int, said: str) -> None:
    with pytest.raises(wire.WireError, match=said):
        _frame(encoded, bytes(body))


def test_a_frame_may_hold_what_its_limits_say() -> None:
    assert _frame(_nested(32)) == _nested(32)
    assert _frame([2**1024 - 1, None, True, 0.5, "x", []]) == [2**1024 - 1, None, True, 0.5, "x", []]
    assert len(_frame([0] * (wire.MAX_ITEMS - 1))) == wire.MAX_ITEMS - 1
    assert _frame(_array(shape=[1] * 32, at=8), bytes(16)).shape == (1,) * 32
    assert _frame({"~": "tuple", "items": [1, {"~": "dict", "items": [["k", 2]]}]}) == (1, {"k": 2})


@pytest.mark.parametrize(
    ("magic", "header", "body", "said"),
    [
        (b"gbx2", 2, 0, "does not begin"),
        (b"gbx1", wire.MAX_HEADER_BYTES + 1, 0, "more data"),
        (b"gbx1", 2, wire.MAX_BODY_BYTES + 1, "more data"),
    ],
)
def test_what_a_head_announces_is_refused_before_it_comes(magic: bytes, header: int, body: int, said: str) -> None:
    with pytest.raises(wire.WireError, match=said):
        wire.Frames().feed(struct.pack(">4sIQ", magic, header, body))
    assert wire.Frames().feed(struct.pack(">4sIQ", b"gbx1", wire.MAX_HEADER_BYTES, wire.MAX_BODY_BYTES)) == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({1: 2}, "keys are not all text"),
        (_nested(33), "nested more than 32 deep"),
        ((_nested(32),), "nested more than 32 deep"),
        ({"key": _nested(32)}, "nested more than 32 deep"),
        ([0] * wire.MAX_ITEMS, "more than 100000 separate items"),
        (np.broadcast_to(np.uint8(0), wire.MAX_BODY_BYTES + 1), "64 MiB of data, more than fits"),
        ("x" * wire.MAX_HEADER_BYTES, "4 MiB of data, more than fits"),
        (np.array([object()]), "object"),
    ],
)
def test_what_does_not_fit_into_a_frame_is_said(value: Any, said: str) -> None:
    with pytest.raises(wire.Unsendable, match=said):
        wire.pack(value)


def test_text_that_has_no_encoding_and_tuples_are_sent() -> None:
    (got,) = wire.Frames().feed(b"".join(wire.pack(("a\ud800b", (1, [2]), np.zeros((0, 3))))))
    assert got[:2] == ("a?b", (1, [2]))
    assert got[2].shape == (0, 3)


def test_how_a_tensor_is_kept_is_not_sent() -> None:
    torch = pytest.importorskip("torch")
    numbers = torch.tensor([[1.0, 0.0], [2.5, 0.0]])
    wave = torch.tensor([1 + 2j])
    kept = [numbers.to_sparse(), numbers.to(torch.bfloat16), numbers.clone().requires_grad_(), numbers.T.contiguous().T]
    (got,) = wire.Frames().feed(b"".join(wire.pack([*kept, wave.conj(), wave.conj().imag])))
    assert [array.tolist() for array in got] == [*4 * [numbers.tolist()], [1 - 2j], [-2.0]]
    with pytest.raises(wire.Unsendable, match="'meta' device"):
        wire.pack(torch.zeros(2, device="meta"))


@given(arrays, st.integers(1, 50))
def test_an_answer_of_one_array_survives_however_it_is_cut(array: Any, cut: int) -> None:
    data = b"".join(wire.pack({"value": array}))
    frames = wire.Frames()
    (got,) = [found for start in range(0, len(data), cut) for found in frames.feed(data[start : start + cut])]
    assert _same({"value": array}, got)


def test_only_a_sandbox_reads_pickled_questions() -> None:
    """Whoever reads a box's answers must execute nothing of them."""
    question = {"probe": "call", "args": [np.arange(3.0)], "kwargs": {}}
    frame = wire.pack_question(question)
    read, written = os.pipe()
    os.write(written, frame)
    os.close(written)
    got = wire.read_question(read)
    assert _same(question, got)
    assert wire.read_question(read) is None
    assert got["args"][0].flags.writeable
    with pytest.raises(wire.WireError, match="does not begin like a frame"):
        wire.Frames().feed(frame)


def test_arrays_of_a_question_are_its_own_and_lie_as_they_lay() -> None:
    rows = np.arange(24.0).reshape(2, 3, 4)
    given = [rows, rows, np.asfortranarray(rows), rows[:, ::2], rows.swapaxes(0, 1), np.zeros((0, 3)), np.array(2.5)]
    read, write = os.pipe()
    os.write(write, wire.pack_question({"odd": np.array([True]), "given": given}))
    os.close(write)
    got = wire.read_question(read)["given"]
    os.close(read)
    assert _same(given, got)
    assert [one.flags.f_contiguous for one in got] == [False, False, True, False, False, True, True]
    assert all(one.flags.owndata and one.flags.writeable and one.flags.aligned for one in got)
    got[0][:] = 0
    assert _same(given[1], got[1]), "the same array twice is two"
