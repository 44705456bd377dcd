"""The ViT of 2.5 judged at first sight: what is right is mostly seen to be so by a few questions.

A reading that gives all its values is right, however it was come by; so no other reading is ruled out first, and which
tensors have influence is guessed from gradients. Where nothing is explained the careful way looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np

from grader.checks.functions.preparation import drawn
from grader.checks.modules.recovery.at_once import trained_at_once
from grader.checks.modules.recovery.drawn_bench import DrawnBench, drawn_bench
from grader.checks.modules.recovery.first_look import apart, looked, question, seed_for
from grader.checks.modules.recovery.image_bench import Sizes
from grader.checks.modules.recovery.layers import loose_vectors
from grader.checks.modules.recovery.paired_tensors import in_pairs
from grader.checks.modules.recovery.vit_depth import how_blocks_follow
from grader.checks.modules.recovery.vit_fits import Found, read_right
from grader.checks.modules.recovery.vit_stack import blocks_with_depth_one
from grader.checks.modules.recovery.vit_tokens import class_tokens, position_tensors, table, ways_in
from grader.compare import Array
from grader.errors import Killed, StudentFault, TimedOut
from grader.kept_question import KeptQuestions
from grader.model import Student
from reference.mistakes.mixing import RIGHT

_FEW_WAYS_IN = 2  # the class token first, or last
_CLEAR = 1e-6  # of a gradient
# Far more than the careful way asks: a mistake that shows in few images would otherwise have two chances to pass.
_IMAGES = 32


def learns_at_once(student: Student, rng: np.random.Generator, file: str, name: str, sizes: Sizes) -> bool:
    """Whether class token and positions are learned: their gradients, which agree with differences, are not nothing."""
    shapes = sizes.shape(2), (2, sizes.classes)
    if (found := trained_at_once(student, rng, file, name, sizes.arguments(), shapes)) is None:
        return False
    look, _ = found
    places = next(iter(position_tensors(look.values, sizes)), "")
    if (
        not places
        or places in look.open
        or not any(token not in look.open for token in class_tokens(look.values, sizes))
    ):
        return False
    return bool(np.all(np.abs(table(look.gradients[places], sizes.dim)).max(axis=-1) > _CLEAR))


@dataclass(frozen=True)
class _ReadingAsked:
    questions: KeptQuestions
    images: Array  # that the deep one was run on


def read_at_once(
    student: Student, rng: np.random.Generator, file: str, name: str, one: Sizes, deep: Sizes
) -> Found | TimedOut | None:
    """The reading that gives all its values, with one block and with several; None if that is not found at once.

    Where trying what its tensors may be takes too long, that.
    """
    rng = apart(rng)
    asked = drawn(rng, _reading_asked, name, one, deep)
    if (seen := looked(student, file, asked.questions)) is None:
        return None
    if seen[1].outputs[0].shape != (len(asked.images), deep.classes):
        return None
    shallow, tall = (
        drawn_bench(student, file, name, sizes, question["seed"], look)
        for sizes, question, look in zip((one, deep), asked.questions, seen, strict=True)
    )
    if blocks_with_depth_one(shallow.values, tall.values, deep.depth) != 1 or not _is_plain(shallow, one):
        return None
    for way_in in islice(ways_in(shallow.values, one), _FEW_WAYS_IN):
        if set(loose_vectors(shallow.values, one.dim)) - way_in.names:
            continue
        try:
            found = read_right(shallow, rng, one, way_in)
        except TimedOut as fault:
            return fault
        except Killed:
            raise
        except StudentFault:
            return None
        if found:
            how = how_blocks_follow(tall, asked.images, seen[1].outputs[0], deep, found)
            return found if how == RIGHT else None
    return None


def _reading_asked(rng: np.random.Generator, name: str, one: Sizes, deep: Sizes) -> _ReadingAsked:
    images = deep.images(rng, _IMAGES)
    cotangent = rng.normal(size=(1, one.classes))
    shallow = question(name, one.arguments(), seed_for(rng), [one.images(rng, 1)], cotangent=cotangent)
    tall = question(name, deep.arguments(), seed_for(rng), [images])
    return _ReadingAsked(KeptQuestions([shallow, tall]), images)


def _is_plain(bench: DrawnBench, sizes: Sizes) -> bool:
    """Whether its layers are named as torch's are, and its positions are a table."""
    return bool(position_tensors(bench.values, sizes)) and in_pairs(bench, sizes, turned=False) is bench
