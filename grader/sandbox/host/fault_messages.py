"""What came out of a box, or how it ended, in words a student can act on."""

from __future__ import annotations

import builtins
import re
import signal
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from grader.errors import Crashed, Killed, Missing, NotImportable, StudentFault, TimedOut, WrongKind
from grader.model import Limits
from grader.quoting import place, quote
from grader.sandbox.box.loading.stand_ins import KNOWN

_SIGNALS = {
    "SIGSEGV": "crashed the Python interpreter (segmentation fault)",
    "SIGABRT": "aborted the Python interpreter",
    "SIGBUS": "crashed the Python interpreter (bus error)",
    "SIGFPE": "crashed the Python interpreter (arithmetic error)",
    "SIGILL": "crashed the Python interpreter (illegal instruction)",
    "SIGSYS": "made a system call that is not allowed",
}
_ENDINGS = {-getattr(signal, name): what for name, what in _SIGNALS.items() if hasattr(signal, name)}
_KILLED = -getattr(signal, "SIGKILL", 9)  # Windows has no such name
_IMPORT_HINTS = {
    "EOFError": "it asks for input while being imported; move that under `if __name__ == '__main__':`",
    "SystemExit": "it exits while being imported; move that under `if __name__ == '__main__':`",
    "FileNotFoundError": "it opens a file that was not handed in; open files inside functions",
    "PermissionError": "it does something at import that the box does not allow",
}
_NO_PYTHON = ("SyntaxError", "IndentationError", "TabError")
_KNOWN_EXCEPTIONS = {name for name, value in vars(builtins).items() if isinstance(value, type)} | {
    "LinAlgError",
    "AxisError",
    "UFuncTypeError",
    "OutOfMemoryError",
}
_ASKS_FOR_A_GPU = ("Torch not compiled with CUDA", "Found no NVIDIA driver", "No CUDA GPUs are available")
_CELL = re.compile(r"(.+\.ipynb) cell \d{1,4}", re.DOTALL)
_MODULE = re.compile(r"[A-Za-z_]\w{0,40}(\.[A-Za-z_]\w{0,40}){0,8}", re.ASCII)
_PART = re.compile(r"\.ipynb#.*", re.DOTALL)
_NAMES_SHOWN = 20
_LONGEST_FILE = 100_000  # lines
_MAX_SOURCE_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Asked:
    """What was being asked of the student's code, for messages."""

    file: str
    name: str = ""
    folder: Path = Path()

    def place(self, file: str, line: int) -> str:
        """Where in the student's files, if there is such a line: both come from the box and may be made up."""
        if not 0 < line <= _LONGEST_FILE or ".." in file or PurePath(file).is_absolute():
            return ""
        cell = _CELL.fullmatch(file)
        path = self.folder / (cell[1] if cell else file)
        try:
            real = path.is_file() and (cell or line <= _lines(path))
        except (OSError, ValueError):  # no file system has such a name
            real = False
        return f" at {place(file, line)}" if real else ""

    def names(self, file: str, module: str) -> bool:
        """Whether the student's file has this module's name in it, so that nothing else can be told by it."""
        cell = _CELL.fullmatch(file)
        path = self.folder / (cell[1] if cell else file)
        if not _MODULE.fullmatch(module) or not self.place(file, 1):
            return False
        word = re.escape(module.rpartition(".")[2])
        return re.search(rf"(?<!\w){word}(?!\w)", path.read_text(encoding="utf-8", errors="replace")) is not None

    @property
    def shown_file(self) -> str:
        return quote(_PART.sub(".ipynb", self.file))

    def __str__(self) -> str:
        return f"{self.name}() in {self.shown_file}" if self.name else self.shown_file


def value_of(reply: Any, asked: Asked) -> Any:
    """The value in a reply, or the fault it reports. The reply may have been forged: it is the student's word."""
    match reply:
        case {"value": value}:
            return value
        case {"absent": list(names)}:
            known = ", ".join(quote(name, 40) for name in names[:_NAMES_SHOWN] if isinstance(name, str))
            detail = f"it defines {known}" if known else ""
            raise Missing(f"{asked.shown_file} defines no '{asked.name}'", detail, code="not_defined")
        case {"signature": str(text)}:
            told = f"{asked} cannot be called as the assignment calls it"
            raise Crashed(told, f"it {quote(text)}", told, code="wrong_signature")
        case {"unsendable": str(text)}:
            raise WrongKind(f"{asked} returned no array of numbers", f"it returned {quote(text)}", code="not_numbers")
        case {"raised": {"type": str(kind), "text": str(text), "file": str(file), "line": int(line), **more}}:
            place, importing = asked.place(file, line), more.get("importing") is True
            missing = more.get("missing") if kind == "ModuleNotFoundError" else None
            if isinstance(missing, str) and asked.names(file or asked.file, missing):
                raise _is_not_there(asked, missing, place, importing)
            raise _raised(asked, kind, quote(text), place, importing)
    raise no_answer(asked)


def _lines(path: Path) -> int:
    """How many lines a file has, and the end of it, where Python sees an unclosed bracket."""
    return path.read_bytes().count(b"\n") + 2 if path.stat().st_size <= _MAX_SOURCE_BYTES else 0


def _is_not_there(asked: Asked, missing: str, place: str, importing: bool) -> StudentFault:
    code = "module_missing"
    if missing in KNOWN:
        cause, code = f"{missing} is not installed where this is graded", "library_missing"
    elif "." in missing:
        cause = f"{missing} was not handed in"
    else:
        cause = f"{missing} was not handed in, and no library of that name is installed where this is graded"
    if importing:
        told = f"{asked.shown_file} cannot be imported"
        return NotImportable(f"{told}{place}: {cause}", concealed=told, code=code)
    told = f"{asked} raised an exception"
    return Crashed(f"{asked} cannot be run{place}: {cause}", concealed=told, code=code)


def _raised(asked: Asked, kind: str, text: str, place: str, importing: bool) -> StudentFault:
    """The message holds nothing the student's code made up, and what is concealed nothing that it chose: with that,
    code could carry hidden inputs out."""
    told = f"{asked} raised an exception"
    if kind not in _KNOWN_EXCEPTIONS:
        kind, text = "an exception of its own", f"{quote(kind, 80)}: {text}"
    if kind == "MemoryError":
        return Crashed(f"{asked} ran out of memory{place}", text, told, code="out_of_memory")
    if any(sign in text for sign in _ASKS_FOR_A_GPU):
        message = f"{asked} asks for a GPU{place}; this machine has none: use the device of its input"
        return Crashed(message, text, told, code="needs_gpu")
    if not importing:
        return Crashed(f"{asked} raised {kind}{place}", text, told, code="raised")
    hint = _IMPORT_HINTS.get(kind, "")
    told = f"{asked.shown_file} cannot be imported"
    message = f"{told}: {kind}{place}" + (f" ({hint})" if hint else "")
    return NotImportable(message, text, told, code="syntax_error" if kind in _NO_PYTHON else NotImportable.code)


def used_up(asked: Asked, limits: Limits) -> TimedOut:
    told = f"{asked} used up its {limits.cpu_seconds} s of processor time (an endless loop?)"
    return TimedOut(told, concealed=told)


def took_too_long(asked: Asked, limits: Limits) -> TimedOut:
    told = f"{asked} gave no answer within {limits.wall_seconds} s (does it sleep, or wait for something?)"
    return TimedOut(told, concealed=told)


def ended(asked: Asked, code: int, cpu_seconds: float, limits: Limits) -> StudentFault:
    """The box's process is gone. `code` is its exit code, negative for a signal."""
    if code == _KILLED and cpu_seconds >= limits.cpu_seconds:
        return used_up(asked, limits)
    if code == _KILLED:
        return Killed(f"{asked} was killed, probably for using too much memory", concealed=_over(asked))
    ending = _ENDINGS.get(code) if code < 0 else "ended its own process instead of returning"
    reason = "died_of_signal" if code < 0 else "process_ended"
    return Crashed(f"{asked} {ending or f'died of signal {-code}'}", concealed=_over(asked), code=reason)


def _over(asked: Asked) -> str:
    return f"{asked} ended its process instead of returning"


def hung_up(asked: Asked) -> StudentFault:
    return Crashed(f"{asked} closed its connection to the grader", concealed=_over(asked), code="process_ended")


def no_answer(asked: Asked, why: str = "") -> StudentFault:
    told = f"{asked} answered the grader with something that is not an answer"
    return Crashed(told + (f" ({why})" if why else ""), concealed=told, code="malformed_reply")
