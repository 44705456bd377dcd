"""What a check asks does not depend on whom it asks: it is drawn once, and not again for every submission of a job."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

_Made = TypeVar("_Made")
_KEPT = 256  # two rubrics' worth of checks; each holds some dozens of small arrays
_kept: OrderedDict[Any, tuple[Any, dict[str, Any]]] = OrderedDict()


def drawn(rng: np.random.Generator, make: Callable[..., _Made], *given: Any) -> _Made:
    """`make(rng, *given)`, and the generator as that leaves it. What was made for the same state is not made again.

    It is handed to many: nobody may change it.
    """
    before = rng.bit_generator.state
    key = (make, given, before["state"]["state"], before["state"]["inc"], before["has_uint32"], before["uinteger"])
    if key in _kept:
        _kept.move_to_end(key)
        known: _Made = _kept[key][0]  # `make` is part of the key, so it is of the kind that it makes
        rng.bit_generator.state = _kept[key][1]
        return known
    made = make(rng, *given)
    _kept[key] = (made, dict(rng.bit_generator.state))
    if len(_kept) > _KEPT:
        _kept.popitem(last=False)
    return made
