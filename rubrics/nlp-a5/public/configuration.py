"""The configuration from which the modules of 2.g.i are built, as the course's starter code does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from grader import Array, Student
from grader.modules import Workbench, first_of, started

# Sizes that tell apart what could be confused: no two of width, head, bottleneck, hidden layer and length agree.
WIDTH, HEADS, BOTTLENECK, BLOCK = 12, 3, 5, 9
HEAD = WIDTH // HEADS

_SETTINGS: dict[str, Any] = {
    "vocab_size": 11,
    "block_size": BLOCK,
    "n_layer": 3,
    "n_head": HEADS,
    "n_embd": WIDTH,
    "embd_pdrop": 0.0,
    "resid_pdrop": 0.0,
    "attn_pdrop": 0.0,
    "bottleneck_dim": BOTTLENECK,
    "perceiver": False,
    "additive": False,
    "synthesizer": False,
    "rope": False,
}
_NAMED_SIZES = ("n_embd", "n_head", "block_size")  # those that a crash may depend on
_DROPOUT = dict.fromkeys(("embd_pdrop", "resid_pdrop", "attn_pdrop"), 0.5)


def settings(**changed: Any) -> dict[str, Any]:
    """The configuration that every module is built from, but for these."""
    return {**_SETTINGS, **changed}


def build(
    student: Student,
    rng: np.random.Generator,
    files: Sequence[str],
    name: str,
    *inputs: Sequence[Array],
    **changed: Any,
) -> Workbench:
    """The module on a workbench, in float64; in float32 if it runs on these inputs only so, as the course trains it."""
    return started(configured(student, first_of(student, files), name, **changed), rng, *inputs)


def configured(student: Student, file: str, name: str, **changed: Any) -> Workbench:
    """The same before it has run."""
    named = (*_NAMED_SIZES, *(["bottleneck_dim"] if changed.get("perceiver") else []))
    return Workbench(student, file, name, settings(**changed), named_settings=named, strong_dropout=_DROPOUT)
