"""Which answer is meant, what it is called while names are hidden, and the order in which a reviewer gets answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader.batch.rulings import Decision, PartState
from grader.quoting import quote


@dataclass(frozen=True, order=True)
class Ref:
    student: str
    part: str


def ref_of(one: PartState | Decision) -> Ref:
    return Ref(one.student, one.part)


def no_such_answer(ref: Ref) -> str:
    """Nobody is named: names may be hidden from whoever reads it."""
    return f"the gradebook has no such answer to {quote(ref.part, 40)}"


def drawn_order(refs: Iterable[Ref], reviewer: str) -> list[Ref]:
    """Another one for each reviewer, so that nobody's answer is always read last; the same whenever it is asked for."""
    return sorted(refs, key=lambda ref: (_number("order", reviewer, ref.part, ref.student), ref))


def drawn_sample(refs: Iterable[Ref], size: int) -> list[Ref]:
    return sorted(refs, key=lambda ref: (_number("sample", ref.part, ref.student), ref))[:size]


def alias_of(ref: Ref, everybody: Sequence[Ref]) -> str:
    """`answer 17`: the same for all reviewers, so that they can talk about it, and not in the order of names."""
    own = (_number("alias", ref.part, ref.student), ref)
    before = sum((_number("alias", one.part, one.student), one) < own for one in everybody)
    return f"answer {before + 1}"


def aliases(everybody: Iterable[Ref]) -> dict[Ref, str]:
    """All of a part at once, as `alias_of` gives them one by one."""
    order = sorted((_number("alias", ref.part, ref.student), ref) for ref in everybody)
    return {ref: f"answer {place}" for place, (_, ref) in enumerate(order, start=1)}


def is_drawn_twice(ref: Ref, share: Fraction) -> bool:
    """Whether this answer is among the share that two people mark."""
    return share > 0 and _number("double", ref.part, ref.student) < share * (1 << 64)


def _number(*words: str) -> int:
    told = "\0".join(words).encode("utf-8", "replace")
    return int.from_bytes(hashlib.sha256(told).digest()[:8], "big")
