"""Predictions of several variants of a model, of which students hand in what they made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from grader.checks.predictions.accuracy import Expected, Wording, reached, read_if_handed_in, verdict_by
from grader.checks.predictions.label_files import Split
from grader.checks.predictions.prediction_files import Form
from grader.checks.predictions.tiers import Share, Tiers
from grader.errors import Missing
from grader.model import Outcome, Status, Student
from grader.registry import DataFile, Labels, check, rescores


@check
def a_variant_reaches(
    student: Student,
    rng: np.random.Generator,
    *,
    variants: Mapping[str, Tiers],
    labels: Labels,
    baseline: Wording = "",
    other_labels: DataFile = "",
    unlike: Sequence[str] = (),
    far_above: Mapping[str, Share] = {},
    called: Wording = "label",
    pad: str = "",
    separator: str = "",
    too_good: Share | None = None,
) -> Outcome:
    """Enough of the predictions of the variant that was handed in are right, by its own file; where it is open which
    variant that is, the best counts. So much that the variant could hardly reach it goes to a person."""
    split = Split.read(labels)
    asked_for = Expected(Form(called, pad, separator), baseline, other_labels, unlike, too_good)
    own = [file for file in variants if file in student.beside]
    found = {}
    for file in own or variants:
        if read_if_handed_in(student, file) is not None:
            found[file] = _doubted(reached(student, file, split, variants[file], asked_for), far_above.get(file))
    if not found:
        others = [file for file in variants if own and read_if_handed_in(student, file) is not None]
        besides = f"; {', '.join(others)} is of another variant" if others else ""
        asked = f"{own[0]} was not" if len(own) == 1 else f"none of {', '.join(own or variants)} was"
        raise Missing(f"{asked} handed in{besides}", code="no_alternative")
    best = max(found.values(), key=lambda outcome: (outcome.score, outcome.status is Status.REVIEW))
    best = replace(best, evidence={**best.evidence, "variants": sorted(found)})
    return (
        best if len(found) == 1 else replace(best, message=f"best of {len(found)} variants handed in: {best.message}")
    )


def _doubted(outcome: Outcome, bound: Fraction | None) -> Outcome:
    """For a person, with half the points until then, where more is right than the variant reaches."""
    if bound is None or "right" not in outcome.evidence:
        return outcome
    if Fraction(outcome.evidence["right"], outcome.evidence["total"]) < bound or not outcome.score:
        return outcome
    reason = f"{float(100 * bound):g} % and more is far above what this variant reaches: did another model predict?"
    joint = "; " if outcome.status is Status.REVIEW else ". For a person: "
    message = f"{outcome.message}{joint}{reason}"
    return replace(
        outcome, status=Status.REVIEW, score=outcome.score / 2, message=message, code="suspicious_predictions"
    )


@rescores(a_variant_reaches, "variants")
def _a_variant_reached_before(
    stored: Outcome, *, variants: Mapping[str, Tiers], far_above: Mapping[str, Share] = {}, **_: Any
) -> Outcome | None:
    if "right" not in stored.evidence:
        return stored
    (file, *others) = stored.evidence["variants"]
    if others or file not in variants:  # another may be the best now, and of that one nothing is stored
        return None
    judged = _doubted(verdict_by(file, stored.evidence, variants[file]), far_above.get(file))
    return replace(judged, evidence={**judged.evidence, "variants": [file]})
