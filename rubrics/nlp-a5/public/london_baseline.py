"""The script that works out how often London is right: it is run, and one number read from what it states."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grader import (
    Crashed,
    DataFile,
    Outcome,
    Partial,
    Status,
    Student,
    StudentFile,
    check,
    failed,
    needs_review,
    passed,
    quote,
)

ANSWER = "London"
OPTION = "--eval_corpus_path"  # takes the path of the labels in the course's own scripts
_NUMBER = re.compile(r"(?<![\d.])(?:\d+(?:\.(\d*))?|\.(\d+))(?:[eE]([-+]?\d{1,2}))?")
_READ = 20  # numbers, at the end: a baseline states its lines, its hits, its accuracy and little more
_APART = Fraction(1, 10)  # how far the share of this answer moves at least where labels are others


class Accuracy(NamedTuple):
    right: int
    total: int

    @property
    def rate(self) -> float:
        return self.right / self.total

    def __str__(self) -> str:
        return f"{self.right}/{self.total} = {100 * self.rate:.1f} %"


@check  # in a sandbox of its own: the script may change what it likes
def baseline_states_its_accuracy(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    labels: DataFile,
    beside: Sequence[DataFile] = (),
    partial: Partial = Partial(accuracy_only_counted="1/2"),
) -> Outcome:
    """Run as a script, it works out how often always giving the same answer is right on the dev data, and says so."""
    data = {Path(path).name: Path(path).read_text(encoding="utf-8") for path in (labels, *beside)}
    name = Path(labels).name
    rows = [line.split("\t") for line in data[name].removesuffix("\n").split("\n")]
    want = Accuracy(sum(label.strip() == ANSWER for _, label in rows), len(rows))
    match _ran(student, file, data, name):
        case {"started": False}:
            message = f"{file} is not started: there is no code in it that does anything"
            return Outcome(Status.MISSING, Fraction(0), message, code="not_started")
        case {"refused": str(refused)} if refused:
            calls = f"`python {file}`, nor with `{name}` or `{OPTION} {name}` behind it, which lies beside it"
            return needs_review(f"{file} did not run as {calls}", detail=quote(refused), code="script_not_run")
        case reply:
            first, revealing = _numbers_in(reply["text"]), {"said": quote(reply["text"], 400)}
    if not first:
        message = "no number was read from what it prints, returns or writes to files; print the accuracy"
        return needs_review(message, revealing=revealing, code="accuracy_not_stated")
    if not _state(first, want) and [number.value for number in first] == [want.right]:
        message, code = "it states how many are right, but not what share that is", "accuracy_only_counted"
        return needs_review(message, partial[code], revealing=revealing, code=code)
    if not _state(first, want):
        message = f"none of the numbers it states is the accuracy of always saying {ANSWER}"
        return failed(message, f"{_quoted(first)}; expected {want}", revealing=revealing, code="wrong_accuracy")
    apart = [Accuracy(right, want.total) for right in range(1, want.total // 2 + 1)]
    others = [other for other in apart if abs(other.rate - want.rate) >= _APART and not _state(first, other)]
    if not others:
        message = "so many numbers are stated that any accuracy is among them"
        return needs_review(message, revealing=revealing, code="accuracy_unclear")
    other = others[int(rng.integers(len(others)))]
    second = _numbers_in(_ran(student, file, {**data, name: _altered(rng, rows, other.right)}, name)["text"])
    if _state(second, other):
        return passed("it works out the accuracy, and follows the data when they change")
    if _state(second, want):
        message = f"it states the same when {name} holds other labels; work it out from the file"
        return failed(message, _quoted(first), revealing=revealing, code="accuracy_fixed")
    message = f"it is right on {name} as it is, but wrong when the file holds other labels"
    return failed(message, f"{_quoted(second)}; expected {other}", code="wrong_on_other_data")


def _ran(student: Student, file: str, data: Mapping[str, str], labels: str) -> dict[str, Any]:
    reply: dict[str, Any] = student.probe("run_script", file, data=data, arguments=[[], [labels], [OPTION, labels]])
    match reply:
        case {"started": bool(), "refused": str(), "text": str()}:
            return reply
    raise Crashed("what the script stated could not be read", code="malformed_reply")


def _altered(rng: np.random.Generator, rows: Sequence[Sequence[str]], right: int) -> str:
    """The same questions, `right` of them with the answer and the rest with other labels."""
    elsewhere = sorted({label.strip() for _, label in rows} - {ANSWER}) or ["Elsewhere"]
    labels = [ANSWER] * right + [str(label) for label in rng.choice(elsewhere, len(rows) - right)]
    places = rng.permutation(len(labels)).tolist()
    return "".join(f"{question}\t{labels[place]}\n" for (question, _), place in zip(rows, places, strict=True))


class _Number(NamedTuple):
    value: float
    step: float  # one unit in the last place that was written

    def is_near(self, want: float) -> bool:
        """Rounded, or cut off, where its digits end; it may have been kept in single precision, as by torch."""
        rounding = 1e-6 * self.step + 1e-9 + 2**-23 * abs(want)
        rounded, cut_off = self.step / 2 + rounding, self.step - rounding
        return -rounded <= want - self.value < max(rounded, cut_off)


def _numbers_in(text: str) -> list[_Number]:
    matches = _NUMBER.finditer(re.sub(r"(?<=\d),(?=\d)", ".", text))
    found = [_Number(float(one[0]), 10.0 ** (int(one[3] or 0) - len(one[1] or one[2] or ""))) for one in matches]
    return found[-_READ:]


def _state(numbers: Sequence[_Number], want: Accuracy) -> bool:
    """As a percentage, as a fraction with two decimals or more ("0" is near any small share), or as two counts."""
    shares = (number.is_near(100 * want.rate) and number.step <= 1 for number in numbers)
    fractions = (number.is_near(want.rate) and number.step <= 0.01 for number in numbers)
    values = [number.value for number in numbers]
    counts = [*pairwise(values), *pairwise(values[::-1] if len(values) == 2 else [])]  # "total 300, correct 15"
    return any((*shares, *fractions, *(0 < one * want.total == other * want.right < 1e12 for one, other in counts)))


def _quoted(numbers: Sequence[_Number]) -> str:
    return "read " + (", ".join(f"{number.value:.6g}" for number in numbers[-3:]) or "no number")
