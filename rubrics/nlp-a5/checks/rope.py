"""The RoPE variant, its two functions: the cache of rotations, and the rotation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader import (
    Array,
    Crashed,
    Outcome,
    Partial,
    Student,
    StudentFault,
    StudentFile,
    TimedOut,
    check,
    difference,
    failed,
    numbers,
    passed,
)
from reference.mistakes.rotary import NEGATIVE_SINES
from reference.rope import angles, turn
from reference.variations import Angles

from .. import probes
from ..public.configuration import HEADS
from ..public.rotary_training import ATTENTION
from .rotary_wiring import APPLY, PRECOMPUTE, SHOWN_TOKENS, shapes_rotated
from .rotations import Turning, folded, holds, named, unlike_the_asked

_SIZES = ((4, 7, 9), (8, 11, 11), (64, 33, 37), (8, 1, 5), (6, 2, 13))  # width, tokens, positions in the cache
_BATCH, _HEADS = 2, 3
_ROUGHLY = 0.05  # to name a mistake: angles of 10⁵ radians are known so well in float32


class _Functions:
    """A student's two functions, asked in float64, or in float32 if they run only so."""

    def __init__(self, student: Student, file: str, precompute: str, apply: str) -> None:
        self._student, self._file = student, file
        self._precompute, self.apply = precompute, apply

    def ask(self, dim: int, positions: int, *inputs: Array, cache: Array | None = None) -> tuple[Any, list[Array]]:
        asked = self.apply if inputs else self._precompute
        request = {"name": asked, "precompute": self._precompute, "dim": dim, "positions": positions}
        request |= {"inputs": list(inputs), "cache": cache}
        try:
            reply = self._student.probe(probes.rotate, self._file, **request)
        except TimedOut:
            raise
        except Crashed as fault:
            try:
                reply = self._student.probe(probes.rotate, self._file, **request, precision="float32")
            except Crashed:
                raise fault from None
        match reply:
            case {"cache": list(parts), "rotated": list(rotated)} if len(rotated) == len(inputs):
                return [part for part in parts if isinstance(part, np.ndarray)], [
                    numbers(one, asked) for one in rotated
                ]
        raise Crashed(f"{asked} gave no array", code="no_outputs")


@check(group="values", compares=True)
def rotary_cache_holds_the_angles(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    precompute: str = PRECOMPUTE,
    apply: str = APPLY,
) -> Outcome:
    """The cache holds cos tθᵢ and sin tθᵢ for positions t from 0, with θᵢ = 10000^(−2(i−1)/d)."""
    functions = _Functions(student, file, precompute, apply)
    caches = [(dim, positions, functions.ask(dim, positions)[0]) for dim, _, positions in _SIZES]
    held = all(holds(cache, positions, angles(dim, positions)) for dim, positions, cache in caches)
    own, _ = _wrong_rotation(functions, rng)
    if held and (own is None or not _right_when_given_a_cache(functions, rng)):
        return passed(f"right for {len(_SIZES)} sizes", evidence={"sizes": len(_SIZES)})
    if held:
        message = f"{precompute}() holds the cosines and sines of tθᵢ, but not where {apply}() looks for them"
        message += ": [cos, sin] belongs in the last axis"
        return failed(message, evidence={"looks_like": "misplaced"}, code="cache_misplaced")

    def explains(of: Angles) -> bool:
        """In float32, angles of many turns are only roughly known, and those of wide heads not at all."""
        narrow = (one for one in caches if one[0] <= 8)
        return all(holds(cache, positions, of(dim, positions), _ROUGHLY) for dim, positions, cache in narrow)

    mistake = named(explains)
    if own is None and mistake in ("", NEGATIVE_SINES):  # whose signs the rotation turns round again
        return passed("an unusual cache, but the rotations that come of it are right", evidence={"judged_by": "scores"})
    if not mistake and _is_backwards(own):
        return passed(
            f"an unusual cache; {apply}() makes all of it but the direction", evidence={"judged_by": "scores"}
        )
    looks = f"; it looks as if {mistake}" if mistake else ""
    dim, positions, cache = next(one for one in caches if not holds(one[2], one[1], angles(one[0], one[1])))
    return failed(
        f"{precompute}() does not hold the cosines and sines of tθᵢ{looks}",
        "" if mistake else unlike_the_asked(cache, angles(dim, positions)),
        evidence={"looks_like": mistake},
        code=mistake.code if mistake else "wrong_cache",
    )


@check(group="values", compares=True)
def rotates_pairs_by_position(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    precompute: str = PRECOMPUTE,
    apply: str = APPLY,
    attention: str = ATTENTION,
    partial: Partial = Partial(rotated_backwards="1/2"),
) -> Outcome:
    """Rotated queries and keys have the scores of the right rotation, at every pair of positions."""
    functions = _Functions(student, file, precompute, apply)
    wrong, tokens_axis = _wrong_rotation(functions, rng)
    if wrong is None and tokens_axis == 1 and _is_given_heads_first(student, file, attention, apply):
        message = (
            f"{apply}() takes the heads for time: it is given (B, heads, T, d) and turns by the place in the second"
        )
        return failed(f"{message} axis; T is the last axis but one", code="rotated_along_heads")
    if wrong is None:
        return passed(f"right scores for {len(_SIZES)} sizes", evidence={"sizes": len(_SIZES)})
    # A wrong cache is another check's matter: given a right one, laid out as the assignment says, it may do well.
    if _right_when_given_a_cache(functions, rng):
        return passed("right, when it is given a right cache", evidence={"given": "a right cache"})
    given, _ = _wrong_rotation(functions, rng, _as_asked)
    found = given if _is_backwards(given) else wrong
    if isinstance(found, StudentFault):
        raise found
    return partial.applied(found) if _is_backwards(found) else found


def _right_when_given_a_cache(functions: _Functions, rng: np.random.Generator) -> bool:
    return any(_wrong_rotation(functions, rng, cached)[0] is None for cached in (_as_asked, _as_complex))


def _is_given_heads_first(student: Student, file: str, attention: str, apply: str) -> bool:
    shapes = shapes_rotated(student, file, attention, apply)
    return bool(shapes) and all(shape[1:3] == (HEADS, SHOWN_TOKENS) for shape in shapes)


def _as_asked(angle: Array) -> Array:
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _as_complex(angle: Array) -> Array:
    return np.asarray(np.exp(1j * angle))


def _wrong_rotation(
    functions: _Functions, rng: np.random.Generator, cached: Callable[[Array], Array] | None = None
) -> tuple[Outcome | StudentFault | None, int]:
    """None if the scores are right, with tokens in the last axis but one or, failing that, in the second; and which."""
    first: Outcome | StudentFault | None = None
    for tokens_axis in (2, 1):
        try:
            wrong = next(filter(None, (_wrong_at(functions, rng, size, tokens_axis, cached) for size in _SIZES)), None)
        except TimedOut:
            raise
        except StudentFault as fault:
            first = first or fault
            continue
        if wrong is None:
            return None, tokens_axis
        first = first if isinstance(first, Outcome) else wrong
    return first, 2


def _wrong_at(
    functions: _Functions,
    rng: np.random.Generator,
    size: tuple[int, int, int],
    tokens_axis: int,
    cached: Callable[[Array], Array] | None,
) -> Outcome | None:
    dim, tokens, positions = size
    label = f"{tokens} tokens of width {dim}, cache of {positions}"
    units = np.broadcast_to(np.eye(dim)[:, None, None], (dim, 1, tokens, dim))
    q, k = (rng.normal(size=(_BATCH, _HEADS, tokens, dim)) for _ in range(2))
    changed = q.copy()
    changed[:, :, tokens // 2] += rng.normal(size=(_BATCH, _HEADS, dim))
    given = [np.swapaxes(array, 2, tokens_axis) for array in (units, q, k, changed)]
    cache = cached(angles(dim, positions)) if cached else None
    try:
        _, rotated = functions.ask(dim, positions, *given, cache=cache)
    except TimedOut:
        raise
    except Crashed as fault:
        message, code = f"{fault.message}, given {label}", fault.code
        if _runs_at(functions, dim, tokens, given, cached):
            message, code = f"{message}; cut the cache to the tokens there are", "not_cut_to_length"
        raise Crashed(message, fault.detail, fault.concealed, code=code) from None
    for array, output in zip(given, rotated, strict=True):
        if output.shape != array.shape:
            message = f"the output of {functions.apply}() has another shape than its input ({label})"
            return failed(message, code="wrong_output_shape")
    turned, q_turned, k_turned, changed_turned = (np.swapaxes(output, 2, tokens_axis) for output in rotated)
    moved = np.abs(changed_turned - q_turned).max(axis=(0, 1, 3)) > 1e-5
    if (np.flatnonzero(moved) != tokens // 2).any():
        message = f"{functions.apply}() mixes tokens: changing one changes what another becomes ({label}); a view() or"
        return failed(f"{message} reshape() needs the axes in their first order again", code="tokens_mixed")
    turning = Turning(turned[:, 0].transpose(1, 2, 0))  # (T, d, d): column j is where feature j goes
    if difference(q_turned, np.einsum("tij,bhtj->bhti", turning.matrices, q)):
        return failed(f"batch items or heads are rotated unlike each other ({label})", code="rotations_unlike")
    if not turning.keeps_lengths:
        return failed(
            f"lengths change, so it is no rotation: are both features of a pair turned by one angle? ({label})",
            code="not_a_rotation",
        )
    if tokens < 2:
        return None
    pairs = turning.pairs
    if pairs is None:
        message = f"features are not turned in pairs as tokens move on ({label}); does the angle depend on t?"
        return failed(message, code="not_turned_in_pairs")
    rates = turning.rates(pairs)
    order = np.argsort(-rates)
    if not np.allclose(angles(dim, 2)[1], rates[order], atol=1e-5):
        mistake = named(lambda of: np.allclose(folded(of(dim, 2)[1] - of(dim, 2)[0]), np.sort(rates), atol=1e-3))
        looks = f"; it looks as if {mistake}" if mistake else ""
        message = f"pairs turn by other angles than θᵢ from one token to the next{looks} ({label})"
        return failed(message, code=mistake.code)
    want_q, want_k = (turn(x, angles(dim, tokens), pairs[order]) for x in (q, k))
    want = want_q @ want_k.swapaxes(-1, -2)
    if found := difference(q_turned @ k_turned.swapaxes(-1, -2), want, atol=1e-3):
        message = f"scores of rotated queries and keys are wrong: {found.summary} ({label})"
        return failed(message, found.detail, code="outputs_differ")
    return _backwards(pairs, label)


def _runs_at(
    functions: _Functions, dim: int, tokens: int, given: list[Array], cached: Callable[[Array], Array] | None
) -> bool:
    """Whether it runs if the cache has no more positions than there are tokens."""
    try:
        functions.ask(dim, tokens, *given, cache=cached(angles(dim, tokens)) if cached else None)
    except Crashed:
        return False
    return True


def _backwards(pairs: Array, label: str) -> Outcome | None:
    """None if every pair turns from its first feature towards its second. Backwards is a slip: with the odd and even
    features of queries and keys exchanged, its scores would be right."""
    count = int((pairs[:, 0] > pairs[:, 1]).sum())
    if not count:
        return None
    which = "every pair" if count == len(pairs) else "some pairs"
    message = (
        f"it turns {which} backwards, by −tθᵢ ({label}): are odd and even features swapped, or the sign of a sine?"
    )
    evidence = {"backwards": count, "pairs": len(pairs)}
    return failed(message, evidence=evidence, code=NEGATIVE_SINES.code)


def _is_backwards(found: Outcome | StudentFault | None) -> bool:
    return isinstance(found, Outcome) and "backwards" in found.evidence
