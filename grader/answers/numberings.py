"""How a sheet numbers its parts: as the rubric does, or as an edition of the assignment that the rubric knows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.answers.outline import Outline
from grader.model import Answers
from grader.quoting import quote

Editions = Mapping[str, Mapping[str, Sequence[str]]]  # name → a part's label there → what it is called here


@dataclass(frozen=True)
class Numberings:
    parts: Sequence[str]
    editions: Editions = field(default_factory=dict)

    def best(self, file: str, cut: Callable[[Outline], Answers]) -> Answers:
        """The sheet as cut by the numbering that finds most answers, under the rubric's own names."""
        found = cut(Outline(self.parts))
        for name, edition in self.editions.items():
            if _places(found) >= len(edition):  # it has a place for each of its labels at most
                continue
            there = cut(Outline(list(edition)))
            if _places(there, there.guessed) > _places(found):
                note = f"{quote(file, 80)}: its parts are numbered as in edition {name}"
                found = _renamed(there, edition, note)
        return found


def _places(answers: Answers, without: Collection[str] = ()) -> int:
    """How many answers were found. Our own numbering may be guessed at; another has to be plain."""
    return len({(answer.file, answer.line) for part, answer in answers.parts.items() if part not in without}) + len(
        answers.pages.keys() - answers.parts.keys()
    )


def _renamed(answers: Answers, edition: Mapping[str, Sequence[str]], note: str) -> Answers:
    """Answers by another edition's labels, under the names that the parts have here."""
    parts = {own: replace(answer, part=own) for label, answer in answers.parts.items() for own in edition[label]}
    unplaced = {own: place for label, place in answers.unplaced.items() for own in edition[label] if own not in parts}
    guessed = frozenset(own for label in answers.guessed for own in edition[label])
    pages = {own: numbers for label, numbers in answers.pages.items() for own in edition[label]}
    notes = (note, *answers.notes)
    return replace(answers, parts=parts, notes=notes, guessed=guessed, unplaced=unplaced, pages=pages)
