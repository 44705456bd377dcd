"""The pairs as JSON, for other programs; stable and versioned."""

from __future__ import annotations

from typing import Any

from grader.similar.comparing import Comparison
from grader.similar.pairs import Pointer, Shared
from grader.similar.runs import Passage

_ABOUT = "Pointers for staff, never verdicts: honest work can be alike."


def pair_listing(comparison: Comparison) -> dict[str, Any]:
    findings = comparison.findings
    return {
        "schema": 1,
        "about": _ABOUT,
        "rubric": comparison.rubric,
        "submissions": len(comparison.names),
        "left_out": {
            kind: {"in_more_submissions_than": one.submissions, "fingerprints": one.fingerprints}
            for kind, one in findings.left_out.items()
        },
        "starter_files": comparison.starter_files,
        "not_compared": list(comparison.not_compared),
        "pairs": [_pair(comparison, rank, one) for rank, one in enumerate(findings.pointers, start=1)],
        "weaker_pairs": findings.more,
        "held_by_many": [
            {"kind": one.kind, "place": one.place, "submissions": [comparison.names[number] for number in one.holders]}
            for one in findings.many
        ],
    }


def _pair(comparison: Comparison, rank: int, pointer: Pointer) -> dict[str, Any]:
    return {
        "rank": rank,
        "students": [comparison.names[number] for number in pointer.pair],
        "strength": round(pointer.strength, 4),
        "shared": [_shared(one) for one in pointer.shared],
    }


def _shared(shared: Shared) -> dict[str, Any]:
    return {
        "kind": shared.kind,
        "strength": round(shared.strength, 4),
        "share_of_what_is_rare": [round(shared.mine, 4), round(shared.theirs, 4)],
        "tokens": shared.tokens,
        "passages": [_passage(one) for one in shared.passages],
    }


def _passage(passage: Passage) -> dict[str, Any]:
    mine = {"place": passage.my_place, "lines": list(passage.my_lines)}
    theirs = {"place": passage.their_place, "lines": list(passage.their_lines)}
    return {"tokens": passage.tokens, "places": [mine, theirs]}
