"""A student's script run as `python script.py` runs it, with the course's data where scripts look for them. What it
states comes back as text: what it printed or its last function returns, and what it wrote to files."""

from __future__ import annotations

import inspect
import logging
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ..loading import student_code, student_loader, student_machine
from ..loading.later_modules import later
from ..reading.source_text import does_something

_COPIED_BYTES = 1 << 20  # of each file: no script of a few lines reads a checkpoint
_PRINTED = ".printed"  # the file that gets what is printed, where other files lie that it writes
_KEPT = 1 << 16  # bytes of each text, at its end, where results are
_NUMBER = re.compile(r"(?<![\w.])(?<!\[Errno )[0.,]*[1-9]")  # "0 of 0" is what a script says that was given no data
_NOT_THERE = (FileNotFoundError, ModuleNotFoundError)
_WANTS_MORE = re.compile(rb"\b(?:argv|argparse|getopt|stdin|fileinput|environ|input[ \t]*\()")


def run_script(file: str, data: dict[str, str], arguments: list[list[str]]) -> dict[str, Any]:
    """Run it at the top of the submission or in its own folder, with each of these arguments, until it states a number.
    What does not, and may want something that is not here, is refused."""
    reply, ended, errors = {"started": does_something(file), "text": "", "refused": ""}, [], list[BaseException]()
    for folder in dict.fromkeys(("", os.path.dirname(file))):
        for given in arguments:
            with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR"), ignore_cleanup_errors=True) as above:
                copy = os.path.join(os.path.realpath(above), "submission")
                _lay_out(copy, file, data)
                text, error = _ran(copy, file, folder, given)
            if error is not None:
                errors.append(error)
            elif _NUMBER.search(text):
                return {**reply, "started": True, "text": text}
            else:
                ended.append(text)
    if not reply["started"]:
        return reply
    error = next((one for one in errors if not isinstance(one, _NOT_THERE)), errors[0]) if errors else None
    if isinstance(error, _NOT_THERE) or _WANTS_MORE.search(Path(file).read_bytes()):
        return {**reply, "refused": f"{type(error).__name__}: {error}" if error else "it stated no number"}
    if error is not None and not ended:
        raise error
    return {**reply, "text": ended[0]}


def _lay_out(copy: str, file: str, data: dict[str, str]) -> None:
    """The submission with the data in place of files of the same name, in the folders down to the script's and in their
    `data`; a module of the course's only where none of that name was submitted."""

    def left_out(folder: str, names: list[str]) -> list[str]:
        sizes = {name: os.path.getsize(os.path.join(folder, name)) for name in names}
        return [name for name, size in sizes.items() if size > _COPIED_BYTES or name == "__pycache__"]

    shutil.copytree(".", copy, ignore=left_out)
    there = [(folder, name) for folder, _, names in os.walk(copy) for name in names if name in data]
    parts = os.path.dirname(file).split(os.sep)
    above = [os.path.dirname(copy), *(os.path.join(copy, *parts[:depth]) for depth in range(len(parts) + 1))]
    for folder in {*above, *(os.path.join(one, "data") for one in above), *(folder for folder, _ in there)}:
        os.makedirs(folder, exist_ok=True)
        for name in data.keys() - {name for _, name in there if name.endswith(".py")}:
            Path(folder, name).write_bytes(data[name].encode())


def _ran(copy: str, file: str, folder: str, arguments: list[str]) -> tuple[str, BaseException | None]:
    """What it stated, and what it raised. Its modules go: they may have read data when they were imported."""
    home, path, before = os.getcwd(), os.path.join(copy, file), _files(copy)
    program = compile(student_loader.parse(os.path.abspath(file)), os.path.abspath(file), "exec")
    kept = sys.argv, sys.path, sys.modules["__main__"], sys.stdout, sys.stderr
    main, own = ModuleType("__main__"), os.path.dirname(path)
    error: BaseException | None = None
    os.chdir(copy)
    main.__file__, main.__package__ = path, student_code.package_of(path)
    os.chdir(folder or ".")
    with open(os.path.join(copy, _PRINTED), "w", 1, "utf-8", "replace") as printed:
        sys.argv, sys.path = [path, *arguments], [own, *sys.path, os.path.dirname(own), copy]
        sys.modules["__main__"], sys.stdout, sys.stderr = main, printed, printed
        try:
            student_machine.offer(Path(path).read_bytes())
            exec(program, vars(main))
            if not re.search(r"\d", _stated(copy, before)):
                print(_returned(main, arguments))
        except SystemExit as end:
            if not isinstance(end.code, int | None):
                print(end.code)  # as Python does with `sys.exit(0.05)`
        except BaseException as raised:  # whatever a script raises, KeyboardInterrupt included
            error = raised
            if isinstance(raised, OSError) and isinstance(raised.filename, str):
                raised.filename = raised.filename.replace(f"{copy}{os.sep}", "")  # it is another one in every run
        vars(main).clear()  # files that it left open are written
        sys.argv, sys.path, sys.modules["__main__"], sys.stdout, sys.stderr = kept
    logging.root.handlers.clear()  # the next run's `basicConfig` does nothing where there are some
    os.chdir(home)
    for name in [name for name, module in later() if _lies_in(copy, getattr(module, "__dict__", {}))]:
        del sys.modules[name]  # none goes before all are found: where a package lies follows from the one it is in
    return _stated(copy, before), error


def _lies_in(top: str, module: dict[str, Any]) -> bool:
    return any(str(place).startswith(top) for place in (module.get("__file__"), *(module.get("__path__") or ())))


def _returned(main: ModuleType, arguments: list[str]) -> Any:
    """What the last function of the script returns, which nothing may have called: without arguments, or with one."""
    own = [one for one in vars(main).values() if isinstance(one, FunctionType) and one.__module__ == "__main__"]
    parameters = inspect.signature(own[-1]).parameters.values() if own else ()
    needed = [one for one in parameters if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
    given = [one for one in arguments if not one.startswith("-")]
    return own[-1](*given[: len(needed)]) if own and len(needed) <= len(given) else ""


def _files(top: str) -> dict[str, tuple[int, int]]:
    """When each was last written, and its size."""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names]
    return {path: (os.stat(path).st_mtime_ns, os.stat(path).st_size) for path in paths if not path.endswith(".pyc")}


def _stated(top: str, before: dict[str, tuple[int, int]]) -> str:
    """The ends of all files that are new or others than before; what was printed comes last."""
    texts = {}
    for path in sorted(path for path, stamp in _files(top).items() if before.get(path) != stamp):
        texts[path] = Path(path).read_bytes()[-_KEPT:].decode("utf-8", "replace")
    printed = texts.pop(os.path.join(top, _PRINTED), "")
    return "\n".join([*texts.values(), printed]).replace(f"{top}{os.sep}", "")
