"""Which functions of libraries a run calls, however their names were reached.

Python tells of every function it enters, its own or a library's in C. What C calls by itself it does not tell (a
`map`, a compiled torch function); torch tells of every operation it carries out, whoever asked for it.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import ExitStack
from types import CodeType, FrameType
from typing import Any

from ..loading.notebook_part import is_cell

Call = tuple[str, str, int]  # the function's dotted name, and the student's file and line that led to it
_MAX_CALLS = 10_000
_OURS = ("builtins.", f"{__package__}.")  # Python's and the box's own


class Recorder:
    """Within `with`, collects the functions that are called, each once."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._root = os.getcwd() + os.sep  # as it is before any call, which may go elsewhere
        self._codes: dict[int, CodeType] = {}  # held, so that no other gets the same id
        self._loaders: dict[int, CodeType] = {}  # likewise: what imports
        self._builtins: dict[tuple[str, int, int], Any] = {}  # name, whose it is, its module; these two are held
        self._names: set[str] = set()
        self._importing = 0
        self._stack = ExitStack()

    def __enter__(self) -> Recorder:
        if "torch" in sys.modules:
            self._stack.enter_context(_watching_torch(self))
        threading.setprofile(self._entered)
        sys.setprofile(self._entered)
        return self

    def __exit__(self, *exception: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)
        self._stack.close()

    def _entered(self, frame: FrameType, event: str, arg: Any) -> None:
        """Told of every call and return: what was seen before has to be passed over quickly."""
        if event == "c_call":
            owner = arg.__self__
            kind = owner if isinstance(owner, type) else type(owner)
            if (arg.__name__, id(kind), id(arg.__module__)) not in self._builtins and not self._importing:
                self._builtins[arg.__name__, id(kind), id(arg.__module__)] = kind, arg.__module__
                self.note(f"{arg.__module__ or type(owner).__module__}.{arg.__qualname__}", frame)
        elif event == "call":
            if id(frame.f_code) not in self._codes:
                self._meet(frame)
        elif event == "return" and id(frame.f_code) in self._loaders:
            self._importing -= 1

    def _meet(self, frame: FrameType) -> None:
        code = frame.f_code
        if code.co_name == "_find_and_load" and code.co_filename.startswith("<frozen importlib"):
            self._loaders[id(code)] = code
            self._importing += 1
        if self._importing:  # a library that sets itself up calls much of its own
            return
        self._codes[id(code)] = code
        # A library's is in a file of its own. What stands in none was made while running, as a dataclass is.
        if os.path.isabs(code.co_filename) and not self._is_students(code):
            self.note(f"{frame.f_globals.get('__name__')}.{code.co_qualname}", frame)

    def note(self, name: str, frame: FrameType | None) -> None:
        if name in self._names or name.startswith(_OURS) or len(self.calls) >= _MAX_CALLS:
            return
        self._names.add(name)
        while frame is not None and not self._is_students(frame.f_code):
            frame = frame.f_back
        file = frame.f_code.co_filename.removeprefix(self._root) if frame is not None else ""
        self.calls.append((name, file, frame.f_lineno if frame is not None else 0))

    def _is_students(self, code: CodeType) -> bool:
        return code.co_filename.startswith(self._root) or is_cell(code.co_filename)


def _watching_torch(recorder: Recorder) -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watching(TorchDispatchMode):  # type: ignore[misc]  # torch declares no types for it
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # to skip torch's compiler it would be loaded first, for a second or two

        def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            recorder.note(f"torch.ops.{operation}", sys._getframe())
            return operation(*args, **(kwargs or {}))

    return Watching()
