"""What the code of a check needs of the project, and whether an answer is among it: its module, whole, and all that is
imported from there on."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import packages_distributions

from grader.errors import RubricError
from grader.plugins import Plugin
from grader.registry import Definition
from grader.release.answers_held import holds_answers
from grader.release.sources import (
    Module,
    find_module,
    modules_imported,
    roots_imported,
    with_all_they_import,
)
from grader.release.wheel import requirements


@dataclass(frozen=True)
class CheckCode:
    """Where a check is defined, and what it needs from there on."""

    module: Module
    is_own: bool = False  # it is in the rubric's folder, and not in the grader

    @cached_property
    def modules(self) -> Sequence[str]:
        """Of the project, nearest first."""
        return with_all_they_import(modules_imported(self.module.tree) if self.is_own else [self.module.name])

    @property
    def answers(self) -> Sequence[str]:
        """Modules among them that spell answers out."""
        return [module for module in self.modules if holds_answers(module)]


def code_of(known: Definition, plugin: Plugin) -> CheckCode | None:
    """None for a check that is defined in neither the project nor the rubric's folder."""
    name = known.function.__module__
    if plugin.room_of(name):
        return CheckCode(Module(name, plugin.modules[name]), is_own=True)
    module = find_module(name)
    return CheckCode(module) if module else None


def public_code(plugin: Plugin) -> list[CheckCode]:
    """What goes to students as it is. RubricError if it imports what they do not have."""
    public = [
        CheckCode(Module(name, path), is_own=True)
        for name, path in plugin.modules.items()
        if plugin.room_of(name) == "public"
    ]
    if strange := [text for code in public for text in _not_installed(code.module)]:
        raise RubricError(strange)
    return public


def _not_installed(module: Module) -> Iterator[str]:
    known = {*sys.stdlib_module_names, "grader", *_modules_installed()}
    for root in sorted(roots_imported(module.tree) - known):
        yield f"{module.path}: it imports {root}, which students do not have"


@cache
def _modules_installed() -> frozenset[str]:
    """Of what is installed with the students' grader."""
    names = {_normal(re.split(r"[^\w.-]", line)[0]) for line in requirements()}
    packages = packages_distributions().items()
    return frozenset(module for module, brought_by in packages if names.intersection(map(_normal, brought_by)))


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()
