"""Frames as a hostile box could send them, read piece by piece and through the grader's end of the channel."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.fuzz import material
from benchmarks.fuzz.bytewise import damaged
from benchmarks.fuzz.endings import ends_well
from benchmarks.fuzz.structured import damaged_json
from grader.model import Limits
from grader.sandbox.box import wire
from grader.sandbox.host import fault_messages
from grader.sandbox.host.channel import Channel

Sent = tuple[bytes, int]  # the bytes, and after how many of them they are cut; 0 for those that go through a channel

_HEAD = struct.Struct(">4sIQ")
_WORDS = (
    *("~", "array", "dict", "tuple", "complex", "items", "parts", "dtype", "shape", "at", "value", "raised"),
    *("absent", "<f8", ">f8", "<f2", "<c16", "|O", "|V8", "<M8[ns]", "<U9", "|b1", "f8,i4", "type", "text"),
    *("file", "line", "importing"),
)
_ODD_LENGTHS = (0, 1, 15, 2**16, wire.MAX_HEADER_BYTES, wire.MAX_HEADER_BYTES + 1, 2**31, 2**32 - 1)
_LINE_BYTES = 2**15  # what a socket surely takes in one go


def make(rng: Random) -> Sent:
    magic, written, body = rng.choice(material.frames())
    by_bytes = rng.random() < 0.4
    if not by_bytes or rng.random() < 0.3:
        written = damaged_json(written.decode(), rng, _WORDS).encode("utf-8", "surrogatepass")
    lengths = [len(written), len(body)]
    if rng.random() < 0.05:
        lengths[rng.randrange(2)] = rng.choice(_ODD_LENGTHS)
    data = _HEAD.pack(magic, *lengths) + written + body
    if by_bytes:
        data = damaged(data, rng, rng.choice(material.frames())[1] + body)
    data *= rng.choice((1, 1, 2))
    return data, rng.choice((0, 7, 64)) if len(data) < _LINE_BYTES else 4096


def read(sent: Sent, folder: Path) -> bool:
    data, cut = sent
    if not cut:
        return _read_through_a_channel(data)
    frames = wire.Frames()
    try:
        for start in range(0, len(data), cut):
            frames.feed(data[start : start + cut])
    except wire.WireError:
        return False
    return True


class _NoMoreBoxes:
    """In place of the fork server: the box has sent what it had to send, and has ended."""

    def how_it_ended(self, number: int) -> tuple[int, float]:
        return 0, 0.0

    def forget(self, number: int) -> None:
        pass


@cache
def _ended_process(parent: int) -> int:
    """A descriptor of a child of this process that has ended: as the channel sees it, a box that is gone."""
    child = os.fork()
    if not child:
        os._exit(0)
    return os.pidfd_open(child)


def _read_through_a_channel(data: bytes) -> bool:
    ours, theirs = socket.socketpair()
    printed, writing = os.pipe()
    os.close(writing)
    server: Any = _NoMoreBoxes()
    channel = Channel(server, 1, ours, printed, os.dup(_ended_process(os.getpid())), Limits(), None)
    asked = fault_messages.Asked("attention.py", "attention")

    def answers() -> Iterator[str]:
        frame = wire.pack_question({"probe": "call", "file": "attention.py", "begins": False, "each": [{}, {}]})
        for answer in channel.ask_each(frame, 2, asked):
            fault_messages.value_of(answer, asked)
            yield "an answer"

    try:
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        return ends_well(answers)
    finally:
        channel.close()
        theirs.close()
