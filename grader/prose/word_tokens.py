"""Plain text → tokens: stems and symbols, each knowing its sentence and whether it is denied there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

from grader.notation.denials import CONSEQUENCES, CONTRASTS, DENIALS_IN_PROSE, NO_DENIAL_BEFORE, NO_DENIAL_WITH_NO
from grader.notation.operators import RELATIONS
from grader.notation.word_lists import words
from grader.prose.plain_spelling import GREEK_NAMES

_NUMBERS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "unity": "1", "half": "1/2", "halves": "1/2", "third": "1/3",
    "0.5": "1/2", ".5": "1/2", "50%": "1/2", "1.0": "1", "100%": "1", "0.0": "0", "0%": "0",
    "infinity": "∞", "infinite": "∞", "infinitely": "∞",
}  # fmt: skip
# What follows is a pause in prose; people type ~ for ∼, and ~= for ≈.
_RELATIONS = RELATIONS | {"=>": ",", "~=": "≈", "~": "~", "∼": "~", "∑": "Σ"}
PAUSE, STOP = ",", "."

_PIECE = re.compile(
    r"(?P<by>\d+\s?[x×]\s?\d+)"
    r"|(?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:\s?/\s?\d+|%)?)"
    r"|(?P<relation><=|>=|>>|<<|->|=>|!=|~=|==|[=≈≃≅∼~→≥≤>≫<≪≠∈∉∝Σ∑+−√∞∀∂]|\^\d|(?<=\s)-(?=\s)|/)"
    r"|(?P<word>[^\W\d_]+(?:'(?:s|t|re|ve|ll|d|m)\b)?\d?(?:_[^\W_]+(?:≠[^\W_]+(?!\w))?)?)"
    r"|(?P<end>[.!?]+(?=[)\]\"'”’]?(?:\s|$))|(?<=[a-z][a-z])[.!?](?=[A-Z][a-z]*\b)|;|\n\s*\n|\x1e)"
    r"|(?P<pause>[,:()\[\]—–|]|(?<=\s)-(?=\w))"
)
_LIST_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\(?\d{1,2}[.)]|\(?[ivx]{1,4}[.)])[ \t]+", re.MULTILINE)
_ABBREVIATION = re.compile(r"\b(i\.e|e\.g|etc|vs|cf|w\.r\.t|resp|approx|eq|fig)\.", re.IGNORECASE)
_JOINED = re.compile(r"\b(non|pre|multi|mis|fine|semi|post|anti)[-–](?=[a-z])", re.IGNORECASE)

# A denial reaches to the end of its clause, and no further than this.
_REACH = 7
_REACH_OF = {"without": 3}  # a preposition: only what it governs
_DOUBLE = 4  # tokens between two denials that cancel
_DENIED_WITH = {"instead": "of", "rather": "than"}
FUNCTION_WORDS = words(
    "the a an of to in on is are was were be been being it its this that these those and or but if then so as at by "
    "for from with into than because when while which who whose what how there their they we you i he she his her has "
    "have had do does did will would can could may might must should not no all each every any some most more also very"
)


class Token(NamedTuple):  # each is made two or three times, and a tuple is made quickly
    form: str  # a stem, a symbol with its subscript, a number or a relation
    raw: str
    start: int
    end: int
    sentence: int
    denied: bool = False
    clause: int = 0  # `clause_tokens` counts them

    @property
    def base(self) -> str:
        """The symbol without its subscript."""
        return self.form.partition("_")[0]

    def in_clause(self, clause: int) -> Token:
        return Token(self.form, self.raw, self.start, self.end, self.sentence, self.denied, clause)


def tokens_of(text: str) -> tuple[str, list[Token]]:
    """The text as it was cut (for quoting), and its tokens in order, pauses and stops among them."""
    text = _LIST_ITEM.sub("\x1e ", _JOINED.sub(r"\1", _ABBREVIATION.sub(lambda found: found[0].replace(".", ""), text)))
    return text, list(_with_denials(_cut(text)))


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """What the forms of a word share, in American spelling. The library has one slip that matters here: it gives
    `positive` and `position` the same stem."""
    if word.startswith("positiv"):
        return "positiv"
    american = re.sub(r"is(e|ed|es|er|ing|ation|ations)$", r"iz\1", word) if len(word) > 6 else word
    american = re.sub(r"(?<=[a-z]{3})our(s|ed|al|able|ing)?$", r"or\1", american)
    return str(_stemmer().stemWord(american))


@cache
def _stemmer() -> Any:
    import snowballstemmer  # here: rubrics with prose are loaded for code, too

    return snowballstemmer.stemmer("english")


def forms(raw: str) -> list[str]:
    """How a word or symbol is looked for. `Mv_a` is two symbols; `kj` is k_j; `AA` is A A; `αs` is α."""
    return list(_forms(raw))


@lru_cache(maxsize=4096)
def _forms(raw: str) -> Sequence[str]:
    if raw in ("Σ", "∑"):
        return ["Σ"]
    if re.fullmatch(r"([A-Z])\1", raw):
        return [raw[0].lower()] * 2
    raw = raw.lower().strip("'")
    raw = _NUMBERS.get(raw, raw)
    base, _, subscript = raw.partition("_")
    base = re.sub(r"'s$", "", base)
    base = GREEK_NAMES.get(base, base)
    if found := re.fullmatch(r"([kvqcxuhαμγ])([ijabcd\d])", base):
        base, subscript = found[1], subscript or found[2]
    if len(base) > 1 and ((subscript and len(base) < 4) or (_has_greek(base) and len(base) < 5)):
        *symbols, last = [letter for letter in base if letter != "s"] or [base]
        return [*symbols, f"{last}_{subscript}" if subscript else last]
    if subscript:
        return [f"{base}_{subscript}"]
    return [stem(base)] if len(base) > 2 and base.isalpha() else [base]


def _has_greek(word: str) -> bool:
    return any("α" <= letter <= "ω" for letter in word)


class FormsOf:
    """The forms of these words: stemmed with the first answer that is read, not wherever a rubric is loaded."""

    def __init__(self, spelled_out: Iterable[str]) -> None:
        self._spelled_out = tuple(spelled_out)

    @cached_property
    def _forms(self) -> frozenset[str]:
        return frozenset(form for word in self._spelled_out for form in forms(word))

    def __contains__(self, form: str) -> bool:
        return form in self._forms


_NO_DENIAL_BEFORE = FormsOf(NO_DENIAL_BEFORE)
_NO_DENIAL_WITH_NO = FormsOf(NO_DENIAL_WITH_NO)
_CLAUSE_BEGINS = FormsOf(CONTRASTS | CONSEQUENCES | words("while whereas because since and which when if as → then or"))


def _cut(text: str) -> Iterator[Token]:
    sentence = 0
    for found in _PIECE.finditer(text):
        raw, (start, end) = found[0], found.span()
        match found.lastgroup:
            case "end":
                sentence += 1
                yield Token(STOP, raw, start, end, sentence)
            case "pause":
                yield Token(PAUSE, raw, start, end, sentence)
            case "word":
                if raw.lower().endswith("n't"):
                    yield Token("cannot" if raw.lower() == "can't" else "not", raw, start, end, sentence)
                else:
                    yield from (Token(form, raw, start, end, sentence) for form in forms(raw))
            case "number":
                compact = "".join(raw.split())
                yield Token(_NUMBERS.get(compact, compact), raw, start, end, sentence)
            case "by":
                yield Token("×".join(re.findall(r"\d+", raw)), raw, start, end, sentence)
            case _:
                yield Token(_RELATIONS.get(raw, raw), raw, start, end, sentence)


def _with_denials(tokens: Iterator[Token]) -> Iterator[Token]:
    """Marks what a `not` reaches. A second denial close behind takes the first one back: "never fails to".

    Not so after "without", which belongs to a noun: "without pretraining it cannot know them" denies knowing.
    """
    ahead = [*tokens]
    reach, since, denial = 0, _REACH, ""
    for index, token in enumerate(ahead):
        following = ahead[index + 1].form if index + 1 < len(ahead) else STOP
        if token.form in (PAUSE, STOP) or (token.form in _CLAUSE_BEGINS and since > 1):
            reach = 0
        elif _denies(token, following):
            taken_back = reach and since < _DOUBLE and denial != "without"
            reach = 0 if taken_back else _REACH_OF.get(token.form, _REACH)
            since, denial = 0, token.raw.lower()
        elif reach:
            token = token._replace(denied=True)
            reach -= 1
        since += 1
        yield token


def _denies(token: Token, following: str) -> bool:
    word = token.raw.lower()  # its stem would not do: that of "hardly" is "hard"
    if word in _DENIED_WITH:
        return following == _DENIED_WITH[word]
    if following in _NO_DENIAL_BEFORE or (word == "no" and following in _NO_DENIAL_WITH_NO):
        return False
    return word in DENIALS_IN_PROSE or token.form in DENIALS_IN_PROSE
