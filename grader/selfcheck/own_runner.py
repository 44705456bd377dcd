"""Where one's own code runs: in boxes where there are any. Quick to load, so that libraries can begin to load first."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from grader.model import Runner


class OwnRunner(Runner, Protocol):
    def start(self) -> None:
        """Begin loading libraries."""


@contextmanager
def own_runner(libraries: tuple[str, ...]) -> Iterator[OwnRunner]:
    """Boxes where there are any, with what layers there are: the code is one's own."""
    if sys.platform == "linux" and hasattr(os, "pidfd_open"):
        from grader.sandbox.host.runner import BoxRunner  # needs Linux

        with BoxRunner(libraries, unsafe=True) as boxes:
            yield boxes
    else:
        from grader.sandbox.host.open_runner import OpenRunner

        with OpenRunner(libraries) as plain:
            yield plain


def is_installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def how_to_install(library: str, platform: str = sys.platform) -> str:
    """Of torch the build for processors is enough; on Linux the usual one brings gigabytes for a GPU, and uv can tell
    them apart."""
    if library == "torch" and platform == "linux":
        return "pip install uv && uv pip install torch --torch-backend=cpu"
    return f"pip install {library}"
