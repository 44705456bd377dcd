"""Prediction files judged by how many labels are right; never by lines that may belong to another question.

How accurate is accurate enough: `{accuracy: 0.10, score: 1}`, `{accuracy: 0.05, score: 1/2}`, `{right: 1, …}`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from grader.checks.predictions.alignment import doubt_about
from grader.checks.predictions.label_files import Accuracy, Split
from grader.checks.predictions.prediction_files import Form, PredictionFile, read_predictions, running_text
from grader.errors import Missing
from grader.model import Evidence, Outcome, Student, failed, needs_review, passed, scored
from grader.registry import DataFile, Labels, SaidInFeedback, StudentFile, check, rescores
from grader.shares import Partial, Share

_NEARLY_ALL = 0.95  # of one answer: where a model was asked, it gives several
# Of both checks, so that `with` can state it once for a problem.
_PARTIAL = Partial(cleaned_up="1/2", lines_shifted="1/2", suspicious_predictions="1/2")
Wording = Annotated[str, SaidInFeedback()]
SomeShare = Annotated[Share, Field(gt=0)]


class Tier(BaseModel):
    """A score, for a share of right answers or for a number of them."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)
    score: SomeShare
    accuracy: SomeShare | None = None
    right: Annotated[int, Field(ge=1)] | None = None

    def needed(self, total: int) -> int:
        return ceil(self.accuracy * total) if self.accuracy is not None else self.right or 0

    def met_by(self, reached: Accuracy) -> bool:
        return reached.right >= self.needed(reached.total)

    def __str__(self) -> str:
        bar = f"{float(100 * self.accuracy):g} %" if self.accuracy is not None else f"{self.right} right"
        return f"the tier from {bar} on, worth {'all' if self.score == 1 else self.score}"


def _in_order(tiers: list[Tier]) -> list[Tier]:
    if not tiers:
        raise ValueError("should hold at least one tier")
    if any((tier.accuracy is None) == (tier.right is None) for tier in tiers):
        raise ValueError("should give each tier either 'accuracy' or 'right'")
    ordered = sorted(tiers, key=lambda tier: tier.score, reverse=True)
    # A number of right answers stands below every share: how many lines there are is not known here.
    bars = [tier.accuracy if tier.accuracy is not None else Fraction(tier.right or 0, 10**9) for tier in ordered]
    if any(higher <= lower for higher, lower in pairwise(bars)):
        raise ValueError("should ask for more where it gives more")
    return ordered


Tiers = Annotated[list[Tier], AfterValidator(_in_order)]


@check
def predictions_are_well_formed(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    labels: Labels,
    other_labels: DataFile = "",
    called: Wording = "label",
    pad: str = "",
    separator: str = "",
    partial: Partial = _PARTIAL,
) -> Outcome:
    """The file holds one prediction per line, one for each question in their order, as UTF-8 text.

    A file of which it is plain what is whose, once it is cleaned up, earns `partial: {cleaned_up: …}`.
    """
    split = Split.read_questions(labels)  # at home there may be questions alone
    submitted = read_predictions(student.read(file), split, Form(called, pad, separator))
    evidence = {"lines": len(submitted.predictions), "asked": len(split.questions), **_remarks(submitted)}
    if doubt := doubt_about(submitted, split, other_labels):
        message = f"{file}: {'; '.join([doubt.reason, *submitted.mistakes])}"
        return failed(message, evidence=evidence, code=doubt.code)
    if submitted.mistakes:
        message = f"{file}: it is plain which {called} is whose, but {'; '.join(submitted.mistakes)}"
        return scored(partial["cleaned_up"], message, evidence=evidence, code=submitted.code)
    return passed(f"{file}: {len(submitted.predictions)} lines{_aside(submitted.harmless)}", evidence=evidence)


@check
def predictions_reach(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    labels: Labels,
    tiers: Tiers,
    baseline: Wording = "",
    other_labels: DataFile = "",
    unlike: Sequence[str] = (),
    called: Wording = "label",
    pad: str = "",
    separator: str = "",
    too_good: SomeShare | None = None,
    partial: Partial = _PARTIAL,
) -> Outcome:
    """Enough of its predictions are right.

    Of suspicious predictions, and of shifted lines, a share of the tier counts until a TA has looked (`partial`).
    """
    split, form = Split.read(labels), Form(called, pad, separator)
    submitted = read_predictions(student.read(file), split, form)
    doubt = doubt_about(submitted, split, other_labels)
    if doubt and doubt.moved:
        submitted = replace(submitted, predictions=doubt.moved)
    elif doubt:
        evidence = {"lines": len(submitted.predictions), "asked": len(split.questions), **_remarks(submitted)}
        judged = needs_review if doubt.fixable else failed
        return judged(f"{file}: {doubt.reason}; it is not scored", evidence=evidence, code=doubt.code)
    right, always = split.right(submitted.predictions), split.right([baseline] * len(split.questions))
    low, high = right.interval
    suspicions = _suspicions(submitted.predictions, split, form, baseline)
    if too_good is not None and right.rate >= too_good:
        least = f"{float(100 * too_good):g} % right and more is above what this model reaches"
        suspicions.append(f"{least}; were labels copied, or did another model predict?")
    for other in unlike:
        with suppress(Missing):
            if (
                other != file
                and read_predictions(student.read(other), split, form).predictions == submitted.predictions
            ):
                suspicions.append(f"it is the same, line by line, as {other}")
    evidence = {
        "right": right.right,
        "total": right.total,
        "interval": [round(low, 4), round(high, 4)],
        "baseline": {"answer": baseline, "right": always.right, "total": always.total},
        "nearly_right": split.nearly_right(submitted.predictions) - right.right,
        "suspicions": suspicions,
        "shifted": doubt.reason if doubt else "",
        "needed_cleanup": submitted.needed_cleanup,
        **_remarks(submitted),
    }
    return _verdict_by(file, evidence, tiers, partial)


def _verdict_by(file: str, evidence: Evidence, tiers: list[Tier], partial: Partial) -> Outcome:
    """What the tiers make of what was found, and of nothing else: new tiers need no new reading of the file."""
    right = Accuracy(evidence["right"], evidence["total"])
    baseline = evidence["baseline"]["answer"]
    always = Accuracy(evidence["baseline"]["right"], evidence["baseline"]["total"])
    mistakes, harmless = evidence["remarks"][: evidence["mistakes"]], evidence["remarks"][evidence["mistakes"] :]
    tier = next((tier for tier in tiers if tier.met_by(right)), None)
    score = tier.score if tier else Fraction(0)
    nearly = evidence["nearly_right"]
    better = next((tier for tier in tiers if tier.met_by(Accuracy(right.right + nearly, right.total))), None)
    missed = next((tier for tier in reversed(tiers) if tier.score > score), None)
    message = f"{file}: {right}"
    message += f"; always {baseline}: {always.right}/{always.total} = {100 * always.rate:.1f} %" if baseline else ""
    message += f"; it reaches {tier}" if tier else "; it reaches no tier"
    message += f"; the next is {missed}" if missed else ""
    message += f"; {nearly} more would be right but for case, punctuation or spaces" if nearly else ""
    reasons = list(evidence["suspicions"])
    if shifted := evidence.get("shifted"):
        reasons.insert(0, f"{shifted}; here they are moved so")
    code = "lines_shifted" if shifted else "suspicious_predictions" if reasons else ""
    if reasons and tier:
        score *= partial[code]
        reasons.append(f"{partial[code]} of its points count until a TA has looked")
    elif not shifted:  # there is nothing to give or to take
        message, reasons, code = "; ".join([message, *reasons]), [], ""
    if evidence["needed_cleanup"] and tier:
        reasons.append(f"the course's own script would not have read it as it is ({'; '.join(mistakes)})")
        code = code or "needs_cleanup"
    if better is not tier:
        reasons.append(f"with them it would reach {better}")
    evidence = {
        **evidence,
        "tier": str(tier) if tier else None,
        "tiers": [{"right": tier.needed(right.total), "score": str(tier.score)} for tier in tiers],
    }
    if reasons:
        message = f"{message}. For a person: {'; '.join(reasons)}"
        return needs_review(message, score, evidence=evidence, code=code or "nearly_right")
    return scored(score, message + _aside(harmless), evidence=evidence, code="accuracy_below_tiers")


@rescores(predictions_reach, "tiers", "partial")
def _reached_before(
    stored: Outcome, *, file: str, tiers: list[Tier], partial: Partial = _PARTIAL, **_: Any
) -> Outcome | None:
    if "right" not in stored.evidence:  # missing, or in doubt: no tier has a say in that
        return stored
    return _verdict_by(file, stored.evidence, tiers, partial)


def _remarks(submitted: PredictionFile) -> dict[str, Any]:
    return {"remarks": [*submitted.mistakes, *submitted.harmless], "mistakes": len(submitted.mistakes)}


def _aside(remarks: list[str]) -> str:
    return f" (noticed, at no cost: {'; '.join(remarks)})" if remarks else ""


def _suspicions(predictions: Sequence[str], split: Split, form: Form, baseline: str) -> list[str]:
    """What a person should look at: half of the points wait for that, because each can have an innocent cause."""
    text = running_text(predictions, set(split.labels), form.pad + form.separator)
    suspicions = [text] if text else []
    (answer, often), *_ = Counter(predictions).most_common(1)
    if often >= _NEARLY_ALL * len(predictions):
        which = f"it is the baseline, {answer}" if answer == baseline else "one answer"
        suspicions.append(f"{often} of {len(predictions)} lines are the same ({which}), where a model was asked")
    return suspicions
