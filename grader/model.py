"""The nouns: rubric, problem, check, submission, student, outcome, report. Plain, frozen, ignorant of how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

Evidence = Mapping[str, Any]
Visibility = Literal["public", "hidden"]


class Status(StrEnum):
    """Whose fault it is, in one word."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"  # ran, and is wrong
    CRASHED = "crashed"  # the student's code raised, hung or hit a limit
    MISSING = "missing"  # nothing handed in
    SKIPPED = "skipped"  # a check it needs did not pass
    REVIEW = "review"  # a person decides; points are provisional
    UNGRADED = "ungraded"  # our fault; never silently zero or full


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    `code` names the reason and stays the same however the message is worded: tests, groups and programs that read
    reports rely on it. `message` and `evidence` are for every reader. `detail` and `revealing` may give away inputs or
    expected values: they are shown for public checks and dropped for hidden ones.
    """

    status: Status
    score: Fraction
    message: str
    detail: str = ""
    evidence: Evidence = field(default_factory=dict)
    revealing: Evidence = field(default_factory=dict)
    trial: int | None = None  # which of the inputs it drew; with the seed, enough to draw it again
    code: str = ""

    def __post_init__(self) -> None:
        if not self.code or self.status is Status.PASSED:
            object.__setattr__(self, "code", str(self.status))
        fits = {Status.PASSED: self.score == 1, Status.PARTIAL: 0 < self.score < 1, Status.REVIEW: 0 <= self.score <= 1}
        if not fits.get(self.status, self.score == 0):
            raise ValueError(f"'{self.status}' does not go with a score of {self.score}")


def passed(message: str, **more: Any) -> Outcome:
    return Outcome(Status.PASSED, Fraction(1), message, **more)


def failed(message: str, detail: str = "", **more: Any) -> Outcome:
    return Outcome(Status.FAILED, Fraction(0), message, detail, **more)


def scored(score: Fraction, message: str, detail: str = "", **more: Any) -> Outcome:
    """Passed at full marks, failed at nothing, partial in between."""
    status = Status.PASSED if score == 1 else Status.PARTIAL if score else Status.FAILED
    return Outcome(status, score, message, detail, **more)


def needs_review(message: str, score: Fraction | int = 0, **more: Any) -> Outcome:
    """A person decides; until then it counts this much."""
    return Outcome(Status.REVIEW, Fraction(score), message, **more)


@dataclass(frozen=True)
class Piece:
    """A stretch of a written answer, as it was written."""

    kind: Literal["prose", "math", "code"]
    text: str
    line: int  # of the file, from 1


@dataclass(frozen=True)
class Place:
    """Where on a page something stands, so that a person can be shown it."""

    page: int  # from 1
    box: tuple[float, float, float, float] | None = None  # left, bottom, right, top, in points from the lower left


@dataclass(frozen=True)
class Answer:
    """What was written for one part."""

    part: str
    file: str
    line: int
    pieces: tuple[Piece, ...]
    items: frozenset[int] = frozenset()  # the lines on which items of lists begin
    places: tuple[Place, ...] = ()  # of a PDF, one for each page it is on
    doubt: str = ""  # why it may have been read otherwise than it was written

    @property
    def text(self) -> str:
        """All of it, line by line, whatever kind its pieces are."""
        told: list[str] = []
        line = 0  # on which the piece before ends
        for piece in self.pieces:
            told += [" " if piece.line == line else "\n", piece.text]
            line = piece.line + piece.text.count("\n")
        return "".join(told[1:])

    @property
    def prose(self) -> str:
        return "\n".join(piece.text for piece in self.pieces if piece.kind == "prose")


@dataclass(frozen=True)
class Answers:
    """A submission's answer sheet, cut into parts."""

    parts: Mapping[str, Answer]
    notes: tuple[str, ...] = ()  # what in it could not be placed, each with its line
    files: tuple[str, ...] = ()  # what was read
    guessed: frozenset[str] = frozenset()  # parts that are not plainly labelled as such
    unplaced: Mapping[str, str] = field(default_factory=dict)  # parts not found → where text is that may be theirs
    pdf: str = ""  # the PDF it was read from: a part that was not found may stand there all the same
    unread: str = ""  # why that PDF could not be read at all
    pages: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # where in it parts are, says submission.yaml


@dataclass(frozen=True)
class Limits:
    """What one box may use. Processor time decides; wall time is for code that sleeps, and runs only while the code
    neither computes nor waits for a processor. Who has once run out of it, or has kept checks for `patience_seconds` in
    all, has `hurried_wall_seconds` for each check from then on: one file that sleeps does not hold up a class."""

    cpu_seconds: int = 10
    wall_seconds: int = 40
    memory_mb: int = 2048
    scratch_mb: int = 128
    patience_seconds: int = 120  # three times the wall time of a check: far more than honest work of any problem takes
    hurried_wall_seconds: int = 5  # opening files, even from a slow disk, takes less


class StudentCode(Protocol):
    """What a probe gets as its first argument, in the sandbox: the way to the student's code."""

    def load(self, file: str) -> Any:
        """The module."""

    def source(self, file: str) -> str | None:
        """Its text without comments and long strings; None of what cannot be read, or is longer than anybody's work."""

    def attribute(self, file: str, name: str) -> Any:
        """A function or class that the file should define; what is not there is reported as missing."""

    def modules(self) -> list[Any]:
        """Every module of the student's that has been loaded."""

    def call(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any] = {}) -> Any:
        """What it returns. A call that does not fit its signature is reported as that, and not as a crash."""

    def replaced(self, attributes: Iterable[tuple[Any, str, Any]]) -> AbstractContextManager[None]:
        """Within, these objects have other attributes of these names."""

    def built(
        self, file: str, name: str, config: Any = None, precision: str = "float64", build: dict[str, Any] | None = None
    ) -> Any:
        """A module of torch in evaluation mode: built from a configuration (a dict), from arguments in their order (a
        list), or from arguments by name (`build`)."""

    def ask(self, probe: str, file: str, **request: Any) -> Any:
        """What a probe of the sandbox's own finds out."""


Probe = Callable[..., Any]  # (code: StudentCode, file: str, **request) -> values


class CodeInABox(Protocol):
    """Student code behind a wall. Every call runs in there; only values come back."""

    def call(self, file: str, function: str, *args: Any, **kwargs: Any) -> Any:
        """What the student's function returns."""

    def probe(self, probe: str | Probe, file: str, /, **request: Any) -> Any:
        """What a probe finds out about a student's file: one of the sandbox's own, by name, or a function of the
        rubric's `probes.py`."""

    def probe_each(self, probe: str | Probe, file: str, requests: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        """The same for several requests, one after the other in the box, without a wait in between."""

    @property
    def printed(self) -> str:
        """The beginning of what the student's code has printed in this box."""


class Box(CodeInABox, Protocol):
    """One running sandbox, which several checks may ask in turn."""

    def begin_check(self) -> None:
        """What is asked from here on belongs to another check: the student's modules are loaded again, and path,
        folder, environment and random numbers are as they were at first."""

    @property
    def lacked_a_gpu(self) -> bool:
        """Whether the student's code asked for a GPU, says the box, and ran without one."""


class Student(CodeInABox, Protocol):
    """An opened submission as a check sees it."""

    def read(self, file: str) -> bytes:
        """A file that was handed in, found by its name wherever it lies."""

    @property
    def answer(self) -> Answer:
        """What was written for the problem at hand."""

    def in_common(self, name: str, make: Callable[[Any], Any]) -> Any:
        """What checks of a problem use together as long as they ask one box. Whoever needs it first makes it, from a
        generator of random numbers that is the same for all of them."""


CheckFunction = Callable[..., Outcome]


@dataclass(frozen=True)
class Check:
    """One use of a check in a problem: the function that judges, and what the rubric gives it."""

    id: str
    function: CheckFunction
    parameters: Mapping[str, Any]
    summary: str
    points: Fraction
    visibility: Visibility = "public"
    needs: tuple[str, ...] = ()
    review_unless: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # a reason → checks that rule it out
    gate: bool = False
    files: tuple[str, ...] = ()  # what it asks students to hand in
    names: tuple[str, ...] = ()  # what it asks those files to define
    personal: Mapping[str, Any] = field(default_factory=dict)  # parameters as written, with `<<names>>` in them
    drawn: Mapping[str, str] = field(default_factory=dict)  # one student's numbers for these names


# What stands in place of all checks where a whole submission could not be graded.
CAN_BE_OPENED, COULD_BE_GRADED = "can_be_opened", "could_be_graded"


@dataclass(frozen=True)
class Later:
    """What is judged after the deadline and is not in this rubric: how much of it there is, and what it asks for."""

    checks: int = 0
    points: Fraction = Fraction(0)
    files: tuple[str, ...] = ()  # to be handed in, beside what the checks of this rubric ask for


@dataclass(frozen=True)
class Alternative:
    """One of several things that may be handed in for a problem, known by the names it defines and its other files."""

    name: str
    files: tuple[str, ...]  # any of these may hold the code; none, for the written answer
    defines: tuple[str, ...]
    beside: tuple[str, ...]
    checks: tuple[Check, ...]
    later: Later = Later()  # beside what the problem says is judged later whichever is handed in


@dataclass(frozen=True)
class Problem:
    id: str
    title: str
    points: Fraction
    checks: tuple[Check, ...]
    limits: Limits = Limits()
    libraries: tuple[str, ...] = ("numpy",)
    alternatives: tuple[Alternative, ...] = ()
    optional: bool = False  # bonus: adds points, and is no part of the maximum
    best_counts: bool = False  # of the alternatives handed in, the one that earns most; otherwise there may be but one
    later: Later = Later()  # not part of `points`

    @property
    def every_check(self) -> tuple[Check, ...]:
        """Of all alternatives, and those they share."""
        return (*(check for alternative in self.alternatives for check in alternative.checks), *self.checks)


def is_code(file: str) -> bool:
    """Rubrics and submissions name files; of what kind one is, its ending says."""
    return file.endswith(".py")


@dataclass(frozen=True)
class PerStudent:
    """Numbers that each student has of their own: what they are drawn from, the key of a kit, and one student's."""

    ranges: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    key: str = ""  # where it is not given, it follows from the course's secret
    student: str = ""
    drawn: Mapping[str, str] = field(default_factory=dict)  # for this student


@dataclass(frozen=True)
class Rubric:
    name: str
    title: str
    points: Fraction
    problems: tuple[Problem, ...]
    path: Path
    sha256: str
    parts: tuple[str, ...] = ()  # every id, also where only some problems are graded
    course_material: tuple[str, ...] = ()  # folders that students were given: what lies in them is not theirs
    editions: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)  # other numberings → parts
    per_student: PerStudent = PerStudent()
    folder: Path = Path()  # what belongs to it: its code, ideas, data, starter files, proof

    @property
    def libraries(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for problem in self.problems for name in problem.libraries))

    @cached_property
    def definitions(self) -> Mapping[str, frozenset[str]]:
        """For each file of code that students hand in, the names it is asked to define."""
        asked: dict[str, set[str]] = {}
        for problem in self.problems:
            for check in problem.every_check:
                for file in check.files:
                    asked.setdefault(file, set()).update(check.names)
            for alternative in problem.alternatives:
                for file in alternative.files:
                    asked.setdefault(file, set()).update(alternative.defines)
        return {file: frozenset(names) for file, names in asked.items() if is_code(file) and names}

    @cached_property
    def files_asked(self) -> tuple[str, ...]:
        """Every file that students may hand in."""
        asked = [file for problem in self.problems for check in problem.every_check for file in check.files]
        for problem in self.problems:
            asked += problem.later.files
            asked += (file for one in problem.alternatives for file in (*one.files, *one.beside))
        return tuple(dict.fromkeys(asked))


class Submission(Protocol):
    """A student's work in a folder of its own that nobody else changes."""

    @property
    def name(self) -> str: ...

    @property
    def folder(self) -> Path: ...

    @property
    def size_bytes(self) -> int: ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to say about what was handed in, and about which of it counts."""

    def for_rubric(self, rubric: Rubric) -> Submission:
        """Itself, with notebooks in place of the code files that the rubric asks for."""

    @property
    def own_files(self) -> tuple[str, ...]:
        """Every file but those in folders of course material, relative to `folder`."""

    @property
    def pages(self) -> Mapping[str, tuple[int, ...]]:
        """On which pages of a PDF parts are answered, says submission.yaml."""

    def find(self, file: str) -> str:
        """The path, relative to `folder`, of the one file that goes by this name."""

    def read(self, file: str) -> bytes:
        """That file's content; WrongKind if it is larger than anything students write."""


@dataclass(frozen=True)
class Isolation:
    """Which layers of the box were on."""

    layers: tuple[str, ...]
    missing: tuple[str, ...]


class Runner(Protocol):
    """Opens submissions in boxes."""

    def open(self, submission: Submission, limits: Limits, seed: int) -> AbstractContextManager[Box]:
        """A fresh box, for one check or for several in turn."""

    @property
    def isolation(self) -> Isolation:
        """What has been seen of the layers so far."""


@dataclass(frozen=True)
class CheckResult:
    check: Check
    outcome: Outcome
    points: Fraction
    seconds: float
    fault: str = ""  # what went wrong on our side, for staff only
    timed_out: bool = False


@dataclass(frozen=True)
class ProblemResult:
    problem: Problem
    status: Status
    points: Fraction
    checks: tuple[CheckResult, ...]
    chosen: str = ""  # which alternative was handed in
    judged: Mapping[str, Any] = field(default_factory=dict)  # what the verdict rests on, as judged.py describes it

    @property
    def max_points(self) -> Fraction:
        """Nothing, for an optional problem that was left out."""
        left_out = self.problem.optional and self.status is Status.MISSING
        return Fraction(0) if left_out else self.problem.points


@dataclass(frozen=True)
class Report:
    submission: str
    rubric: Rubric
    seed: int
    problems: tuple[ProblemResult, ...]
    isolation: Isolation
    seconds: float
    notes: tuple[str, ...] = ()
    secret: str = ""  # the fingerprint of what inputs were drawn from

    @property
    def points(self) -> Fraction:
        return sum((problem.points for problem in self.problems), Fraction(0))

    @property
    def max_points(self) -> Fraction:
        """Of what is asked of everybody: optional problems come on top."""
        return sum((one.problem.points for one in self.problems if not one.problem.optional), Fraction(0))

    @property
    def bonus_points(self) -> Fraction:
        """How many of the points optional problems earned."""
        return sum((problem.points for problem in self.problems if problem.problem.optional), Fraction(0))

    @property
    def max_bonus(self) -> Fraction:
        return sum((one.problem.points for one in self.problems if one.problem.optional), Fraction(0))

    @property
    def provisional(self) -> bool:
        return any(problem.status in (Status.REVIEW, Status.UNGRADED) for problem in self.problems)
