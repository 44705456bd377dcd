"""Predictions of several variants of a model, of which students hand in what they made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader.checks.predictions.accuracy import reached, read_if_handed_in, verdict_by
from grader.checks.predictions.alignment import Split
from grader.checks.predictions.tiers import Tiers
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
    baseline: str = "London",
    other_labels: DataFile = "",
    unlike: Sequence[str] = (),
) -> Outcome:
    """Enough of the places of the variant that was handed in are right; of several, the best counts."""
    split = Split.read(labels)
    found = {}
    for file, tiers in variants.items():
        if read_if_handed_in(student, file) is not None:
            found[file] = reached(student, file, split, tiers, baseline, other_labels, unlike)
    if not found:
        raise Missing(f"none of {', '.join(variants)} was handed in")
    best = max(found.values(), key=lambda outcome: (outcome.score, outcome.status is Status.REVIEW))
    best = replace(best, evidence={**best.evidence, "variants": sorted(found)})
    return (
        best if len(found) == 1 else replace(best, message=f"best of {len(found)} variants handed in: {best.message}")
    )


@rescores(a_variant_reaches, "variants")
def _a_variant_reached_before(stored: Outcome, *, variants: Mapping[str, Tiers], **_: Any) -> Outcome | None:
    if "right" not in stored.evidence:
        return stored
    (file, *others) = stored.evidence["variants"]
    if others or file not in variants:  # another may be the best now, and of that one nothing is stored
        return None
    judged = verdict_by(file, stored.evidence, variants[file])
    return replace(judged, evidence={**judged.evidence, "variants": [file]})
