"""PDFs are read in a process that can be killed and has no reach: what comes back is plain data, looked at before use.

The reader of PDFs is a large library in C++, and a student's file is its input. So each file gets a process of its own,
which puts a jail on (`child.py`) before it sees the first byte.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

_BOOT = Path(__file__).parents[2] / "sandbox" / "box" / "boot.py"
CPU_SECONDS = 10  # twenty typed pages take half a second
_MEMORY_MB = 512  # of addresses beyond what is loaded; scans of a hundred pages stay below, since nothing is drawn
_WALL_SECONDS = 60.0  # a machine with many others on it; processor time is what decides
_START_SECONDS = 60.0
_MAX_ANSWER_BYTES = 16 * 2**20  # the most letters there may be, with six numbers each, come to half of it
_HEAD = 8
_BROKE_OFF = "could not be read: it is damaged, or takes more time or memory than a sheet of answers does"
_FLAGS = ("-s", "-P", "-S")  # as for boxes (loading_process.py)


class PdfNotRead(Exception):
    """Why a PDF could not be read, in words that go behind its name."""


@dataclass(frozen=True)
class PdfPage:
    """One page as the child described it, its form checked: as many numbers as letters, all of them whole."""

    width: int
    height: int
    text: str
    x: list[int]
    right: list[int]
    y: list[int]
    bottom: list[int]
    top: list[int]
    style: list[int]
    styles: list[tuple[int, int, bool]]  # font, size, unseen
    unmapped: frozenset[int]
    rules: list[tuple[int, int, int, int]]
    pictures: int
    strokes: int  # lines drawn that are no rules, as by a pen on a tablet


@dataclass(frozen=True)
class PdfGlyphs:
    pages: list[PdfPage]
    fonts: list[str]
    page_count: int
    cut: bool  # there is more of it than is read


def read_pdf(data: bytes) -> PdfGlyphs:
    """The glyphs of a PDF, read in a process of its own; PdfNotRead if there are none to be had."""
    with PdfProcess() as process:
        return process.read(data)


class PdfProcess:
    """A process that reads PDFs, one after the other. For grading it reads one, so that none can hurt the next."""

    def __init__(self, cpu_seconds: int = CPU_SECONDS, draws_page: int | None = None) -> None:
        settings: dict[str, Any] = {"starts": "answers.pdf.child", "path": sys.path, "draws_page": draws_page}
        settings |= {"cpu_seconds": cpu_seconds, "memory_mb": _MEMORY_MB}
        with tempfile.TemporaryDirectory(prefix="grader-pdf-") as folder:
            self._process = subprocess.Popen(
                [sys.executable, *_FLAGS, str(_BOOT), json.dumps(settings)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "MALLOC_ARENA_MAX": "1"},
                cwd=folder,
            )
            with self._killed_after(_START_SECONDS):
                started = self._answer()
        if "layers" not in started:
            self.close()
            raise PdfNotRead(f"was not read, because this machine has no safe place for it ({started.get('unsafe')})")

    def read(self, data: bytes) -> PdfGlyphs:
        answer = self._ask(data)
        match answer.get("refused"):
            case None:
                return _checked(answer)
            case "password":
                raise PdfNotRead("is locked by a password, so it was not read")
        raise PdfNotRead("is no PDF that can be read: it is empty, cut off or damaged")

    def draw(self, data: bytes) -> dict[str, Any]:
        """What a process that draws a page says, unchecked (page_picture.py)."""
        return self._ask(data)

    def _ask(self, data: bytes) -> dict[str, Any]:
        assert self._process.stdin is not None
        with self._killed_after(_WALL_SECONDS):
            try:
                self._process.stdin.write(len(data).to_bytes(_HEAD, "big") + data)
                self._process.stdin.flush()
            except OSError:
                raise PdfNotRead(_BROKE_OFF) from None
            return self._answer()

    @contextmanager
    def _killed_after(self, seconds: float) -> Iterator[None]:
        """By a timer, because not every system can wait for a pipe with a limit of time."""
        timer = threading.Timer(seconds, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _answer(self) -> dict[str, Any]:
        length = int.from_bytes(self._exactly(_HEAD), "big")
        if length > _MAX_ANSWER_BYTES:
            raise PdfNotRead("could not be read: it holds more than a sheet of answers does")
        try:
            answer = json.loads(self._exactly(length))
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise PdfNotRead(_BROKE_OFF)
        return answer

    def _exactly(self, count: int) -> bytes:
        assert self._process.stdout is not None
        data = self._process.stdout.read(count)
        if len(data) < count:
            raise PdfNotRead(_BROKE_OFF)
        return data

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def cpu_seconds(self) -> float:
        """What it has worked so far; 0 once it is gone."""
        clock = (~self._process.pid << 3) | 2  # the kernel's MAKE_PROCESS_CPUCLOCK(process, CPUCLOCK_SCHED)
        try:
            return time.clock_gettime(clock)
        except OSError:
            return 0.0

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was not sent yet
                    continue

    def __enter__(self) -> PdfProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_NUMBERS = ("x", "right", "y", "bottom", "top", "style")


def _checked(answer: Mapping[str, Any]) -> PdfGlyphs:
    """The child has had a hostile file in its hands: nothing of what it says is taken for granted."""
    try:
        fonts = [_text(name) for name in answer["fonts"]]
        pages = [_page(page, len(fonts)) for page in answer["pages"]]
        return PdfGlyphs(pages, fonts, _whole(answer["page_count"]), bool(answer["cut"]))
    except (KeyError, IndexError, TypeError, ValueError):
        raise PdfNotRead(_BROKE_OFF) from None


def _page(page: Mapping[str, Any], fonts: int) -> PdfPage:
    text = _text(page["text"])
    x, right, y, bottom, top, style = columns = [[_whole(one) for one in page[name]] for name in _NUMBERS]
    styles = [(_whole(font), _whole(size), bool(unseen)) for font, size, unseen in page["styles"]]
    fits = all(len(column) == len(text) for column in columns) and all(0 <= one < len(styles) for one in style)
    if not fits or not all(0 <= font < fonts for font, _, _ in styles):
        raise ValueError
    rules = [(_whole(one[0]), _whole(one[1]), _whole(one[2]), _whole(one[3])) for one in page["rules"]]
    unmapped = frozenset(_whole(one) for one in page["unmapped"])
    size = _whole(page["width"]), _whole(page["height"])
    drawn = _whole(page["pictures"]), _whole(page["strokes"])
    return PdfPage(*size, text, x, right, y, bottom, top, style, styles, unmapped, rules, *drawn)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value
