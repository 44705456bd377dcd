"""Whether a ViT sees every patch in its place, at first sight. Nothing here spells an answer out: kits have it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from grader.checks.functions.preparation import drawn
from grader.checks.modules.recovery.first_look import apart, looked, question, seed_for
from grader.checks.modules.recovery.image_bench import Sizes
from grader.checks.modules.recovery.other_images import swapped, with_another_patch
from grader.checks.modules.recovery.vit_tokens import kept_as, position_tensors, table
from grader.compare import Array, difference
from grader.kept_question import KeptQuestions
from grader.model import Student


@dataclass(frozen=True)
class _SightAsked:
    questions: KeptQuestions
    pair: Array


def sees_at_once(student: Student, rng: np.random.Generator, file: str, name: str, sizes: Sizes) -> bool:
    """Whether every patch is seen in its place. All images go in one batch; two go alone, too, and are to give the
    same: then an image's logits are its own."""
    asked = drawn(apart(rng), _sight_asked, name, sizes)
    if (seen := looked(student, file, asked.questions)) is None:
        return False
    alone, other_alone, together = seen[0].outputs
    if together.shape != (sizes.patches + 2, sizes.classes) or not np.isfinite(together).all():
        return False
    plain, turned, *others = (together[n : n + 1] for n in range(len(together)))
    places = next(iter(position_tensors(seen[0].values, sizes)), "")
    if not places or difference(plain, alone) or difference(turned, other_alone):
        return False
    if any(difference(each, plain) is None for each in (turned, *others)):
        return False
    rows = table(seen[0].values[places], sizes.dim)
    alike = {places: kept_as(seen[0].values[places], np.broadcast_to(rows[1], rows.shape))}
    (first,) = asked.questions
    again = question(name, sizes.arguments(), first["seed"], [asked.pair], parameters=alike)
    if (seen := looked(student, file, [again])) is None or seen[0].outputs[0].shape != (2, sizes.classes):
        return False
    before, after = seen[0].outputs[0]
    return difference(after, before) is None


def _sight_asked(rng: np.random.Generator, name: str, sizes: Sizes) -> _SightAsked:
    x = sizes.images(rng, 1)
    changed = [with_another_patch(x, rng, sizes, *place) for place in product(range(sizes.side), repeat=2)]
    turned = swapped(x, sizes)
    inputs = [x, turned, np.concatenate([x, turned, *changed])]
    asked = question(name, sizes.arguments(), seed_for(rng), inputs)
    return _SightAsked(KeptQuestions([asked]), np.concatenate([x, turned]))
