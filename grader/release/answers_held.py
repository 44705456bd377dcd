"""Which modules hold answers, and which go to students only where a check needs them. The modules say so themselves.

What is in the reference is an answer, unless its module says that students are told it anyway:

    TOLD_TO_STUDENTS = "the handout names them"

Of a package that holds how answers are judged, students get the modules that their own checks need:

    ON_DEMAND = True
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from grader.release.sources import REFERENCE, Module, find_module

_TOLD, _ON_DEMAND = "TOLD_TO_STUDENTS", "ON_DEMAND"


@cache
def holds_answers(module: str) -> bool:
    found = find_module(module)
    if found is None or module.split(".")[0] != REFERENCE:
        return False
    return bool(found.defines) and _TOLD not in found.defines  # a package that defines nothing is only a folder


@cache
def is_on_demand(module: str) -> bool:
    """Whether it, or a package that it is in, says so."""
    found = find_module(module)
    if found is not None and _ON_DEMAND in found.defines:
        return True
    package = module.rpartition(".")[0]
    return bool(package) and is_on_demand(package)


def modules_holding_answers() -> Iterator[Module]:
    package = find_module(REFERENCE)
    assert package is not None, "a kit is made where the reference is"
    folder = package.path.parent
    inside = (path.relative_to(folder.parent).with_suffix("").parts for path in sorted(folder.rglob("*.py")))
    names = [".".join(parts).removesuffix(".__init__") for parts in inside]
    yield from (module for name in names if holds_answers(name) and (module := find_module(name)))
