"""The modules that were loaded in this box: the student's are among them.

They stand in `sys.modules` behind what the fork server had loaded. Whoever looks at those too, of which torch brings a
thousand, copies the pages of memory that they stand in: some 3,000, which takes longer than to run a script.
"""

from __future__ import annotations

import sys
from itertools import takewhile
from types import ModuleType

_last: list[str] = []  # the name that came last before any box was made


def begin() -> None:
    """Whatever is loaded by now is no student's."""
    _last[:] = list(sys.modules)[-1:]


def later() -> list[tuple[str, ModuleType]]:
    """By name, in the order in which they came; all modules, if nobody has said where to begin."""
    is_another = (_last[0] if _last else "").__ne__
    names = list(takewhile(is_another, reversed(sys.modules)))  # in one go: a thread may import something
    return [(name, sys.modules[name]) for name in reversed(names) if name in sys.modules]


def enter(name: str, module: ModuleType) -> None:
    """Behind all others, even if a library has a module of that name: what takes its place would have its rank too."""
    sys.modules.pop(name, None)
    sys.modules[name] = module
