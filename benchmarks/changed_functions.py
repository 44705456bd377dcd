"""Functions of the grader, changed in a running process: nothing need be loaded again to try a fault in one."""

from __future__ import annotations

import ast
import gc
from collections import Counter, defaultdict
from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FunctionType

_AT_ONCE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def differs_while_loading(right: str, wrong: str) -> bool:
    """Whether what runs when a file is loaded differs: constants, bodies of classes, values passed by default.

    Or whether a function takes other variables from around it, which one that is already made cannot learn.
    """
    one, other = _compiled(ast.unparse(ast.parse(right))), _compiled(wrong)
    if [_own(block) for block in _blocks(one)] != [_own(block) for block in _blocks(other)]:
        return True
    before, after = _named(one), _named(other)
    return any(after[key].co_freevars != before[key].co_freevars for key in before.keys() & after.keys())


class Functions:
    """Those of the project that are loaded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded: dict[str, list[FunctionType]] = defaultdict(list)
        gc.unfreeze()  # what tests/conftest.py has put aside is no longer listed
        gc.collect()
        for one in gc.get_objects():
            if type(one) is FunctionType and one.__code__.co_filename.startswith(f"{folder}/"):
                self._loaded[one.__code__.co_filename].append(one)
        gc.freeze()  # forks share what nobody counts

    def change(self, file: str, right: str, wrong: str) -> None:
        """What is not loaded yet will be loaded as it is then."""
        place = str(self._folder / file)
        before, after = _named(_compiled(right, place)), _named(_compiled(wrong, place))
        changed = {before[key]: after[key] for key in before.keys() & after.keys()}
        for function in self._loaded[place]:
            if (code := changed.get(function.__code__)) is not None:
                function.__code__ = code


def _compiled(text: str, place: str = "") -> CodeType:
    return compile(text, place, "exec", dont_inherit=True)


def _named(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """All that is defined, by its name; of several with the same name, by their order."""
    found: dict[tuple[str, int], CodeType] = {}
    seen: Counter[str] = Counter()
    waiting = [code]
    for one in waiting:
        found[one.co_qualname, seen[one.co_qualname]] = one
        seen[one.co_qualname] += 1
        waiting += (inner for inner in one.co_consts if isinstance(inner, CodeType))
    return found


def _blocks(code: CodeType) -> Iterator[CodeType]:
    """A file and what runs with it: the bodies of its classes, but of no function."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType) and (one.co_name in _AT_ONCE or not one.co_flags & CO_OPTIMIZED):
            yield from _blocks(one)


def _own(code: CodeType) -> tuple[object, ...]:
    """Without what is defined in it, and the lines at which that stands."""
    return code.co_code, code.co_names, [repr(one) for one in code.co_consts if not isinstance(one, CodeType)]
