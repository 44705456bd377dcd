"""Which of a module's layers does what: every way to give them roles, and the first that explains all outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import TypeVar

import numpy as np

from grader import ATOL, RTOL, Array
from grader.modules import Inputs

from .layers import Linear, Values, maps, outward

_Fit = TypeVar("_Fit")
# Where names say what a layer is for, that assignment is tried first. Names decide the order, never a verdict.
_HINTS = {"query": "q", "key": "k", "value": "v", "output": "op", "hidden": "w"}
# In any layout four layers have 192 assignments. Bare matrices, which may lie either way, have thousands.
_MOST_ASSIGNMENTS = 400
_SLOTS = {"query": 0, "key": 1, "value": 2}  # as packed in torch's own layer


def assignments(candidates: Mapping[str, Sequence[Linear]]) -> Iterator[dict[str, Linear]]:
    """Every way to give each role a layer of its own, those that fit the layers' names first."""
    yield from sorted(_named(candidates), key=misfits)


def assignments_in_any_layout(
    values: Values, layers: Sequence[Linear], roles: Sequence[str], heads: int
) -> list[dict[str, Linear]]:
    """Likewise for the tensors of these layers, however heads and parts are packed in them; none if too many."""
    names = {weight for layer in layers for weight in layer.weights}
    width = max((len(layer.matrix) for layer in layers), default=0)
    inner = maps(values, width, heads, names, any_layout=True)
    outer = outward(values, names, width, heads)
    every = _named({role: outer if role == "output" else inner for role in roles})
    found = list(islice(every, _MOST_ASSIGNMENTS + 1))
    return sorted(found, key=misfits) if len(found) <= _MOST_ASSIGNMENTS else []


def _named(candidates: Mapping[str, Sequence[Linear]]) -> Iterator[dict[str, Linear]]:
    apart = _apart((), tuple(candidates.values()))
    return filter(_share_an_order, (dict(zip(candidates, chosen, strict=True)) for chosen in apart))


def misfits(chosen: Mapping[str, Linear]) -> int:
    """How many layers have names that do not say what they are chosen for."""
    return sum(not _hinted(layer, role) for role, layer in chosen.items())


def may_ask(query: Linear, key: Linear) -> bool:
    """Whether these two can be queries and keys of one attention."""
    return query.goes_with(key) and _share_an_order({"query": query, "key": key})


def _share_an_order(chosen: dict[str, Linear]) -> bool:
    """Queries and keys share an order of heads. That of the values may differ: the output projection undoes it."""
    if "query" not in chosen or chosen["query"].is_packed or chosen["key"].is_packed:
        return True
    return chosen["query"].layout[-2:] == chosen["key"].layout[-2:]


def _apart(chosen: tuple[Linear, ...], rest: tuple[Sequence[Linear], ...]) -> Iterator[tuple[Linear, ...]]:
    if not rest:
        yield chosen
        return
    for layer in rest[0]:
        if all(layer.goes_with(other) for other in chosen):
            yield from _apart((*chosen, layer), rest[1:])


def _hinted(layer: Linear, role: str) -> bool:
    return layer.slot == _SLOTS.get(role, -1) if layer.is_packed else _is_named_for(layer.weight, role)


@lru_cache(maxsize=1024)
def _is_named_for(weight: str, role: str) -> bool:
    words = weight.lower().replace(".", "_").split("_")
    return any(word[0] in _HINTS[role] for word in words if word and word not in ("weight", "attn", "attention"))


def explanation(
    fits: Iterable[tuple[_Fit, Callable[..., Array]]], inputs: Sequence[Inputs], outputs: Sequence[Array]
) -> _Fit | None:
    """The first fit whose arithmetic gives every output."""
    for fit, compute in fits:
        if all(agree(compute(*given), output) for given, output in zip(inputs, outputs, strict=True)):
            return fit
    return None


def agree(want: Array, output: Array) -> bool:
    """`np.allclose`, which for small arrays takes five times as long; it is asked where there is infinity or NaN."""
    if want.shape != output.shape:
        return False
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(output - want)
    if np.isfinite(off).all():
        return bool((off <= ATOL + RTOL * np.abs(want)).all())
    return np.allclose(output, want, rtol=RTOL, atol=ATOL)
