"""Random generators for questions, each as it begins.

The inputs of a check follow from the same number for every submission. To begin a stream by it anew takes seven times
as long as to set one back.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy as np

_KEPT = 256  # two rubrics' worth of checks


class _Known(threading.local):
    """A generator serves one check at a time, so each thread has its own."""

    def __init__(self) -> None:
        self.by_number: OrderedDict[int, tuple[np.random.Generator, dict[str, Any]]] = OrderedDict()


_known = _Known()


def begun_at(number: int) -> np.random.Generator:
    """`np.random.default_rng(number)`. It is set back when the same is asked for again, so nobody may keep it."""
    by_number = _known.by_number
    if number in by_number:
        by_number.move_to_end(number)
        generator, beginning = by_number[number]
        generator.bit_generator.state = beginning
        return generator
    generator = np.random.default_rng(number)
    by_number[number] = generator, dict(generator.bit_generator.state)
    if len(by_number) > _KEPT:
        by_number.popitem(last=False)
    return generator
