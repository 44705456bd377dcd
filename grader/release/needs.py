"""What checks need of the grader's source, and whether an answer is among it.

A check reaches students only if nothing it refers to, however indirectly, spells out an answer. What spells one out is
the reference and the modules listed here; what of the reference every handout says anyway is listed too.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions

from grader import registry
from grader.release.sources import OWN, Definition, Module, find_module, roots_imported
from grader.release.wheel import requirements

# Right equations, or right ones with one thing changed, written out in numpy.
HOLDING_ANSWERS = frozenset(
    {
        "grader.checks.modules.recovery.attending",
        "grader.checks.modules.recovery.block_equations",
        "grader.checks.modules.recovery.arithmetic",
        "grader.checks.modules.recovery.cross_attention",
        "grader.checks.modules.recovery.rotations",
    }
)
# Of the reference: how files of questions are read and hits are counted, which the course's own scripts show, and the
# characters and the length that the handout names.
TOLD = frozenset({"reference.birthplaces"})
FACTS = frozenset(("reference.span_corruption", name) for name in ("MASK_CHARACTER", "PAD_CHARACTER", "SHORTEST"))
CUT = ("grader.checks", "reference")  # modules that students get definition by definition


@dataclass(frozen=True)
class Needs:
    definitions: frozenset[Definition]  # of modules that are cut to what is needed
    modules: frozenset[str]  # needed whole
    answers: frozenset[str]  # modules among them that hold answers


def is_cut(module: str) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in CUT)


def needs_of(definitions: Iterable[Definition], beside: Module | None = None) -> Needs:
    """Everything these definitions refer to. `beside` is the rubric's own file of checks, if it has one."""
    waiting, seen = list(definitions), set[Definition]()
    modules, answers = set[str](), set[str]()
    while waiting:
        one = waiting.pop()
        module = beside if beside is not None and one.module == beside.name else find_module(one.module)
        if one in seen or module is None:
            continue
        seen.add(one)
        if module is not beside and not is_cut(one.module):
            modules.add(one.module)
        elif _holds_an_answer(one, module):
            answers.add(one.module)
        elif one.name in module.defines:
            waiting += module.uses(one.name)
    cut = (one for one in seen if one.name and one.module not in modules | answers)
    return Needs(frozenset(cut), frozenset(modules), frozenset(answers))


def _holds_an_answer(one: Definition, module: Module) -> bool:
    if not one.module.startswith("reference"):
        return one.module in HOLDING_ANSWERS
    imported = isinstance(module.defines.get(one.name), ast.Import | ast.ImportFrom)
    told = one.module in TOLD or (one.module, one.name) in FACTS
    return bool(one.name) and not imported and not told


def modules_not_installed(root: Definition, beside: Module) -> list[str]:
    """What the code of a check beside a rubric imports and a kit does not bring: modules beside the rubric, say."""
    needed = [one.name for one in needs_of([root], beside).definitions if one.module == beside.name]
    roots = {name for one in needed if one in beside.defines for name in roots_imported(beside.defines[one])}
    return sorted(roots - sys.stdlib_module_names - set(OWN) - _modules_installed())


@cache
def _modules_installed() -> frozenset[str]:
    """Of what is installed with the students' grader."""
    names = {_normal(re.split(r"[^\w.-]", line)[0]) for line in requirements()}
    packages = packages_distributions().items()
    return frozenset(module for module, brought_by in packages if names.intersection(map(_normal, brought_by)))


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def root_of(known: registry.Definition, beside: Module | None) -> Definition | None:
    """Where a check is defined; None if that is in neither the grader's own checks nor those beside the rubric."""
    module = known.function.__module__
    own = is_cut(module) or (beside is not None and module == beside.name)
    return Definition(module, known.function.__name__) if own else None
