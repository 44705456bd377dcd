"""Which of the asked-for ideas an answer gives, which wrong claims it makes, and what a person should know about it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from grader.model import Piece
from grader.notation.word_lists import words as words_of
from grader.prose.index_letters import letters_for
from grader.prose.phrasings import Found, Reading, find, readable
from grader.prose.plain_spelling import NAMES_IN_FORMULAS, plain
from grader.prose.reasons import distinct_reasons
from grader.prose.word_tokens import FUNCTION_WORDS, Token
from grader.registry import SaidInFeedback

_LIMIT = 20_000  # characters of one part: ten pages where a paragraph is asked for
_COPIED_RUN = 5  # words in a row shared with the question are the question's
_TOO_LITTLE = 2  # fewer words or symbols beside a copied question are its scraps
_LIST_WORDS = 12  # a shorter list of key words is a terse answer
_SENTENCE_SHARE = Fraction(8, 100)  # of function words; English has about 40 %, notes 20 %, the tersest 8 %
# Who writes without articles still writes verbs: "ViT uses learned ones". A list of key words has none of these.
_PLAIN_VERBS = words_of("use uses used give gives get gets take takes make makes need needs becomes goes works per")


_IN_SENTENCES = FUNCTION_WORDS | _PLAIN_VERBS

Phrasing = Annotated[str, AfterValidator(readable)]


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    id: str = Field(pattern=r"^\w+$")
    label: Annotated[str, SaidInFeedback()]  # what it is about, without giving it away: students read it
    says: list[Phrasing] = Field(min_length=1)
    unless: list[Phrasing] = []  # in the same sentence, these take it back


class PhrasedApart:
    """Marks a list of ideas or claims: a rubric may name each with a label, and have its phrasings in `ideas.yaml`."""

    def __init__(self, item: type[_Said]) -> None:
        self.item = item


def item_phrased_apart(annotation: Any) -> type[BaseModel] | None:
    """Of what a parameter so marked is a list; None for any other."""
    marks = getattr(annotation, "__metadata__", ())
    return next((mark.item for mark in marks if isinstance(mark, PhrasedApart)), None)


class Idea(_Said):
    """Something the question asks for."""

    weight: int = Field(1, ge=1)
    times: int = Field(1, ge=1)  # in how many sentences


def _distinct(ideas: list[Idea]) -> list[Idea]:
    twice = next((idea.id for n, idea in enumerate(ideas) if idea.id in {earlier.id for earlier in ideas[:n]}), None)
    if twice:
        raise ValueError(f"has two ideas '{twice}'")
    return ideas


Ideas = Annotated[list[Idea], Field(min_length=1), AfterValidator(_distinct), PhrasedApart(Idea)]


def _share(value: object) -> Fraction:
    try:
        share = Fraction(str(getattr(value, "text", value)))
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise ValueError("should be a share from 0 to 1, such as 0.5 or 1/3")
    return share


class Claim(_Said):
    """Something wrong that students write; with it the score is at most `at_most`. Its label gives nothing away."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    at_most: Annotated[Fraction, BeforeValidator(_share)] = Fraction(1)  # 1/3 is a third: thirds make whole points
    against: list[str] = []  # ideas that it is the contrary of: beside it they do not count


Claims = Annotated[list[Claim], PhrasedApart(Claim)]


@dataclass(frozen=True)
class Judgement:
    found: dict[str, str]  # idea → the words that say it
    wrong: dict[str, str]
    empty: bool
    copied: bool
    remarks: tuple[str, ...]  # for the person who reviews
    suspicious: bool  # what was found is not to be believed unread
    same_reason: tuple[str, ...] = ()  # ideas told as the cause or the effect of one that was found


def judge(
    pieces: tuple[Piece, ...],
    ideas: Sequence[Idea],
    wrong: Sequence[Claim] = (),
    prompt: str = "",
    *,
    items: frozenset[int] = frozenset(),
    index: str = "",
    distinct: bool = False,
) -> Judgement:
    """Look for the ideas in what was written, leaving out what is the question's own words.

    `items` are the lines on which items of lists begin; of `index`, its first letter is the subscript that the question
    singles out, and its second that of all others. Where reasons are to be `distinct`, a cause and its effect are one.
    """
    length = sum(len(piece.text) for piece in pieces)
    text = plain(pieces, _LIMIT, items)
    reading = Reading(text)
    if not any(letter.isalnum() for letter in reading.text):
        return Judgement({}, {}, empty=True, copied=False, remarks=(), suspicious=False)
    own = _without_copied(reading, prompt)
    if own is None:
        return Judgement({}, {}, empty=False, copied=True, remarks=(), suspicious=False)
    own = Reading(own.text, letters_for(index, pieces, own.tokens)) if index else own
    claims = {claim.id: own.quote(places[0]) for claim in wrong if (places := _places(claim, own))}
    denied = {idea for claim in wrong if claim.id in claims for idea in claim.against}
    places_of = {idea.id: places for idea in ideas if len(places := _places(idea, own)) >= idea.times}
    told = {name: places for name, places in places_of.items() if name not in denied}
    reasons = distinct_reasons(told, own) if distinct else told.keys()
    times = {idea.id: idea.times for idea in ideas}
    found = {name: " … ".join(own.quote(place) for place in told[name][: times[name]]) for name in reasons}
    remarks, suspicious = _remarks(pieces, own, len(found))
    if length > _LIMIT:
        remarks.append(f"only the first {_LIMIT} of {length} characters were read")
    same_reason = tuple(name for name in told if name not in found)
    return Judgement(found, claims, False, False, tuple(remarks), suspicious, same_reason)


def _places(what: _Said, reading: Reading) -> list[Found]:
    """Where it is said, one place for each sentence, the first phrasing's first.

    What is in brackets takes back what is said in that clause, and anything else what is said in that sentence.
    """
    taken_back: set[int] = set()  # tokens
    for phrasing in what.unless:
        for place in find(phrasing, reading):
            taken_back.update(reading.around(place, clause=phrasing.startswith("(")))
    places: dict[int, Found] = {}
    for phrasing in what.says:
        for place in find(phrasing, reading):
            if place.sentence not in reading.asked and taken_back.isdisjoint((place.first, place.last)):
                places.setdefault(place.sentence, place)
    return list(places.values())


def _without_copied(reading: Reading, prompt: str) -> Reading | None:
    """The reading without stretches of words that stand in the question too; None if nothing else is there."""
    runs, scraps = _of_the_question(prompt)
    words = [i for i, token in enumerate(reading.tokens) if _is_word(token)]
    copied: set[int] = set()
    for n in range(len(words) - _COPIED_RUN + 1):
        stretch = words[n : n + _COPIED_RUN]
        if tuple(reading.tokens[i].form for i in stretch) in runs:
            copied.update(range(stretch[0], stretch[-1] + 1))
    if not copied:
        return reading
    kept, position = [], 0
    for first, last in _stretches(sorted(copied)):
        kept.append(reading.text[position : reading.tokens[first].start])
        position = reading.tokens[last].end
    kept.append(reading.text[position:])
    left = Reading(" . ".join(kept))
    return left if sum(token.form not in scraps for token in left.tokens) >= _TOO_LITTLE else None


@lru_cache(maxsize=64)  # of two rubrics, for a class
def _of_the_question(prompt: str) -> tuple[frozenset[tuple[str, ...]], frozenset[str]]:
    """Stretches of words that are the question's, and all words that say nothing beside it."""
    asked = Reading(plain((Piece("prose", prompt, 1),), _LIMIT)).tokens
    question = [token.form for token in asked if _is_word(token)]
    runs = (tuple(question[i : i + _COPIED_RUN]) for i in range(len(question) - _COPIED_RUN + 1))
    return frozenset(runs), frozenset(token.form for token in asked) | FUNCTION_WORDS


def _is_word(token: Token) -> bool:
    return len(token.raw) > 1 and token.raw.isalpha()  # numbers in words are among them


def _stretches(places: list[int]) -> list[tuple[int, int]]:
    stretches: list[tuple[int, int]] = []
    for place in places:
        if stretches and place == stretches[-1][1] + 1:
            stretches[-1] = (stretches[-1][0], place)
        else:
            stretches.append((place, place))
    return stretches


def _remarks(pieces: tuple[Piece, ...], reading: Reading, found: int) -> tuple[list[str], bool]:
    written = "".join(piece.text for piece in pieces)[:_LIMIT]
    remarks = []
    unusual = [] if written.isascii() else [letter for letter in written if not letter.isascii()]
    if any(unicodedata.category(letter) == "Cf" and letter not in "\u200d\ufeff\xad" for letter in unusual):
        remarks.append("it has invisible characters in it")
    foreign = sum(letter.isalpha() and not _latin_or_greek(letter) for letter in unusual)
    words = [token for token in reading.tokens if _is_word(token) and token.raw.lower() not in NAMES_IN_FORMULAS]
    function_words = sum(token.raw.lower() in _IN_SENTENCES for token in words)
    few = len(words) >= _LIST_WORDS and function_words < _SENTENCE_SHARE * len(words)
    relations = sum(token.form in "=≈→≥≫≤>∈∝" for token in reading.tokens)
    in_formulas = 8 * relations >= len(words)  # which are in no language
    if (foreign and 4 * foreign > sum(map(str.isalpha, written))) or (few and not found and not in_formulas):
        remarks.append("it does not seem to be in English")
    elif few and not in_formulas:
        remarks.append("it reads like a list of key words")
        return remarks, True
    return remarks, False


def _latin_or_greek(letter: str) -> bool:
    return letter < "\u0250" or "\u0370" <= letter < "\u0400" or "\u1d00" <= letter < "\u2c00" or letter > "\U0001d3ff"
