"""Frames between grader and sandbox: a header and raw arrays after it. What comes out of a sandbox executes nothing.

A frame is 16 bytes (magic, header length, body length), the header, the body. In the header of an answer a value is
JSON; what JSON lacks is an object with one tag: {"~": "array", "dtype": "<f8", "shape": [2, 3], "at": 0}. Any byte
string decodes to a value or raises WireError.

Questions go the other way, from the grader, which a sandbox can trust: they are pickled. Only the end inside a sandbox
reads such frames.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import sys
from typing import Any

import numpy as np

Bytes = bytes | bytearray | memoryview

_HEAD = struct.Struct(">4sIQ")
_MAGIC, _QUESTION = b"gbx1", b"gbxq"

# Far above what any homework returns (a 2,000-item dataset sample is under 10 MiB), far below what hurts the grader.
MAX_HEADER_BYTES = 4 * 2**20
MAX_BODY_BYTES = 64 * 2**20
MAX_DEPTH = 32
MAX_ITEMS = 100_000
MAX_DIMENSIONS = 32
MAX_INTEGER_BITS = 1024
MAX_INTEGER_DIGITS = 310  # of that many bits, with a sign

KINDS = {
    code: np.dtype(code)
    for code in (
        *("<c16", "<c8", "<f2", "<f4", "<f8", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8"),
        *("|b1", "|i1", "|u1"),
    )
}
DTYPES = frozenset(KINDS)

_REAL = (int, float, np.integer, np.floating)
_CONTAINERS = (list, tuple, dict)


class WireError(Exception):
    """These bytes are not a frame, or hold more than a frame may."""


class Unsendable(Exception):
    """This value has no place in a frame; the text says what it is."""


def pack(value: Any) -> list[Bytes]:
    """The frame for a value, as buffers to be sent one after the other."""
    arrays, budget = _Arrays(), [MAX_ITEMS]
    header = json.dumps(_encode(value, arrays, budget, 0)).encode()
    if len(header) > MAX_HEADER_BYTES or arrays.nbytes > MAX_BODY_BYTES:
        raise Unsendable(f"{(len(header) + arrays.nbytes) / 2**20:.0f} MiB of data, more than fits in one answer")
    frame: list[Bytes] = [_HEAD.pack(_MAGIC, len(header), arrays.nbytes), header]
    return frame + [array.reshape(-1).view(np.uint8).data for array in arrays.kept if array.nbytes]


def pack_question(question: dict[str, Any]) -> bytes:
    """The frame for a question, all of it pickled: by protocol 4, after which arrays own their memory, and `fast`,
    after which an array that two requests share is two arrays. Code that writes into its arguments changes no others.
    """
    stream = io.BytesIO()
    pickler = pickle.Pickler(stream, protocol=4)
    pickler.fast = True
    pickler.dump(question)
    header = stream.getvalue()
    return _HEAD.pack(_QUESTION, len(header), 0) + header


class _Arrays:
    """The arrays of a frame, one behind the other."""

    def __init__(self) -> None:
        self.kept: list[np.ndarray[Any, Any]] = []
        self.nbytes = 0

    def announced(self, array: np.ndarray[Any, Any]) -> dict[str, Any]:
        at = self.nbytes
        self.kept.append(array)
        self.nbytes += array.nbytes
        return {"~": "array", "dtype": array.dtype.str, "shape": array.shape, "at": at}


def _encode(value: Any, arrays: _Arrays, budget: list[int], depth: int) -> Any:
    budget[0] -= 1
    if budget[0] < 0:
        raise Unsendable(f"more than {MAX_ITEMS} separate items (return an array instead)")
    if depth > MAX_DEPTH:
        raise Unsendable(f"containers nested more than {MAX_DEPTH} deep")
    if type(value) is np.ndarray and value.dtype.str in DTYPES:  # most of what is sent
        return arrays.announced(value if value.flags.c_contiguous else np.ascontiguousarray(value))
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and value.bit_length() <= MAX_INTEGER_BITS:
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        # Lone surrogates are legal in Python strings and in no encoding.
        return str(value).encode("utf-8", "replace").decode()
    if isinstance(value, complex):
        return {"~": "complex", "parts": [value.real, value.imag]}
    if isinstance(value, (list, tuple)):
        items = [_encode(item, arrays, budget, depth + 1) for item in value]
        return {"~": "tuple", "items": items} if isinstance(value, tuple) else items
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise Unsendable("a dictionary whose keys are not all text")
        return {
            "~": "dict",
            "items": [[key, _encode(item, arrays, budget, depth + 1)] for key, item in value.items()],
        }
    return arrays.announced(_as_array(value))


def _as_array(value: Any) -> np.ndarray[Any, Any]:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = _tensor_to_array(value, torch)
    if not isinstance(value, (np.ndarray, np.generic)):
        raise Unsendable(f"an object of type {type(value).__name__}")
    array = np.array(value, order="C", copy=None, subok=False)
    if array.dtype == np.longdouble or (array.dtype == object and all(isinstance(x, _REAL) for x in array.flat)):
        array = array.astype(np.float64)  # how numbers are kept, not what they are
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if array.dtype.str not in DTYPES:
        raise Unsendable(f"an array of dtype {array.dtype}")
    return array


def _tensor_to_array(tensor: Any, torch: Any) -> np.ndarray[Any, Any]:
    """Device, layout, conjugation bits and bfloat16 are how a tensor is kept, not what it says."""
    if tensor.device.type == "meta":
        raise Unsendable("a tensor on the 'meta' device, which holds no values")
    tensor = tensor.detach().cpu()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    array: np.ndarray[Any, Any] = tensor.resolve_conj().resolve_neg().numpy()
    return array


def unpack(header: Bytes, body: Bytes) -> Any:
    """The value of a frame; its arrays are read-only views of `body`."""
    reading = _Reading(memoryview(body).toreadonly())
    try:
        value = json.loads(bytes(header), object_hook=reading.value_of, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        raise WireError(f"the header is not JSON ({type(error).__name__})") from None
    _check_bounds(value)
    return value


def _integer(digits: str) -> int:
    if len(digits) > MAX_INTEGER_DIGITS or (number := int(digits)).bit_length() > MAX_INTEGER_BITS:
        raise WireError("an integer larger than a frame may hold")
    return number


def _check_bounds(value: Any) -> None:
    """Nobody who walks through a value recurses without end, or for long."""
    containers = [(value, 0)] if type(value) in _CONTAINERS else []
    items = 1
    while containers:
        container, depth = containers.pop()
        members = container.values() if type(container) is dict else container
        items += len(members)
        if items > MAX_ITEMS or (members and depth == MAX_DEPTH):
            raise WireError("more items or deeper nesting than a frame may hold")
        containers += [(member, depth + 1) for member in members if type(member) in _CONTAINERS]


class _Reading:
    """One frame while its header is read: each JSON object in it becomes what it stands for, the innermost first."""

    def __init__(self, body: memoryview) -> None:
        self._body = body
        self._bytes_left = len(body)  # arrays share no bytes, so together they are never larger than the frame

    def value_of(self, encoded: dict[str, Any]) -> Any:
        items = encoded.get("items")
        match encoded.get("~"), len(encoded):
            case "array", 4:
                return self._array(encoded.get("dtype"), encoded.get("shape"), encoded.get("at"))
            case "dict", 2 if type(items) is list:
                return _dict(items)
            case "tuple", 2 if type(items) is list:
                return tuple(items)
            case "complex", 2:
                return _complex(encoded.get("parts"))
        raise WireError("an object of no known kind")

    def _array(self, dtype: Any, shape: Any, at: Any) -> np.ndarray[Any, Any]:
        kind = KINDS.get(dtype) if type(dtype) is str else None
        if kind is None:
            raise WireError("an array of a dtype that is not sent")
        if type(shape) is not list or len(shape) > MAX_DIMENSIONS or type(at) is not int:
            raise WireError("an array of impossible shape")
        count = 1
        for length in shape:
            if type(length) is not int or not 0 <= length <= MAX_BODY_BYTES:
                raise WireError("an array of impossible shape")
            count *= length
        nbytes = count * kind.itemsize
        self._bytes_left -= nbytes
        if at < 0 or at + nbytes > len(self._body) or self._bytes_left < 0:
            raise WireError("an array that reaches beyond its frame")
        try:
            return np.ndarray(shape, kind, self._body, at) if nbytes else np.empty(shape, kind)
        except ValueError:
            raise WireError("an array of impossible shape") from None


def _dict(items: list[Any]) -> dict[str, Any]:
    if not all(type(item) is list and len(item) == 2 and type(item[0]) is str for item in items):
        raise WireError("a dictionary entry that is not a pair")
    return dict(items)


def _complex(parts: Any) -> complex:
    if type(parts) is not list or len(parts) != 2 or not all(type(part) in (int, float) for part in parts):
        raise WireError("a complex number that is no pair of numbers")
    try:
        return complex(*parts)
    except OverflowError:
        raise WireError("a complex number out of range") from None


class Frames:
    """Bytes in, values out: collects what arrives until a frame is whole."""

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, data: Bytes) -> list[Any]:
        """The values completed by these bytes, in order."""
        whole: Bytes = data  # most of what arrives is whole, and need not be copied first
        if self._received:
            self._received += data
            whole = self._received
        values, at, received = [], 0, len(whole)
        while received - at >= _HEAD.size:
            magic, header_length, body_length = _HEAD.unpack_from(whole, at)
            if magic != _MAGIC:
                raise WireError("the answer does not begin like a frame")
            if header_length > MAX_HEADER_BYTES or body_length > MAX_BODY_BYTES:
                raise WireError("the answer announces more data than a frame may hold")
            start = at + _HEAD.size
            end = start + header_length + body_length
            if end > received:
                break
            header = bytes(whole[start : start + header_length])
            body = bytes(whole[start + header_length : end])
            values.append(unpack(header, body))
            at = end
        if whole is data:
            self._received += memoryview(data)[at:]
        else:
            del self._received[:at]
        return values


def read_question(descriptor: int) -> Any:
    """The next question, in a sandbox; None when the grader hangs up."""
    head = _exactly(descriptor, _HEAD.size)
    if not head:
        return None
    _, length, _ = _HEAD.unpack(head)
    return pickle.loads(_exactly(descriptor, length))


def _exactly(descriptor: int, length: int) -> bytes:
    """So many bytes; none if there are no more."""
    data = os.read(descriptor, length)
    while len(data) < length:
        more = os.read(descriptor, length - len(data)) if data else b""
        if not more:
            return b""
        data += more
    return data
