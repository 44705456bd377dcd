"""What the code of a check needs of the project, and whether an answer is among it.

A check of the grader needs its module, whole, and all that is imported from there on. Of a file of checks beside a
rubric, a check needs the definitions that it refers to, and the modules that those import.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import packages_distributions

from grader.model import Check
from grader.registry import Definition
from grader.release.answers_held import holds_answers
from grader.release.sources import (
    OWN,
    Module,
    find_module,
    modules_imported,
    roots_imported,
    with_all_they_import,
)
from grader.release.wheel import requirements
from grader.rubric.own_functions import offered


@dataclass(frozen=True)
class CheckCode:
    """Where a check is defined, and what it needs from there on."""

    module: Module
    name: str
    is_beside: bool  # the rubric, and not in the grader

    @cached_property
    def definitions(self) -> frozenset[str]:
        """Of the file beside the rubric, what the check refers to, and itself."""
        if not self.is_beside:
            return frozenset()
        return frozenset({self.name, *self.module.refers_to(self.module.defines[self.name])})

    @cached_property
    def _own(self) -> Sequence[ast.AST]:
        return [self.module.defines[name] for name in self.definitions]

    @cached_property
    def modules(self) -> Sequence[str]:
        """Of the project, nearest first."""
        return with_all_they_import(modules_imported(*self._own) if self.is_beside else [self.module.name])

    @property
    def answers(self) -> Sequence[str]:
        """Modules among them that spell answers out."""
        return [module for module in self.modules if holds_answers(module)]

    def references(self, known: Collection[str]) -> Sequence[str]:
        """Those of the rubric's own references that it needs."""
        return sorted(self.definitions & set(known))

    @property
    def not_installed(self) -> Sequence[str]:
        """What the check imports and a kit does not bring: modules beside the rubric, say."""
        roots = {name for statement in self._own for name in roots_imported(statement)}
        return sorted(roots - sys.stdlib_module_names - set(OWN) - _modules_installed())

    @property
    def reads_the_sheet(self) -> bool:
        modules = (module for name in self.modules if (module := find_module(name)))
        return any(map(_reads_the_sheet, (*self._own, *(module.tree for module in modules))))


def inputs_of(check: Check, beside: Module | None) -> list[CheckCode]:
    """The generators of inputs that a check takes from the rubric's own file."""
    named = [value for value in check.parameters.values() if offered(value, "inputs")]
    return [CheckCode(beside, str(name), is_beside=True) for name in named if beside is not None]


def code_of(known: Definition, beside: Module | None) -> CheckCode | None:
    """None for a check that is defined in neither the project nor the file beside the rubric."""
    name = known.function.__module__
    if beside is not None and name == beside.name:
        return CheckCode(beside, known.function.__name__, is_beside=True)
    module = find_module(name)
    return CheckCode(module, known.function.__name__, is_beside=False) if module else None


@cache
def _reads_the_sheet(code: ast.AST) -> bool:
    return any(isinstance(node, ast.Attribute) and ast.unparse(node) == "student.answer" for node in ast.walk(code))


@cache
def _modules_installed() -> frozenset[str]:
    """Of what is installed with the students' grader."""
    names = {_normal(re.split(r"[^\w.-]", line)[0]) for line in requirements()}
    packages = packages_distributions().items()
    return frozenset(module for module, brought_by in packages if names.intersection(map(_normal, brought_by)))


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()
