"""Patch embeddings: whether they are trained."""

from __future__ import annotations

import numpy as np

from grader import Outcome, Student, StudentFile, check, failed
from grader.modules import trained

from ..public.patches import NAME, SIZES, patch_bench


@check(group="values")
def patch_embedding_is_trained(
    student: Student, rng: np.random.Generator, *, file: StudentFile, name: str = NAME
) -> Outcome:
    """Gradients flow back to the image and to every parameter it uses."""
    sizes = SIZES[0]
    bench = patch_bench(student, rng, file, name, sizes)
    if not bench.values:
        return failed(f"{name} has no parameters: nothing of it is trained or saved", code="no_parameters")
    return trained(bench, rng, (sizes.images(rng, 2),))
