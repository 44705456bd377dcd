"""References and inputs are tried once when a rubric is linted: what raises there leaves a whole class ungraded."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from grader.checks.functions.ground_truth import is_frozen, reference_named, values_of
from grader.checks.functions.inputs import sampled
from grader.model import Check, Rubric
from grader.registry import NamesAReference, defined


def failing_references(rubric: Rubric) -> list[str]:
    """What is raised by a reference, or by the inputs it is compared on, each with its place."""
    checks = (check for problem in rubric.problems for check in problem.every_check)
    return list(dict.fromkeys(found for check in checks for found in _tried(check, rubric.folder)))


def _tried(check: Check, folder: Path) -> Iterator[str]:
    name, inputs = check.parameters.get(defined(check).marked(NamesAReference)), check.parameters.get("inputs")
    if not name or not inputs or is_frozen(name) or check.personal:
        return
    function = inspect.unwrap(reference_named(name).function)
    place, label = f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}", f"inputs {inputs}"
    try:
        case = next(sampled(inputs, np.random.default_rng(0), check.parameters.get("given")))
        label = f"with {case.label}"
        values_of(function, replace(case, kwargs={**case.kwargs, **case.parameters}))
    except Exception as fault:  # an author's code may raise anything
        own = [frame for frame in traceback.extract_tb(fault.__traceback__) if str(folder) in frame.filename]
        place = f"{own[-1].filename}:{own[-1].lineno}" if own else place
        yield f"{place}: reference {name}, {label}: {type(fault).__name__}: {fault}"
