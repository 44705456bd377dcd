"""What follows from a part of a rubric is found once, and never taken for what follows from another."""

from __future__ import annotations

import gc
import weakref

from grader.found_once import FoundOnce


class _Part:
    """Equal to every other."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Part)

    __hash__ = None  # type: ignore[assignment]  # as most parts of a rubric


def test_it_is_found_once_for_the_same_parts_and_anew_for_equal_ones() -> None:
    found, asked, one, other = FoundOnce[int](8), list[int](), _Part(), _Part()

    def find() -> int:
        asked.append(len(asked))
        return asked[-1]

    assert [found.of(parts, find) for parts in ((one,), (one,), (other,), (one, other), (other, one))] == [
        0,
        0,
        1,
        2,
        3,
    ]
    assert len(found) == len(asked) == 4


def test_few_are_kept_and_what_is_kept_is_held() -> None:
    """Were a part gone, another might come to have its number, and be taken for it."""
    found, seen = FoundOnce[int](8), list[weakref.ref[_Part]]()
    for number in range(20):
        part = _Part()
        seen.append(weakref.ref(part))
        assert found.of((part,), lambda number=number: number) == number  # type: ignore[misc]
    del part
    gc.collect()
    assert len(found) == 8
    assert [one() is not None for one in seen] == [False] * 12 + [True] * 8
