"""`--part 1b`, `1(b)`, `b.ii`: which parts are meant, read as the headings of a sheet are."""

from __future__ import annotations

from collections.abc import Sequence

from grader.errors import UsageError
from grader.quoting import quote

_SHOWN = 40  # characters of what was typed


def parts_meant(written: str, parts: Sequence[str]) -> list[str]:
    """The part that is named, with those below it; nothing if there is none. UsageError if it may mean several."""
    if named := [part for part in parts if part == written or part.startswith(f"{written}.")]:
        return named
    from grader.answers.labels import read_label  # here: with it come all readers of sheets, and ids need none
    from grader.answers.outline import Outline

    label, outline = read_label(written.lower(), heading=True), Outline(parts)
    if label is None or label.rest:
        return []
    node = outline.descend((), label.steps)
    nodes = [node] if node is not None else outline.ending_in(label.steps)
    if len(nodes) > 1:
        which = ", ".join(map(outline.name, nodes))
        raise UsageError(f"'{quote(written, _SHOWN)}' may mean several parts; say which: {which}")
    return [outline.leaves[leaf] for node in nodes for leaf in outline.leaves_under(node)]
