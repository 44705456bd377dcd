"""Prediction files, dressed and damaged, read, held against the questions and scored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from benchmarks.fuzz import material
from benchmarks.fuzz.bytewise import damaged
from benchmarks.fuzz.endings import ends_well
from benchmarks.fuzz.structured import damaged_json, damaged_lines, encoded
from grader.checks.predictions.accuracy import Tier, predictions_are_well_formed, predictions_reach
from grader.errors import Missing

_FILE, _OTHER = "vanilla.pretrain.dev.predictions", "vanilla.nopretrain.dev.predictions"
_TIERS = [Tier(score=1, accuracy="1/10"), Tier(score="1/2", right=1)]
_WORDS = (
    *("London", "□", "□□□□", "⁇", "Where was Ada born?\tLondon", '"London"', "1. London", "prediction"),
    *("id,place", "[", "{", "", " ", "\t", "\r", "\x00", "\x0c", "\u2028", "\ud800", "\ufeff", "Zu\u0308rich"),
    *("ſ", "ﷺ" * 50, "İ", "x" * 300),
)


def make(rng: Random) -> bytes:
    lines = rng.choice(material.predictions())
    lines = _dressed(lines if rng.random() < 0.2 else lines[: material.FEW], rng)
    text = "".join(f"{line}\n" for line in lines)
    by_bytes = rng.random() < 0.3
    if rng.random() < 0.1:
        text = damaged_json(json.dumps(lines), rng, _WORDS)
    elif not by_bytes or rng.random() < 0.3:
        text = damaged_lines(text, rng, _WORDS)
    content = encoded(text, rng)
    if by_bytes:
        content = damaged(content, rng, "\n".join(rng.choice(material.predictions())).encode())
    return content


def _dressed(lines: Sequence[str], rng: Random) -> list[str]:
    """As students write them all the same: numbered, quoted, beside the question, under a header."""
    match rng.randrange(8):
        case 0:
            return [f"{number}{rng.choice('.):')} {line}" for number, line in enumerate(lines, start=rng.randrange(2))]
        case 1:
            return [f'"{line}",' for line in lines]
        case 2:
            asked = (question.partition("\t")[0] for question in material.lines(material.LABELS))
            return [f"{text}\t{line}" for text, line in zip(asked, lines, strict=False)]
        case 3:
            return ["prediction", *lines]
    return list(lines)


@dataclass(frozen=True)
class _HandedIn:
    """As much of a student as these checks look at: one prediction file, and another that is the same."""

    content: bytes

    def read(self, file: str) -> bytes:
        if file not in (_FILE, _OTHER):
            raise Missing(f"{file} was not handed in")
        return self.content


def _few(labels: Path, folder: Path) -> Path:
    """The first of these labels, for files that answer no more."""
    few = folder / labels.name
    if not few.exists():
        few.write_text("".join(f"{line}\n" for line in material.lines(labels)[: material.FEW]), encoding="utf-8")
    return few


def read(content: bytes, folder: Path) -> bool:
    labels, others = material.LABELS, material.OTHER_LABELS
    if content.count(b"\n") < material.FEW * 2:
        labels, others = _few(labels, folder), _few(others, folder)
    student, rng = _HandedIn(content), np.random.default_rng(0)
    course = {"labels": str(labels), "other_labels": str(others), "pad": "□", "separator": "⁇"}

    def messages() -> Iterator[str]:
        outcomes = [
            predictions_are_well_formed(student, rng, file=_FILE, **course),
            predictions_reach(student, rng, file=_FILE, tiers=_TIERS, unlike=[_OTHER], **course),
        ]
        for outcome in outcomes:
            yield outcome.message
            json.dumps(outcome.evidence, allow_nan=False).encode()  # it is written to the report

    return ends_well(messages)
