"""How a student's attention uses their functions of rotary positions, apart from what those functions do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grader import Student, StudentFault, TimedOut
from grader.modules import Workbench
from reference.rope import angles, turn

from .. import probes
from ..public.configuration import BLOCK, HEAD, WIDTH, settings

PRECOMPUTE, APPLY = "precompute_rotary_emb", "apply_rotary_emb"
SHOWN_TOKENS = 5  # no other size is 5 there
_MOST_POSITIONS = 4 * BLOCK  # some cache more than a block


def with_right_rotations(bench: Workbench, precompute: str = PRECOMPUTE, apply: str = APPLY) -> Workbench:
    """The same attention with right functions in place of the student's: mistakes in those are for other checks."""
    angle = angles(HEAD, _MOST_POSITIONS)
    columns = np.broadcast_to(np.eye(HEAD)[:, None], (HEAD, _MOST_POSITIONS, HEAD))
    matrices = turn(columns, angle, np.arange(HEAD).reshape(-1, 2)).transpose(1, 2, 0)  # (T, d, d)
    cache = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    rotations = {"precompute": precompute, "apply": apply, "cache": cache, "matrices": matrices}
    return replace(bench, probe=probes.run_with_rotations, sent_along={"rotations": rotations})


def shapes_rotated(student: Student, file: str, attention: str, apply: str) -> list[tuple[int, ...]]:
    """What shapes the attention hands to the rotation, given SHOWN_TOKENS tokens; none if that is unknown."""
    request = {"name": attention, "config": settings(rope=True), "apply": apply}
    x = np.random.default_rng(0).normal(size=(2, SHOWN_TOKENS, WIDTH))
    try:
        found = student.probe(probes.shapes_rotated, file, inputs=[x], **request)
    except TimedOut:
        raise
    except StudentFault:
        return []
    shapes = found if isinstance(found, list) else []
    return [tuple(shape) for shape in shapes if isinstance(shape, list) and len(shape) == 4]
