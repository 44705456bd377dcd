"""The page of pairs, for staff: what each shares, side by side, and the rest folded. It has no script.

Students' code stands on it. `grader.report.html` quotes and escapes every value; lines of code keep their indent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup

from grader.quoting import quote
from grader.report.html import templates
from grader.similar.comparing import Comparison
from grader.similar.hand_ins import CODE, PREDICTIONS, PROSE
from grader.similar.material import Material, Place
from grader.similar.pairs import Pointer, Shared
from grader.similar.runs import Passage

_TEMPLATES = Path(__file__).parent / "templates"
_SHOWN_AT_ONCE = 4  # passages of a kind; the others are folded
_PASSAGE_LINES = 120
_FILE_LINES = 300  # of a whole file that is folded
_PAGE_LINES = 60_000  # of whole files on one page, which then has some megabytes
_LINE_CHARACTERS = 240
_DEEPEST = 40  # blanks of indent
_UNITS = {CODE: "tokens", PROSE: "words", PREDICTIONS: "wrong lines"}
_TITLES = {CODE: "Code", PROSE: "Written answers", PREDICTIONS: "Prediction files"}


@dataclass(frozen=True)
class Side:
    """Lines of one student's file."""

    place: str
    first: int
    last: int
    lines: tuple[tuple[int, Markup, bool], ...]  # number, text, whether it is shared
    cut: int = 0  # lines that are not shown


@dataclass
class _Budget:
    lines: int = _PAGE_LINES

    def allows(self, count: int) -> bool:
        self.lines -= count
        return self.lines >= 0


@dataclass(frozen=True)
class _Kind:
    title: str
    facts: str
    passages: list[tuple[Side, Side]]
    folded: list[tuple[Side, Side]]
    whole: list[tuple[Side, Side]] = field(default_factory=list)
    seeded: bool = False  # a fixed seed may explain it


def similar_page(comparison: Comparison) -> str:
    findings = comparison.findings
    budget = _Budget()
    return (
        templates(_TEMPLATES)
        .get_template("similar.html")
        .render(
            comparison=comparison,
            findings=findings,
            left_out=[(_TITLES[kind], one) for kind, one in findings.left_out.items() if one.fingerprints],
            pairs=[_pair(comparison, one, budget) for one in findings.pointers],
            many=[
                (_TITLES[one.kind], one.place, [comparison.names[number] for number in one.holders])
                for one in findings.many
            ],
        )
    )


def _pair(comparison: Comparison, pointer: Pointer, budget: _Budget) -> dict[str, object]:
    one, other = pointer.pair
    kinds = []
    for shared in pointer.shared:
        mine, theirs = comparison.works[one].kinds[shared.kind], comparison.works[other].kinds[shared.kind]
        kinds.append(_kind(shared, mine, theirs, budget))
    return {"names": (comparison.names[one], comparison.names[other]), "strength": pointer.strength, "kinds": kinds}


def _kind(shared: Shared, mine: Material, theirs: Material, budget: _Budget) -> _Kind:
    here, there = _by_name(mine), _by_name(theirs)
    longest = sorted(shared.passages, key=lambda one: -one.tokens)
    sides = [
        (_side(here[one.my_place], one.my_lines), _side(there[one.their_place], one.their_lines)) for one in longest
    ]
    count = f"{len(sides)} passage{'s' * (len(sides) != 1)}"
    facts = f"{shared.tokens} {_UNITS[shared.kind]} in {count}"
    facts += f", {shared.mine:.0%} and {shared.theirs:.0%} of what is rare in their work"
    return _Kind(
        _TITLES[shared.kind],
        facts,
        sides[:_SHOWN_AT_ONCE],
        sides[_SHOWN_AT_ONCE:],
        _whole(shared.passages, here, there, budget),
        seeded=shared.kind == PREDICTIONS,
    )


def _by_name(material: Material) -> dict[str, Place]:
    return {place.name: place for place in material.places}


def _whole(
    passages: Sequence[Passage], here: dict[str, Place], there: dict[str, Place], budget: _Budget
) -> list[tuple[Side, Side]]:
    """Every pair of files that share something, from beginning to end, with what is shared marked."""
    found = []
    for mine, theirs in dict.fromkeys((one.my_place, one.their_place) for one in passages):
        those = [one for one in passages if (one.my_place, one.their_place) == (mine, theirs)]
        sides = (
            _side(here[mine], None, [one.my_lines for one in those]),
            _side(there[theirs], None, [one.their_lines for one in those]),
        )
        if budget.allows(sum(len(side.lines) for side in sides)):
            found.append(sides)
    return found


def _side(place: Place, only: tuple[int, int] | None, marked: Sequence[tuple[int, int]] = ()) -> Side:
    lines = place.lines
    first, last = only or (place.first_line, place.first_line + len(lines) - 1)
    most = _PASSAGE_LINES if only else _FILE_LINES
    shown = lines[first - place.first_line : last - place.first_line + 1][:most]
    rows = [
        (number, _code(line), any(start <= number <= end for start, end in marked))
        for number, line in enumerate(shown, start=first)
    ]
    return Side(place.name, first, last, tuple(rows), cut=last - first + 1 - len(rows))


def _code(line: str) -> Markup:
    line = line[: 4 * _LINE_CHARACTERS].expandtabs(4)
    indent = len(line) - len(line.lstrip(" "))
    return Markup("{}{}").format(" " * min(indent, _DEEPEST), quote(line, _LINE_CHARACTERS))
