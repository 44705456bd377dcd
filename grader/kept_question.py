"""A question that is asked of many submissions."""

from __future__ import annotations

from typing import Any


class KeptQuestion(dict[str, Any]):
    """A request to a probe that is asked of many submissions. Nobody changes it, so a runner may keep what it sends."""

    def __init__(self, **request: Any) -> None:
        super().__init__(request)
        self.frames: dict[tuple[str, str, bool], bytes] = {}
