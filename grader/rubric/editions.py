"""Other numberings of an assignment, as rubrics list them: `{2021: {2.a: 1.a.ii, 2.d: [1.d.i, 1.d.ii]}}`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from grader.rubric.hints import did_you_mean


def misfits(
    editions: Mapping[str, Mapping[str, list[str]]], parts: Collection[str]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """What is wrong with them, with its place in the rubric."""
    for name, edition in editions.items():
        for label, meant in edition.items():
            for part in meant:
                if part not in parts:
                    cause = f"edition {name} says {label} is '{part}', which is no part{did_you_mean(part, parts)}"
                    yield ("editions", name, label), cause
        if not edition:
            yield ("editions", name), f"edition {name} names no part"


def as_list(value: object) -> object:
    """A validator: one part may stand without brackets."""
    return value if isinstance(value, list) else [value]
