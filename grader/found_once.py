"""What follows from a part of a rubric alone, found once for a class."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

_Found = TypeVar("_Found")


class FoundOnce(Generic[_Found]):
    """Kept by who the parts are, not by what they say: with numbers of a student's own they are others. Whoever is
    kept is held, so that nothing else can come to have its number."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[int, ...], tuple[tuple[object, ...], _Found]] = OrderedDict()

    def of(self, parts: tuple[object, ...], find: Callable[[], _Found]) -> _Found:
        key = tuple(map(id, parts))
        if (known := self._kept.get(key)) is None:
            known = self._kept[key] = parts, find()
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return known[1]

    def __len__(self) -> int:
        return len(self._kept)
