"""Standard output and error of a script: the beginning and the end are kept, however much it prints."""

from __future__ import annotations

import contextlib
import io
from typing import Any

_KEPT_BYTES = 1 << 16  # at the beginning and again at the end, where results are said


class Output(io.RawIOBase):
    _shared: Output | None = None

    @classmethod
    def cleared(cls) -> Output:
        """The same for every run, as long as no script closes it: loggers hold on to the stream they first saw."""
        if cls._shared is None or cls._shared.stream.closed:
            cls._shared = cls()
        cls._shared.text()
        cls._shared._begin.clear()
        cls._shared._end.clear()
        return cls._shared

    def __init__(self) -> None:
        self._begin = bytearray()
        self._end = bytearray()
        self.stream = io.TextIOWrapper(io.BufferedWriter(self), encoding="utf-8", errors="replace", line_buffering=True)

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        new = bytes(data)
        room = _KEPT_BYTES - len(self._begin)
        self._begin += new[:room]
        self._end += new[room:]
        if len(self._end) > 4 * _KEPT_BYTES:  # not at every line: that would cost more than the printing
            del self._end[:-_KEPT_BYTES]
        return len(new)

    def text(self) -> str:
        with contextlib.suppress(ValueError):  # the script may have closed it
            self.stream.flush()
        return (self._begin + self._end[-_KEPT_BYTES:]).decode("utf-8", "replace")
