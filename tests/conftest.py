"""Submissions made on the spot, and boxes to run them in."""

from __future__ import annotations

import gc
import os
import re
import textwrap
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, settings

from grader.errors import StudentFault
from grader.grading.randomness import Draw
from grader.model import Rubric
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from grader.submission.opening import OpenedSubmission

REPOSITORY = Path(__file__).resolve().parent.parent
RUBRICS = REPOSITORY / "rubrics"
RUBRIC_CODE = [  # of our assignments: what holds for the grader's own code holds for it
    path
    for path in sorted(RUBRICS.glob("*/**/*.py"))
    if not {"starter", "tests"}.intersection(path.relative_to(RUBRICS).parts)
]

for variable in ("GRADER_SECRET", "GRADER_SECRET_FILE"):  # whoever runs the tests may have a course of their own
    os.environ.pop(variable, None)


gc.set_threshold(50_000)

# A machine that is busy with others is no fault of what is drawn, nor of what is tested.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@contextmanager
def raises(kind: type[StudentFault], code: str) -> Iterator[None]:
    """A fault of this kind is raised, for this reason."""
    with pytest.raises(kind) as caught:
        yield
    assert caught.value.code == code, caught.value.message


class Loop:
    quick = False  # whether slow tests are left out


def pytest_configure(config: pytest.Config) -> None:
    Loop.quick = config.getoption("markexpr") == "not slow"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """The quick loop loads no file of nothing but slow tests: every worker would."""
    if not Loop.quick or not collection_path.match("test_*.py"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    all_slow = re.search(r"^pytestmark = \[?\s*pytest\.mark\.slow", text, re.MULTILINE)
    return True if all_slow or text.count("\ndef test_") == text.count("\n@pytest.mark.slow\n") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long or waits for long comes first, or one process would still be at it when the others have ended.
    Every process begins with a share of the list, and those tests stay in theirs, beside others that use the same
    fixtures."""
    processes = getattr(config, "workerinput", {}).get("workercount", 1)
    ends = [number * len(items) // processes for number in range(processes + 1)]
    shares = [items[start:end] for start, end in pairwise(ends)]
    items[:] = [item for share in shares for item in sorted(share, key=_is_short)]


def _is_short(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is None


def pytest_collection_finish() -> None:
    """What is loaded by now stays: to look through it for garbage again and again takes a tenth of the time."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where everything is there that tests need (.ci/run says so), a test that is left out fails."""
    report = yield
    if report.skipped and os.environ.get("LEAVE_NO_TEST_OUT"):
        report.outcome = "failed"
    return report


DRAW = Draw(seed=0, secret=None)
EVERY_CASE = bool(os.environ.get("EVERY_CASE"))

MakeSubmission = Callable[..., OpenedSubmission]


@pytest.fixture
def submission(tmp_path: Path) -> MakeSubmission:
    """submission(code) or submission(**{"attention.py": code}): a submission holding these files."""

    def make(code: str = "", **files: str) -> OpenedSubmission:
        files = files or {"work.py": code}
        for name, text in files.items():
            target = tmp_path / "work" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(textwrap.dedent(text))
        return OpenedSubmission("tested", tmp_path / "work", 0, tuple(files))

    return make


@pytest.fixture(scope="session")
def boxes() -> Iterator[BoxRunner]:
    with BoxRunner(("numpy",)) as runner:
        yield runner


@pytest.fixture(scope="session")
def torch_boxes() -> Iterator[BoxRunner]:
    """One for all tests: what its boxes are forked from takes two seconds to load torch."""
    with BoxRunner(("numpy", "torch", "einops")) as runner:
        yield runner


def read_yaml(path: Path) -> Any:
    """With the loader written in C, where it is there: long tables are read while tests are collected."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def sampled(cases: Iterable[Any], every: int, *, named: bool = False) -> list[Any]:
    """One case in so many for the quick loop; the others are marked slow, and every whole run has them all. Of `named`
    cases, whose names do not follow from their places, the quick loop does not even collect the others."""
    if named and Loop.quick:
        return list(cases)[::every]

    def slow(case: Any) -> Any:
        if isinstance(case, type(pytest.param())):
            return case._replace(marks=(*case.marks, pytest.mark.slow))
        return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)

    return [slow(case) if number % every else case for number, case in enumerate(cases)]


def examples(count: int) -> int:
    """How many hypothesis draws: in the quick loop a quarter."""
    return count // 4 if Loop.quick else count


def some_of(cases: Iterable[Any], every: int, quick: int = 1) -> list[Any]:
    """One case in so many, of a long list of alike ones; `make test-all` asks every one. `quick` is as in `sampled`."""
    return sampled(list(cases)[:: 1 if EVERY_CASE else every], quick)


def first_of_each(cases: Iterable[Any], kind: Callable[[Any], Any], quick: int = 1) -> list[Any]:
    """The first case of each kind: those after it ask the same again. `make test-all` asks every one."""
    listed = list(cases)
    firsts = {kind(case): number for number, case in reversed(list(enumerate(listed)))}
    return sampled(listed if EVERY_CASE else [listed[number] for number in sorted(firsts.values())], quick)


def write_rubric(folder: Path, text: str, **files: str) -> Path:
    """write_rubric(folder, text, **{"checks.py": code}): a rubric's folder; where its rubric.yaml lies."""
    for name, content in {"rubric.yaml": text, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder / "rubric.yaml"


def reference_of(rubric: Rubric, problem: str) -> str:
    """What the checks of a problem are compared with."""
    checks = (check for one in rubric.problems if one.id == problem for check in one.every_check)
    return next(check.parameters["reference"] for check in checks if "reference" in check.parameters)


@cache
def the_rubric(name: str, home: str = "") -> Rubric:
    """A rubric of this repository, by its path in it; read once, since many tests ask for the same two. `home` names
    the assignment whose checks it uses, if it lies elsewhere."""
    return load_rubric(REPOSITORY / name, folder=REPOSITORY / "rubrics" / home if home else None)
