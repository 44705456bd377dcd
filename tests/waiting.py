"""Tests wait until something is so, and as long as a busy machine may need: a limit that is reached is a failure."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_SECONDS = 300.0  # of anything that ends by itself: seconds on an idle machine, some minutes at load 30


def until(condition: Callable[[], object]) -> None:
    ends = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < ends, f"not so within {PATIENCE_SECONDS:g} s"
        time.sleep(0.02)
