"""What a result depends on, as hashes: what was handed in, what was asked, and everything else that could matter."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import BaseModel

import grader
from grader.batch.source_hash import of_own_source
from grader.model import Check, Problem, Rubric
from grader.registry import definition_of
from grader.submission.opening import OpenedSubmission

Definition = dict[str, Any]


def of_submission(submission: OpenedSubmission) -> str:
    """Every file's place and content, whatever archive or folder they came in."""
    parts = [(file, of_file(submission.folder / file)) for file in sorted(submission.files)]
    return _digest({"files": parts, "notes": submission.notes})


def of_file(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def of_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def of_conditions(rubric: Rubric, seed: int, secret: str) -> str:
    """The course's data, the grader's own source, the seed, the secret's fingerprint, and which problems were asked."""
    found = {Path(name) for problem in rubric.problems for name in data_files(problem)}
    files = sorted((path.name, of_file(path)) for path in found)  # two folders may each hold a dev.tsv
    problems = [problem.id for problem in rubric.problems]
    return _digest({"data": files, "grader": _of_ourselves(), "seed": seed, "secret": secret, "problems": problems})


def _of_ourselves() -> str:
    """The source, not only the version: after a check is mended, everything is graded again."""
    package = Path(grader.__file__).parent
    # How results are kept and shown changes none of them.
    rooms = ("batch", "report", "review", "similar")
    return of_own_source(package / "cli.py", *(package / room for room in rooms))


def definition(rubric: Rubric) -> Definition:
    """All a rubric says but its points and titles: rubrics with equal definitions ask the same questions."""
    return {"rubric": rubric.name, "problems": {problem.id: _problem(problem) for problem in rubric.problems}}


def _problem(problem: Problem) -> Definition:
    return {
        "optional": problem.optional,
        # Points decide which alternative is best.
        "best_counts": [str(check.points) for check in problem.every_check] if problem.best_counts else None,
        "limits": asdict(problem.limits),
        "libraries": list(problem.libraries),
        "checks": {check.id: _check(check) for check in problem.checks},
        "alternatives": {
            one.name: {
                "files": list(one.files),
                "defines": list(one.defines),
                "beside": list(one.beside),
                "checks": {check.id: _check(check) for check in one.checks},
            }
            for one in problem.alternatives
        },
    }


def _check(check: Check) -> Definition:
    known = definition_of(check.function)
    parameters = {}
    for name, value in check.parameters.items():
        is_data = known is not None and name in known.parameters and known.parameters[name].is_data
        asked = check.personal.get(name, value)  # the same for all, whatever was drawn for one of them
        parameters[name] = _names_of_files(value) if is_data else _plain(asked)
    return {
        "check": check.function.__name__,
        "parameters": parameters,
        "visibility": check.visibility,
        "needs": list(check.needs),
        "review_unless": _plain(check.review_unless),
        "gate": check.gate,
    }


def _names_of_files(value: Any) -> Any:
    """Where data lies is not what is asked: a copied rubric asks the same. What is in it is among the conditions."""
    return Path(value).name if isinstance(value, str) else [Path(one).name for one in value or ()]


def data_files(problem: Problem) -> Iterable[str]:
    """The paths of the data that its checks name."""
    for check in problem.every_check:
        known = definition_of(check.function)
        for name, value in check.parameters.items():
            if known is not None and value and known.parameters[name].is_data:
                yield from [value] if isinstance(value, str) else value


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return {name: _plain(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
