"""Phrasings: one line each, the words and symbols that together say an idea.

    sum|add 1              both in one sentence, near each other, in any order; each in any form (sums, adding)
    @large gap             a group of the thesaurus
    one-hot|"Σ α"          neighbours, in this order
    vari*                  every word that begins so
    "Σ α ≈ 1"              symbols in this order; α stands for α_i too; ≈ also reads =, →; `..` skips a few
    !stable                denied: "not stable", "never stays stable"
    (ViT sine)             both in one clause
    (c v_a) & (c v_b)      phrasings in the same sentence or in two that follow each other

Without `!` a word counts only where it is not denied. A word of six letters or more may have one typing mistake.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, takewhile
from operator import attrgetter, itemgetter
from typing import NamedTuple

from grader.notation.word_lists import words
from grader.prose.clause_tokens import clauses_of
from grader.prose.index_letters import renamed
from grader.prose.thesaurus import THESAURUS
from grader.prose.word_tokens import Token, forms

_SPAN = 22  # tokens from the first to the last word of a phrasing: about two clauses
_MANY = 200  # places of a phrasing in two parts: a page says it ten times
_GAP = 6  # tokens that `..` may skip
_LONG = 6  # letters; shorter stems have too many neighbours one letter away
_LOOSE = {
    "≈": ("≈", "=", "→", "~", "≡", "becom", "approach", "equal"),
    "≥": ("≥", ">"),
    "≫": ("≫", ">"),
    "≪": ("≪", "<"),
    "-": ("-", "−"),
}
_ASKING = words("what why how when which who where whether can could does do did is are will would should may")
_ASKED = re.compile(r"[\s)\]]{0,3}\?")
_TERM = re.compile(r'(!?)((?:"[^"]+"|[^\s"])+)(?:\s+|$)')
_ALTERNATIVE = re.compile(r'(?:"[^"]*"|[^|"])*(?:\||$)')


class Atom(NamedTuple):  # thousands are looked up for each answer, and a tuple's hash is quick
    """One token of a phrasing."""

    form: str
    prefix: bool = False


Run = tuple[tuple[Atom, ...] | None, ...]  # neighbours, each any of some atoms; None is a gap


@dataclass(frozen=True)
class Term:
    runs: tuple[Run, ...]
    denied: bool


@dataclass(frozen=True)
class Part:
    """What has to stand in one sentence, or in one clause."""

    terms: tuple[Term, ...]
    in_one_clause: bool


@dataclass(frozen=True)
class Found:
    """Where a phrasing stands, from the first token to the last."""

    first: int
    last: int
    sentence: int


@lru_cache(maxsize=4096)
def readable(phrasing: str) -> str:
    """The phrasing itself; ValueError in one line if it cannot be read. Nothing is stemmed for it: rubrics have many
    phrasings, and most answers need few of them."""
    for part in phrasing.split(" & "):
        _terms(part, phrasing)
    return phrasing


@lru_cache(maxsize=4096)
def parse(phrasing: str) -> tuple[Part, ...]:
    """The parts of a phrasing; ValueError in one line if it cannot be read."""
    return tuple(_part(part, phrasing) for part in phrasing.split(" & "))


def _part(text: str, phrasing: str) -> Part:
    terms = []
    for denied, alternatives in _terms(text, phrasing):
        runs = [run for alternative in alternatives for run in _runs(alternative)]
        terms.append(Term(tuple(runs), denied))
    return Part(tuple(terms), in_one_clause=text.strip().startswith("("))


def _terms(text: str, phrasing: str) -> list[tuple[bool, list[str]]]:
    """The terms of a part: whether each is denied, and its alternatives as they are written."""
    text, position, terms = text.strip(), 0, []
    if text.startswith("("):
        if not text.endswith(")"):
            raise ValueError(f"the phrasing {phrasing!r} has a bracket without its partner")
        text = text[1:-1].strip()
    while position < len(text):
        found = _TERM.match(text, position)
        if found is None:
            raise ValueError(f"the phrasing {phrasing!r} has a quotation mark without its partner")
        written = (part[0].rstrip("|") for part in _ALTERNATIVE.finditer(found[2]) if part.end() > part.start())
        alternatives = list(written)
        for alternative in alternatives:
            _refuse_unreadable(alternative, phrasing)
        terms.append((bool(found[1]), alternatives))
        position = found.end()
    if not terms:
        raise ValueError("a phrasing is empty")
    return terms


def _refuse_unreadable(word: str, phrasing: str) -> None:
    if word.startswith('"'):
        return
    if word.startswith("@"):
        if word[1:] not in THESAURUS:
            raise ValueError(f"the phrasing {phrasing!r} names the group {word}, which the thesaurus does not have")
        for synonym in THESAURUS[word[1:]].split():
            _refuse_unreadable(synonym, phrasing)
    elif not word or word.startswith("!"):
        raise ValueError(f"the phrasing {phrasing!r} has an alternative that is empty or has its own '!'")
    elif len(word) > 1 and not all(word.split("-")):
        raise ValueError(f"the phrasing {phrasing!r} has a hyphen without a word on both sides")


def _quoted(text: str) -> Run:
    return tuple(
        None if part == ".." else tuple(atom for word in part.split("|") for atom in _atoms(word))
        for part in text.split()
    )


def _runs(word: str) -> Iterator[Run]:
    if word.startswith('"'):
        yield _quoted(word.strip('"'))
    elif word.startswith("@"):
        for synonym in THESAURUS[word[1:]].split():
            yield from _runs(synonym)
    else:
        parts = word.split("-") if len(word) > 1 else [word]
        yield tuple((atom,) for part in parts for atom in _atoms(part))


def _atoms(word: str) -> tuple[Atom, ...]:
    if word.endswith("*"):
        return (Atom(word[:-1].lower(), prefix=True),)
    return tuple(Atom(form) for form in forms(word))


class Reading:
    """A text, indexed so that looking for an atom costs no more than the places where it is."""

    def __init__(self, text: str, letters: Mapping[str, str] | None = None) -> None:
        """`letters`: subscripts that are read as others."""
        self.text, tokens = clauses_of(text)
        self.tokens = [renamed(token, letters) for token in tokens] if letters else tokens
        self._places: dict[str, list[int]] = {}
        self._symbols: dict[str, list[int]] = {}
        for index, token in enumerate(self.tokens):
            self._places.setdefault(token.form, []).append(index)
            if token.base != token.form:
                self._symbols.setdefault(token.base, []).append(index)
        self._known: dict[Atom, list[int]] = {}

    def where(self, atom: Atom) -> list[int]:
        if atom not in self._known:
            self._known[atom] = sorted(self._look_for(atom))
        return self._known[atom]

    @cached_property
    def asked(self) -> frozenset[int]:
        """Sentences that ask: what the question says is not the answer, and "Could it reach u_b?" claims nothing."""
        first: dict[int, Token] = {}
        last: dict[int, Token] = {}
        for token in self.tokens:
            first.setdefault(token.sentence, token)
            last[token.sentence] = token
        ask = {number for number, token in first.items() if token.raw.lower() in _ASKING}
        return frozenset(number for number in ask if _ASKED.match(self.text, last[number].end))

    def around(self, found: Found, clause: bool) -> range:
        """The tokens of its clause, or of its sentence."""
        whole = attrgetter("clause" if clause else "sentence")
        low, high = whole(self.tokens[found.first]), whole(self.tokens[found.last])
        return range(bisect_left(self.tokens, low, key=whole), bisect_right(self.tokens, high, key=whole))

    def quote(self, found: Found) -> str:
        return self.text[self.tokens[found.first].start : self.tokens[found.last].end]

    def _look_for(self, atom: Atom) -> set[int]:
        if atom.prefix:
            begin = bisect_left(self._words, atom.form, key=itemgetter(0))
            with_it = takewhile(lambda word: word[0].startswith(atom.form), islice(self._words, begin, None))
            return {i for _, at in with_it for i in at}
        places = {i for form in _LOOSE.get(atom.form, (atom.form,)) for i in self._places.get(form, ())}
        places.update(self._symbols.get(atom.form, ()))
        if len(atom.form) >= _LONG:
            for shortened in self._mistyped.keys() & _shortened(atom.form):
                for form in self._mistyped[shortened]:
                    if form[0] == atom.form[0] and _one_edit_apart(form, atom.form):
                        places.update(self._places[form])
        return places

    @cached_property
    def _words(self) -> list[tuple[str, list[int]]]:
        """As stems and as they are written, in alphabetical order: those that begin alike are neighbours."""
        written: dict[str, list[int]] = {}
        for index, token in enumerate(self.tokens):
            written.setdefault(token.raw.lower(), []).append(index)
        return sorted((*self._places.items(), *written.items()))

    @cached_property
    def _mistyped(self) -> dict[str, list[str]]:
        """Words by what is left of them with one letter out: two words one edit apart share such a remainder."""
        index: dict[str, list[str]] = {}
        for form in self._places:
            if _LONG <= len(form) <= 24 and form.isalpha():
                for shortened in _shortened(form):
                    index.setdefault(shortened, []).append(form)
        return index


@lru_cache(maxsize=4096)
def _shortened(word: str) -> frozenset[str]:
    return frozenset({word} | {word[:i] + word[i + 1 :] for i in range(len(word))})


def _one_edit_apart(one: str, other: str) -> bool:
    """One letter more, less or other, or two neighbours swapped."""
    if abs(len(one) - len(other)) > 1:
        return False
    same = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if len(one) == len(other):
        swapped = one[same : same + 2] == other[same : same + 2][::-1] and one[same + 2 :] == other[same + 2 :]
        return swapped or one[same + 1 :] == other[same + 1 :]
    short, long = sorted((one, other), key=len)
    return short[same:] == long[same + 1 :]


def find(phrasing: str, reading: Reading) -> list[Found]:
    """Where it is said, the narrowest place of each sentence; of two parts in two sentences, from one to the other."""
    first, *others = (_find_part(part, reading) for part in parse(phrasing))
    for other in others:
        pairs = ((one, near) for one in first for near in other if 0 <= near.sentence - one.sentence <= 1)
        first = [_from_to(one, near) for one, near in islice(pairs, _MANY)]
    return first


def _from_to(one: Found, other: Found) -> Found:
    return Found(min(one.first, other.first), max(one.last, other.last), other.sentence)


def _find_part(part: Part, reading: Reading) -> list[Found]:
    some_denied = any(term.denied for term in part.terms)
    together: dict[int, list[tuple[int, int, int]]] = {}  # by sentence, or by clause
    for number, term in enumerate(part.terms):
        here: dict[int, list[tuple[int, int, int]]] = {}
        for first, last in _places_of(term, reading, mind_denials=not some_denied):
            token = reading.tokens[first]
            here.setdefault(token.clause if part.in_one_clause else token.sentence, []).append((first, last, number))
        common = here if number == 0 else together.keys() & here.keys()
        together = {where: together.get(where, []) + here[where] for where in common}
        if not together:  # whatever the other terms say
            return []
    found = (_narrowest(sorted(places), len(part.terms)) for places in together.values())
    placed = (Found(first, last, reading.tokens[first].sentence) for first, last in filter(None, found))
    return sorted(placed, key=lambda place: place.first)


def _places_of(term: Term, reading: Reading, mind_denials: bool) -> Iterator[tuple[int, int]]:
    tokens = reading.tokens
    for run in term.runs:
        for first, last in _runs_at(run, reading):
            denied = tokens[first].denied or any(token.denied for token in tokens[first + 1 : last + 1])
            if denied if term.denied else not (denied and mind_denials):
                yield first, last


def _runs_at(run: Run, reading: Reading) -> Iterator[tuple[int, int]]:
    """Every stretch of neighbours that fits, within one clause."""
    ends: dict[int, int] = {}  # where a stretch has come to → where it began
    gap = 1
    for number, step in enumerate(run):
        if step is None:
            gap = _GAP + 1
            continue
        places = reading.where(step[0]) if len(step) == 1 else {i for atom in step for i in reading.where(atom)}
        if not places:
            return
        if number == 0:
            ends = {i: i for i in places}
        else:
            follow: dict[int, int] = {}
            for end, began in sorted(ends.items()):  # the nearest beginning stays
                follow.update({end + n: began for n in range(1, gap + 1) if end + n in places})
            ends = follow
        gap = 1
    for end, began in ends.items():
        if reading.tokens[began].clause == reading.tokens[end].clause:
            yield began, end


def _narrowest(places: list[tuple[int, int, int]], terms: int) -> tuple[int, int] | None:
    """The shortest stretch with every term in it, no token serving two of them."""
    latest: dict[int, list[tuple[int, int]]] = {}  # the last two places of each term: one may be another term's
    best: tuple[int, int] | None = None
    for first, last, term in places:
        latest[term] = [*latest.get(term, [])[-1:], (first, last)]
        if len(latest) < terms:
            continue
        chosen = {term: (first, last)}
        for other, candidates in sorted(latest.items(), key=lambda one: len(one[1])):  # those with least choice first
            if other != term and (free := [place for place in candidates if place not in chosen.values()]):
                chosen[other] = free[-1]
        start, end = min(f for f, _ in chosen.values()), max(e for _, e in chosen.values())
        if len(chosen) == terms and end - start < _SPAN and (best is None or end - start < best[1] - best[0]):
            best = start, end
    return best
