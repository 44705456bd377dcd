"""A small kit as students get it: a public rubric beside one's own work, and how much of it runs later."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.conftest import REPOSITORY

RUBRIC = """\
rubric: tiny
title: A tiny homework
points: 6
problems:
  - id: 1.a
    title: A query
    points: 3
    later: {checks: 1, points: 1}
    checks:
      - {check: weights_tend_to_their_targets, points: 3, name: q, keys: k, targets: {a: 1/2, b: 1/2}}
  - id: 1.b
    title: In words
    points: 0
    later: {checks: 2, points: 5/2}
    checks:
      - {check: is_answered, gate: true}
  - id: 2
    title: Attention
    points: 3
    later: {checks: 1, points: 1, files: [weights.txt]}
    with: {file: attention.py, function: attention}
    checks:
      - {check: returns_an_array, gate: true, inputs: column_attention}
      - {check: columns_sum_to_one, points: 3}
"""
ANSWERS = """\
## 1.a

$q = \\beta (k_a + k_b)$ for a large $\\beta$

## 1.b

Because both scores are the same, and far above all the others.
"""
ATTENTION = """\
import numpy as np

def attention(Q, K, V, beta):
    scores = beta * K.T @ Q
    weights = np.exp(scores - scores.max(axis=0))
    return V @ (weights / weights.sum(axis=0))
"""
SUMMARY = "3 of 7 checks are public; 4 run after the deadline (4.5 of 10.5 points)"


def make_kit(folder: Path, **changed: str | None) -> Path:
    """`make_kit(folder, **{"answers.md": None})`: with these files changed or left out."""
    files: dict[str, str | None] = {
        "rubric/tiny/rubric.yaml": RUBRIC,
        "submission.yaml": "rubric: tiny\n",
        "answers.md": ANSWERS,
        "attention.py": ATTENTION,
        "weights.txt": "1 2 3\n",
    }
    for name, text in (files | changed).items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    public = REPOSITORY / "rubrics" / "nlp-a5" / "public" / "formulas"
    shutil.copytree(public, folder / "rubric" / "tiny" / "public" / "formulas", dirs_exist_ok=True)
    return folder
