"""A baseline script judged by the accuracy it states, on the data as they are and on data with other answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from grader.checks.predictions.accuracy import Wording
from grader.checks.predictions.label_files import Accuracy, Question, Split
from grader.checks.predictions.prediction_files import several
from grader.errors import Crashed
from grader.model import Outcome, Status, Student, failed, passed
from grader.quoting import quote
from grader.registry import DataFile, StudentFile, check

_NUMBER = re.compile(r"(?<![\w.])(?:\d+(?:\.(\d*))?|\.(\d+))(?:[eE]([-+]?\d{1,2}))?")
_AFTER_A_LETTER = re.compile(r"(?<=[^\W\d_])(\d+(?:\.(\d*))?)(?=\s*%)")  # "is5.0%"
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])(\d{1,2}),(\d+)(?![\w.,])")
_OF = re.compile(r"(?<![\w.])(\d{1,9})(?:\.0*)?\s*(?:out of|of|/)\s*(\d{1,9})(?!\w|\.\d*[1-9])")
_MANY = 20  # a baseline states its lines, its hits, its accuracy and little more
_CONCLUSION_LINES = 5
_MOST = 1000  # numbers looked at, whatever is printed
_QUOTED = 3
_QUOTED_CHARACTERS = 12
_RUN_FROM = {"top": "the top of the submission", "own": "its own folder", "between": "a folder above its own"}
_SINGLE_PRECISION = 2**-23
_APART = Fraction(1, 10)  # how far the share of this answer moves at least in the altered data


@check  # in a sandbox of its own: data are put among the student's files
def baseline_states_its_accuracy(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    labels: DataFile,
    beside: Sequence[DataFile] = (),
    answer: Wording,
    called: Wording = "label",
) -> Outcome:
    """Run as a script, it works out how often always giving the same answer is right on the dev data, and says so."""
    questions = Split.read(labels).questions
    others = {Path(path).name: Path(path).read_text(encoding="utf-8") for path in beside}

    def run(asked: Sequence[Question]) -> _Said:
        text = "".join(f"{question.text}\t{question.label}\n" for question in asked)
        return _heard(student.probe("run_script", file, data={Path(labels).name: text, **others}, answer=answer))

    first, want = run(questions), _always(questions, answer)
    evidence, revealing = first.evidence(), {"said": quote(first.text, 400)}
    stated, elsewhere = first.states(want), _elsewhere(beside, answer)
    if not first.started and not stated:
        message = f"{file} is not started: there is no code in it that does anything"
        return Outcome(Status.MISSING, Fraction(0), message, evidence=evidence, code="not_started")
    if not stated and first.wrote_only(answer, len(questions)):
        message = f"it writes {answer} {len(questions)} times, but says no accuracy; work it out and print it"
        code = "accuracy_not_stated"
        return Outcome(Status.PARTIAL, Fraction(1, 2), message, evidence=evidence, revealing=revealing, code=code)
    if not stated:
        message, code = _what_is_wrong(first, want, (answer, called), elsewhere)
        detail = f"{first.quoted}expected {want}"
        return failed(message, detail, evidence=evidence, revealing=revealing, code=code)
    other = _other_share(rng, first, want)
    if other is None:
        message = "it states so many numbers that any accuracy is among them; print the accuracy alone"
        return failed(message, evidence=evidence, revealing=revealing, code="accuracy_unclear")
    second = run(_altered(rng, questions, other.right, answer))
    again = second.states(other)
    if not again and second.states(want):
        message = (
            f"it states the same when {Path(labels).name} holds other {several(called)}; work it out from the file"
        )
        also_on = [name for name in elsewhere if second.on(elsewhere[name])]
        message += "".join(f" (it is also the accuracy on {name})" for name in also_on)
        code = "accuracy_on_other_data" if also_on else "accuracy_fixed"
        detail = first.quoted.removesuffix("; ")
        return failed(message, detail, evidence=evidence, revealing=revealing, code=code)
    if not again:
        message = f"it is right on {Path(labels).name} as it is, but wrong when the file holds other {several(called)}"
        cause = _cause(second, other, (answer, called), elsewhere)
        message += f": {cause[0]}" if cause else ""
        detail = f"{second.quoted}expected {other}"
        revealing = {"said": quote(second.text, 400)}
        return failed(message, detail, evidence=evidence, revealing=revealing, code="wrong_on_other_data")
    if "count" in (stated, again):
        message = "it states how many are right, but neither of how many nor what share; print the accuracy"
        code = "accuracy_only_counted"
        return Outcome(Status.PARTIAL, Fraction(1, 2), message, evidence=evidence, revealing=revealing, code=code)
    return passed("it works out the accuracy, and follows the data when they change", evidence=evidence)


def _always(questions: Sequence[Question], answer: str) -> Accuracy:
    return Accuracy(sum(question.label == answer for question in questions), len(questions))


def _elsewhere(beside: Sequence[str], answer: str) -> dict[str, Accuracy]:
    """The accuracy on other data that lie beside, where these have places."""
    found = {}
    for path in beside:
        try:
            found[Path(path).name] = _always(Split.read(path).questions, answer)
        except ValueError:  # questions alone
            continue
    return found


@dataclass(frozen=True)
class _Number:
    value: float
    step: float  # one unit in the last place that was written
    text: str = ""

    def is_near(self, want: float) -> bool:
        """Rounded, or cut off, where its digits end; it may have been kept in single precision, as by torch."""
        rounding = 1e-6 * self.step + 1e-9 + _SINGLE_PRECISION * abs(want)
        cut_off = -rounding <= want - self.value < self.step - rounding
        return cut_off or abs(want - self.value) <= self.step / 2 + rounding


@dataclass(frozen=True)
class _Said:
    """What a script said in one run. All of it is the student's word."""

    printed: str
    written: list[str]
    returned: list[str]
    run_from: str
    replaced: bool
    stand_in: bool
    started: bool

    @property
    def text(self) -> str:
        return _COLOUR.sub(" ", "\n".join([self.printed, *self.returned, *self.written]))

    @cached_property
    def conclusion(self) -> str:
        """All that it says; of very many numbers, those at the end of what it prints."""
        if len({number.value for number in _numbers_in(self.text)}) <= _MANY:
            return self.text
        return "\n".join([*self.printed.rstrip().splitlines()[-_CONCLUSION_LINES:], *self.returned])

    @cached_property
    def numbers(self) -> list[_Number]:
        return _numbers_in(self.conclusion)[-_MOST:]

    @property
    def quoted(self) -> str:
        """The numbers that were read, or the last of them, in the words of a message."""
        texts = list(dict.fromkeys(quote(number.text, _QUOTED_CHARACTERS) for number in self.numbers))
        more = ["…"] if len(texts) > _QUOTED else []
        return f"read {', '.join([*more, *texts[-_QUOTED:]])}; " if texts else ""

    def states(self, want: Accuracy) -> str:
        """'share' if it states this accuracy, as a percentage, a fraction or two counts; 'count' if only the hits."""
        values = [number.value for number in self.numbers]
        counts = {(want.right, want.total), (want.total, want.right)}
        pairs = [(int(one), int(other)) for one, other in _OF.findall(self.conclusion)[-_MOST:]]
        if (want.total, want.right) in pairs:
            return ""  # 300 out of 15
        if counts.intersection(pairwise(values)):
            return "share"
        if any(one * want.total == other * want.right > 0 for one, other in pairs):
            return "share"  # 1/20
        for number in self.numbers:
            # A fraction needs two decimals: "0" is near any small share.
            if number.is_near(100 * want.rate) and number.step <= 1:
                return "share"
            if number.is_near(want.rate) and number.step <= 0.01:
                return "share"
        is_count = want.right in values and not any(one == want.right for one, _ in pairs)  # 15/301 is no count
        return "count" if is_count else ""

    def on(self, other: Accuracy) -> bool:
        return self.states(other) == "share"

    def wrote_only(self, answer: str, times: int) -> bool:
        return any(text.split() == answer.split() * times for text in self.written)

    def evidence(self) -> dict[str, Any]:
        return {
            "run_from": _RUN_FROM[self.run_from],
            "utils": "our own evaluate_places stood in for utils.py" if self.stand_in else "no stand-in needed",
            "data": "the course's files replaced those handed in" if self.replaced else "the course's files",
        }


def _heard(reply: Any) -> _Said:
    match reply:
        case {
            "printed": str(printed),
            "written": list(written),
            "returned": list(returned),
            "run_from": str(run_from),
            "replaced": bool(replaced),
            "stand_in": bool(stand_in),
            "started": bool(started),
        }:
            if run_from in _RUN_FROM:
                return _Said(printed, _texts(written), _texts(returned), run_from, replaced, stand_in, started)
    raise Crashed("what the script said could not be read", code="malformed_reply")


def _texts(named: list[Any]) -> list[str]:
    found = []
    for item in named:
        match item:
            case (str(), str(text)):
                found.append(text)
            case _:
                raise Crashed("what the script said could not be read", code="malformed_reply")
    return found


def _numbers_in(text: str) -> list[_Number]:
    found = []
    for match in _NUMBER.finditer(text):
        decimals = len(match[1] or match[2] or "") - int(match[3] or 0)
        found.append(_Number(float(match[0]), 10.0**-decimals, match[0]))
    for match in _AFTER_A_LETTER.finditer(text):
        found.append(_Number(float(match[1]), 10.0 ** -len(match[2] or ""), match[1]))
    for match in _DECIMAL_COMMA.finditer(text):
        found.append(_Number(float(f"{match[1]}.{match[2]}"), 10.0 ** -len(match[2]), match[0]))
    return found


_Cause = tuple[str, str]  # in words, and its code


def _what_is_wrong(said: _Said, want: Accuracy, asked: tuple[str, str], elsewhere: Mapping[str, Accuracy]) -> _Cause:
    if not said.numbers:
        return "it ran, but stated no number; print the accuracy", "accuracy_not_stated"
    usual = f"none of the numbers it states is the accuracy of always saying {asked[0]}"
    return _cause(said, want, asked, elsewhere) or (usual, "wrong_accuracy")


def _cause(said: _Said, want: Accuracy, asked: tuple[str, str], elsewhere: Mapping[str, Accuracy]) -> _Cause | None:
    """Which of the usual mistakes gives what it states, if one does. Asked for are an answer, and what it is called."""
    answer, called = asked
    if said.on(Accuracy(want.total - want.right, want.total)):
        return f"it states how often {answer} is wrong, not how often it is right", "states_the_complement"
    for name, accuracy in elsewhere.items():
        if said.on(accuracy):
            return f"it states the accuracy on {name}, not on the dev data", "accuracy_on_other_data"
    for total in (want.total - 1, want.total + 1):
        if any(said.on(Accuracy(right, total)) for right in (want.right, want.right - 1) if 0 < right < total):
            told = f"it states a share of {total} questions, and there are {want.total}"
            return f"{told}; is a line left out, or too many?", "wrong_question_count"
    values = {number.value for number in said.numbers}
    if values <= {0.0, float(want.total), 1.0}:
        if {number.text for number in said.numbers} == {"0"}:
            told = f"it states 0: is the share rounded down to a whole number, or is {answer} found nowhere?"
            return told, "states_zero"
        if 0.0 in values:
            compared = f"case and the end of a line count when {several(called)} are compared"
            return f"it states 0, as if {answer} stood nowhere; {compared}", "states_zero"
    if want.right and any(number.is_near(want.total / want.right) for number in said.numbers if number.step < 1):
        return "the share is upside down: it divides all questions by those that are right", "share_upside_down"
    return None


def _other_share(rng: np.random.Generator, said: _Said, want: Accuracy) -> Accuracy | None:
    """Another number of hits, well apart and not among the numbers the script states anyway."""
    apart = [Accuracy(right, want.total) for right in range(1, want.total) if _are_apart(right, want)]
    fresh = [other for other in apart if not said.states(other)]
    return fresh[int(rng.integers(len(fresh)))] if fresh else None


def _are_apart(right: int, want: Accuracy) -> bool:
    return abs(Fraction(right - want.right, want.total)) >= _APART and 2 * right <= want.total


def _altered(rng: np.random.Generator, questions: Sequence[Question], right: int, answer: str) -> list[Question]:
    """The same questions, with this answer to `right` of them and other places for the rest."""
    elsewhere = sorted({question.label for question in questions} - {answer}) or ["Elsewhere"]
    chosen = set(rng.permutation(len(questions))[:right].tolist())
    return [
        Question(question.text, answer if number in chosen else elsewhere[int(rng.integers(len(elsewhere)))])
        for number, question in enumerate(questions)
    ]
