"""Which checks exist: the grader's own, those of installed packages, and those beside a rubric."""

from __future__ import annotations

import importlib
import pkgutil
import traceback
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

import grader.checks
from grader.errors import RubricError
from grader.module_files import load_module
from grader.quoting import quote
from grader.registry import Definition, definitions_in
from grader.rubric.locating import own_checks
from grader.rubric.own_functions import Offer, offers_in

_ENTRY_POINTS = "grader.checks"


def known_checks(rubric: Path | None = None) -> Mapping[str, Definition]:
    """All checks by name. A rubric's own `checks.py` adds to them, and replaces none."""
    modules = [module for name in _own_files() if (module := _load_own(name))]
    return definitions_in([*modules, *_others(rubric)])


def checks_as_named(rubric: Path) -> ChecksAsNamed:
    """The same checks, of which the grader's own are loaded as they are asked for: no rubric uses all of them."""
    return ChecksAsNamed(_others(rubric))


class ChecksAsNamed(Mapping[str, Definition]):
    def __init__(self, others: list[ModuleType]) -> None:
        self._sources = {name: file.read_bytes() for name, file in _own_files().items()}
        self._others = others
        self.offers: Mapping[str, Mapping[str, Offer]] = offers_in(others)  # references and inputs of the rubric's own
        self._asked: dict[str, Definition | None] = {}
        own = (module for name in definitions_in(others) for module in self._defining(name))
        definitions_in([*own, *others])  # complains of a name that one of ours has

    def __getitem__(self, name: str) -> Definition:
        if name not in self._asked:
            self._asked[name] = definitions_in([*self._defining(name), *self._others]).get(name)
        found = self._asked[name]
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        """All names, as for a guess at what was meant: that loads everything."""
        modules = [module for name in self._sources if (module := _load_own(name))]
        return iter(definitions_in([*modules, *self._others]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _defining(self, name: str) -> list[ModuleType]:
        """Those of our modules whose text has a function of this name, whether it is a check or not."""
        wanted = f"def {name}(".encode("utf-8", "replace")
        return [module for own, text in self._sources.items() if wanted in text and (module := _load_own(own))]


def _own_files() -> dict[str, Path]:
    """The modules below `grader/checks`, by name."""
    files = {}
    for one in pkgutil.walk_packages(grader.checks.__path__, "grader.checks."):
        spec = one.module_finder.find_spec(one.name, None)
        if spec is not None and spec.origin is not None:
            files[one.name] = Path(spec.origin)
    return files


def _others(rubric: Path | None) -> list[ModuleType]:
    modules = [_load_entry_point(entry.value) for entry in entry_points(group=_ENTRY_POINTS)]
    if rubric is not None and (own := own_checks(rubric)) is not None:
        modules.append(_load_file(own))
    return modules


def _load_own(module: str) -> ModuleType | None:
    """None for one that needs the reference where there is none, as on a student's machine: a rubric that uses its
    checks all the same is told that there is no such check."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] == "reference":
            return None
        raise


def _load_entry_point(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except Exception as error:  # someone else's package: name it, whatever it raised
        raise RubricError([f"entry point {module}: cannot be imported: {type(error).__name__}: {error}"]) from error


def name_beside(path: Path) -> str:
    """What the module of checks beside a rubric is called."""
    return f"rubric_checks_{path.parent.name}"


def _line_in(path: Path, error: Exception) -> int:
    """The line of a file at which importing it ended."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno or 1
    return next(
        (one.lineno or 1 for one in reversed(traceback.extract_tb(error.__traceback__)) if one.filename == str(path)), 1
    )


def _load_file(path: Path) -> ModuleType:
    try:
        return load_module(name_beside(path), path)
    except Exception as error:  # the author's file: name it, whatever it raised
        cause = error.msg if isinstance(error, SyntaxError) else str(error)
        where = f"{path}:{_line_in(path, error)}"
        raise RubricError([f"{where}: cannot be imported: {type(error).__name__}: {quote(cause)}"]) from error
