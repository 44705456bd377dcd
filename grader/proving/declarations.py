"""samples/NAME.yaml → what a sample is declared to get, read strictly; and back, as `rubric test --write` writes it.

# a word about the sample: written by a person, and kept
rubric: scores
points: 2.5
problems:
  1.a: {points: 2, gives_one_row_for_each_key: passed, doubles_with_the_queries: passed}
  1.b: {points: 0.5, gives_the_ideas: review 1/2}
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from pathlib import Path
from typing import Any

import yaml

from grader.errors import RubricError
from grader.model import Problem, Rubric, Status
from grader.rubric.hints import did_you_mean
from grader.rubric.yaml_source import Path as Place
from grader.rubric.yaml_source import Source, WrittenInt, YamlError, as_written, read
from grader.submission.alternatives import ONE_ALTERNATIVE
from grader.submission.archives import ENDINGS
from grader.submission.notebooks import ENDING as NOTEBOOK

Declared = Mapping[str, Any]
BESIDE_CHECKS = ("points", "chosen")
_KEYS = ("rubric", "points", "problems")
_STATUSES = [status for status in Status if status is not Status.UNGRADED]  # which is our fault, and no sample's
_WIDTH = 120  # as long as a line of code


@dataclass(frozen=True)
class Declaration:
    sample: str
    path: Path
    data: Declared
    misfits: tuple[str, ...] = ()  # what in it means nothing to the rubric, each with its line


def declarations(folder: Path, rubric: Rubric) -> dict[str, Declaration]:
    """What each sample of a rubric is declared to get, by the sample's name. RubricError lists what is wrong."""
    found = declarations_as_they_are(folder, rubric)
    if misfits := [line for one in found.values() for line in one.misfits]:
        raise RubricError(misfits)
    return found


def declarations_as_they_are(folder: Path, rubric: Rubric) -> dict[str, Declaration]:
    """The same, whether or not they fit the rubric: it may have changed since. RubricError for what cannot be read."""
    found: dict[str, Declaration] = {}
    faults: list[str] = []
    for path in sorted(folder.glob("*.yaml")):
        source = _source(path, faults)
        if source is None or as_written(source.data["rubric"]) != rubric.name:
            continue
        misfits = tuple(f"{path}:{source.line(place)}: {text}" for place, text in _misfits(source.data, rubric))
        found[path.stem] = Declaration(path.stem, path, _plain(source.data), misfits)
    if faults:
        raise RubricError(faults)
    return found


def undeclared_samples(folder: Path, samples: Path, rubric: Rubric) -> list[str]:
    """Names of what was handed in as a sample, and is declared for no rubric. What names another rubric is not ours."""
    names = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        whole = path.is_dir() or path.name.lower().endswith((*ENDINGS, NOTEBOOK))
        if whole and not path.name.startswith(".") and not (samples / f"{path.name}.yaml").exists():
            names += [path.name] if _names_no_other(path / "submission.yaml", rubric) else []
    return names


def _names_no_other(file: Path, rubric: Rubric) -> bool:
    try:
        said = read(file.read_text(encoding="utf-8")).data
    except (OSError, UnicodeDecodeError, YamlError):
        return True
    return not isinstance(said, dict) or said.get("rubric", rubric.name) in (rubric.folder.name, rubric.name)


def _source(path: Path, faults: list[str]) -> Source | None:
    try:
        source = read(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        faults.append(f"{path}: not a UTF-8 text file")
        return None
    except YamlError as error:
        faults.append(f"{path}:{error.line}: {error.cause}")
        return None
    if not isinstance(source.data, dict) or "rubric" not in source.data:
        faults.append(f"{path}:1: a sample is declared by 'rubric', 'points' and 'problems'")
        return None
    return source


def _misfits(data: Any, rubric: Rubric) -> Iterator[tuple[Place, str]]:
    for key in data.keys() - set(_KEYS):
        yield (key,), f"'{key}' has no meaning here{did_you_mean(key, _KEYS)}"
    if not _is_number(data.get("points")):
        yield ("points",), "'points' should be a number: what the sample gets in all"
    if not isinstance(data.get("problems"), dict):
        yield ("problems",), "'problems' should be a mapping of parts to what their checks find"
        return
    by_id = {problem.id: problem for problem in rubric.problems}
    for part, found in data["problems"].items():
        if part not in by_id:
            yield ("problems", part), f"{rubric.name} has no problem '{part}'{did_you_mean(part, by_id)}"
        elif not isinstance(found, dict):
            yield (
                ("problems", part),
                f"'{part}' should be a mapping of checks to what they find, as in {{a_check: passed}}",
            )
        else:
            for key, value in found.items():
                if text := _misfit_of_a_check(key, value, by_id[part]):
                    yield ("problems", part, key), text


def _misfit_of_a_check(key: str, value: Any, problem: Problem) -> str:
    if key == "points":
        return "" if _is_number(value) else f"the 'points' of {problem.id} should be a number"
    if key == "chosen":
        names = [one.name for one in problem.alternatives]
        return "" if value in names else f"{problem.id} has no alternative '{value}'{did_you_mean(str(value), names)}"
    ids = {check.id for check in problem.every_check} | ({ONE_ALTERNATIVE} if problem.alternatives else set())
    if key not in ids:
        return f"{problem.id} has no check '{key}'{did_you_mean(key, ids)}"
    status, _, score = str(value).partition(" ")
    if status not in _STATUSES:
        return f"no sample gets '{status}'{did_you_mean(status, _STATUSES)}"
    if (status == Status.REVIEW) != _is_share(score):
        return f"{key}: a score goes with 'review', as in 'review 1/2', and with nothing else"
    return ""


def _plain(data: Any) -> Any:
    """Without how numbers were written, which matters to nobody here: other processes are told of it."""
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    return float(data) if isinstance(data, float) else int(data) if type(data) is WrittenInt else data


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_share(text: str) -> bool:
    try:
        return 0 <= Fraction(text) <= 1
    except (ValueError, ZeroDivisionError):
        return False


def failed_by(data: Declared) -> Iterator[tuple[str, str]]:
    """Problem and check, for each check that this sample fails. What is missing, or crashed with everything else of its
    problem, was never judged."""
    for part, found in data["problems"].items():
        statuses = {check: str(status).split() for check, status in found.items() if check not in BESIDE_CHECKS}
        runs = any(status == [Status.PASSED] for status in statuses.values())
        for check, (status, *score) in statuses.items():
            if (
                status in (Status.FAILED, Status.PARTIAL)
                or (status == Status.CRASHED and runs)
                or (status == Status.REVIEW and Fraction(score[0]) < 1)
            ):
                yield part, check


def write_declaration(path: Path, data: Declared) -> None:
    """What a person wrote above the data stays."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    above = list(takewhile(lambda line: line.startswith("#"), lines))
    head = [f"{key}: {_as_yaml(data[key])}" for key in ("rubric", "points")]
    body = [_line(part, found) for part, found in data["problems"].items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*above, *head, "problems:", *body, ""]), encoding="utf-8")


def _line(part: str, found: Any) -> str:
    short = f"  {_as_yaml({part: found})[1:-1]}"
    if len(short) <= _WIDTH:
        return short
    long = yaml.safe_dump({part: found}, allow_unicode=True, sort_keys=False, default_flow_style=False)
    return textwrap.indent(long.rstrip(), "  ")


def _as_yaml(value: Any) -> str:
    text = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, default_flow_style=True, width=10**6)
    return text.removesuffix("...\n").rstrip()
