"""Attention with rotary positions: whether it is trained."""

from __future__ import annotations

import numpy as np

from grader import Outcome, Student, StudentFile, check
from grader.modules import trained

from .configuration import WIDTH, build

ATTENTION = "CausalSelfAttention"


@check(group="values")
def rotary_attention_is_trained(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = ATTENTION
) -> Outcome:
    """Gradients flow back through the rotation, to the input and to every parameter in use."""
    x = rng.normal(size=(2, 5, WIDTH))
    return trained(build(student, rng, [file], name, (x,), rope=True), rng, (x,))
