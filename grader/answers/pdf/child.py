"""Reads or draws PDFs in a process without reach: it opens nothing, writes nothing but its answer, and can be killed.

A file comes in as its length and its bytes, and goes out as the length and the bytes of JSON. After the first answer to
an honest caller the process ends; it goes on with the next file only for tests that damage many.
"""

from __future__ import annotations

import gc
import json
import os
import struct
import sys
from typing import Any

from . import glyphs as pdf_glyphs
from . import pixels as page_pixels

LENGTH = struct.Struct("!Q")
_LINUX = sys.platform.startswith("linux")


def main(settings: dict[str, Any]) -> None:
    asked, answers = os.dup(0), os.dup(1)
    for stream in (0, 1, 2):  # what the library prints goes nowhere
        os.dup2(os.open(os.devnull, os.O_RDWR), stream)
    pdf_glyphs.start()
    gc.disable()  # glyphs are lists of numbers: there are no cycles to look for
    try:
        worn = _jail(settings) if _LINUX else []
    except OSError as error:
        _send(answers, {"unsafe": str(error)})
        return
    _send(answers, {"layers": worn})
    while (data := _receive(asked)) is not None:
        page = settings["draws_page"]
        _send(answers, pdf_glyphs.glyphs_of(data) if page is None else page_pixels.pixels_of(data, page))


def _jail(settings: dict[str, Any]) -> list[str]:
    """All that is needed is at hand: from here on no file can be opened, whoever asks."""
    from ...sandbox.jail import jail

    return jail.put_on_for_reading(settings["cpu_seconds"], settings["memory_mb"])


def _receive(stream: int) -> bytes | None:
    head = _exactly(stream, LENGTH.size)
    return None if head is None else _exactly(stream, LENGTH.unpack(head)[0])


def _exactly(stream: int, count: int) -> bytes | None:
    data = bytearray()
    while len(data) < count:
        piece = os.read(stream, min(count - len(data), 1 << 20))
        if not piece:
            return None
        data += piece
    return bytes(data)


def _send(stream: int, message: dict[str, Any]) -> None:
    content = json.dumps(message, separators=(",", ":")).encode()
    left = memoryview(LENGTH.pack(len(content)) + content)
    while left:
        left = left[os.write(stream, left) :]
