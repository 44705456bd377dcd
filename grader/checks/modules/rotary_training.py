"""Attention with rotary positions: whether it is trained."""

from __future__ import annotations

import numpy as np

from grader.checks.modules.recovery.obligations import trained
from grader.checks.modules.recovery.workbench import WIDTH, build
from grader.model import Outcome, Student
from grader.registry import StudentFile, check

ATTENTION = "CausalSelfAttention"


@check(group="values")
def rotary_attention_is_trained(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = ATTENTION
) -> Outcome:
    """Gradients flow back through the rotation, to the input and to every parameter in use."""
    x = rng.normal(size=(2, 5, WIDTH))
    return trained(build(student, rng, [file], name, (x,), rope=True), rng, (x,))
