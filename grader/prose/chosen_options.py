"""Which options of a multiple-choice question are chosen: `(b)`, `B.`, `option b`, `b and d`, an option's own words.

What stands before the reason is the choice. An option that is denied is not chosen; what offers two ("b or c"), speaks
of several without choosing, or only says what is wrong is left to a person.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from grader.notation.denials import CONSEQUENCES, CONTRACTIONS, NEITHER, NOT, WRONG

_WORD = re.compile(r"\w+(?:['’]\w+)?|[(),.:;!?\[\]\n&+/-]")
_REASONS = frozenset(["because", "since", "as", "reason", "explanation", "why", "due"])
_DENIALS = NOT | NEITHER | CONTRACTIONS | {"except", "excluding", "unlike", "without", "than"}
_FILLERS = frozenset(
    """
    the a an is are and both option options answer answers choice choices choose chose pick select selected correct
    right true my i think it letter letters would be final solution of only also x so
    """.split()  # noqa: SIM905 - words read better than a list of strings
)
_ANNOUNCING = frozenset(["option", "options", "answer", "answers", "choice", "choose", "pick", "select", "letter"])
_WORDS_TOO = ("a", "i")  # which stand in most sentences
_OR = frozenset(["or", "either", "maybe", "perhaps"])
_ENDS = (".", ";", "!", "?", "\n")
_NEAR = 3  # words between "not" and the option it denies, or between an option and "is wrong"


@dataclass(frozen=True)
class Chosen:
    """The options that are chosen, or why that is not clear."""

    options: tuple[str, ...]
    unclear: str = ""


@dataclass(frozen=True)
class _Mention:
    at: int  # of the answer's words
    option: str
    is_marked: bool  # by a bracket, a point, "option": no letter of a formula
    is_denied: bool


def chosen_in(text: str, options: Mapping[str, str]) -> Chosen:
    words = _with_texts_as_labels(_apart(_WORD.findall(_plain(text).strip()), options), options)
    mentions = list(_mentions(words, options))
    stated = [one for one in mentions if not one.is_denied]
    if not mentions:
        return Chosen((), "no option was found")
    if not stated:
        return Chosen((), "it says only what is not the answer")
    first = _first_statement(words, stated)
    named = tuple(dict.fromkeys(one.option for one in first or stated))
    if _offers(words, first or stated):
        return Chosen(named, f"{' or '.join(named)} leaves open which one is meant")
    later = _announced(words, stated, first)
    if first and later and not set(later) <= set(named):
        return Chosen(named, f"it chooses {' and '.join(named)} first and {' and '.join(later)} later")
    if not first and len(named) > 1 and not later:
        return Chosen(named, f"it speaks of {' and '.join(named)} without choosing")
    if not first and not later and not any(one.is_marked for one in stated):
        return Chosen(named, f"it speaks of {named[0]} without choosing")
    return Chosen(_in_order(named if first or not later else later, options))


def _apart(words: list[str], options: Mapping[str, str]) -> list[str]:
    """`bd`, where that is all there is, are two labels."""
    labels = {label.casefold() for label in options}
    return [*words[0]] if len(words) == 1 and set(words[0]) <= labels else words


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub(r"- \[x\]", "- ", re.sub(r"(?m)^\s*[-*]? ?\[ \].*$", "", text))  # boxes that are ticked, and not
    return (
        re.sub(r"\\(?:text|mathrm|mathbf|boxed|textbf)\s*\{([^{}]*)\}", r"\1", text).replace("*", " ").replace("_", " ")
    )


def _with_texts_as_labels(words: list[str], options: Mapping[str, str]) -> list[str]:
    """The words of an option, wherever they stand in a row, become its label between ⟨ and ⟩. Longer ones first."""
    texts = {label: [word for word in _WORD.findall(_plain(text)) if word.isalnum()] for label, text in options.items()}
    for label, wanted in sorted(texts.items(), key=lambda pair: -len(pair[1])):
        at = 0
        while wanted and at < len(words):
            end = _run(words, at, wanted)
            if end is None:
                at += 1
                continue
            before = words[max(0, at - 3) : at]
            named = [place for place, word in enumerate(before) if word == label.casefold()]
            start = max(0, at - 3) + named[-1] if named else at  # "b) its own words" is one mention
            words[start:end] = [f"⟨{label}⟩"]
            at = start + 1
    return words


def _run(words: list[str], at: int, wanted: list[str]) -> int | None:
    """Where the wanted words end that begin here, signs between them left aside."""
    for word in wanted:
        while at < len(words) and not words[at].isalnum() and words[at] != "\n" and word != wanted[0]:
            at += 1
        if at >= len(words) or words[at] != word:
            return None
        at += 1
    return at


def _mentions(words: list[str], options: Mapping[str, str]) -> list[_Mention]:
    labels = {label.casefold(): label for label in options}
    found = []
    for at, word in enumerate(words):
        quoted = word.startswith("⟨") and word[1:-1]
        label = quoted or labels.get(word)
        marked = bool(quoted) or _is_marked(words, at, labels)
        if label and (marked or (word not in _WORDS_TOO and not word.isdigit())):
            found.append(_Mention(at, label, marked, _is_denied(words, at)))
    return found


def _is_marked(words: list[str], at: int, labels: Mapping[str, str]) -> bool:
    """A letter in brackets, before a bracket or a point, behind "option", beside other labels, or all there is."""
    before, after = words[at - 1] if at else "\n", words[at + 1] if at + 1 < len(words) else "\n"
    if before in ("(", "[") or after in ("(", ")", "]", ".", ":", ",", ";", "\n", "and", "&", "+", "or", "/"):
        return True
    return before in _ANNOUNCING or (before in ("and", "&", "or", ",") and words[at - 2] in labels)


def _is_denied(words: list[str], at: int) -> bool:
    """ "not b", "neither a nor b", "b is wrong"."""
    before = []
    for word in reversed(words[max(0, at - 8) : at]):
        if word in (*_ENDS, ",", ":") or word in ("but", *CONSEQUENCES):
            break
        if word.isalnum() or "'" in word or "’" in word:
            before.append(word)
    near = before[:_NEAR]
    if any(word in _DENIALS or word.endswith(("n't", "n’t")) for word in near) or "neither" in before:
        return True
    after = []
    for word in words[at + 1 : at + 8]:
        if word in (*_ENDS, ",", "(", "[", "-", "but", *CONSEQUENCES) or word.startswith("⟨"):
            break
        after.append(word)
    near_after = [word for word in after if word.isalnum() or "'" in word or "’" in word][:_NEAR]
    isnt = any(word in NOT or word.endswith(("n't", "n’t")) for word in near_after)
    return bool(set(near_after) & WRONG) != isnt and (isnt or bool(set(near_after) & WRONG))


def _first_statement(words: list[str], stated: list[_Mention]) -> list[_Mention]:
    """The mentions before the first reason, if nothing but options and filling words stands there; and those of
    sentences or lines right behind that say nothing else either."""
    places = {one.at: one for one in stated}
    found: list[_Mention] = []
    earlier: list[_Mention] = []  # of sentences that are over
    for at, word in enumerate(words):
        if at in places:
            found.append(places[at])
        elif found and word in _REASONS:
            break
        elif found and word in _ENDS:
            earlier, found = [*earlier, *found], []
        elif word.isalnum() and word not in _FILLERS | _OR:
            return earlier or (found if found and _opened(words, found) else [])
    return [*earlier, *found]


def _opened(words: list[str], found: list[_Mention]) -> bool:
    """Whether a label stood first and a sign set it off from the words behind it: "b) since …", "b: the loss …"."""
    last = found[-1].at
    return any(word in ("(", ")", "]", ".", ":", ",", "-", "\n") for word in words[last + 1 : last + 3])


def _offers(words: list[str], mentions: list[_Mention]) -> bool:
    if len(mentions) < 2:
        return False
    between = words[mentions[0].at : mentions[-1].at]
    return bool(_OR & set(between))


def _announced(words: list[str], stated: list[_Mention], first: list[_Mention]) -> list[str]:
    """Options behind "so the answer is", after the first statement."""
    found: list[str] = []
    for one in stated:
        if one in first:
            continue
        before = []
        for word in reversed(words[max(0, one.at - 6) : one.at]):
            if word in _ENDS:
                break
            before.append(word)
        if {"answer", "answers", "choose", "pick", "select"} & set(before):
            found.append(one.option)
    return list(dict.fromkeys(found))


def _in_order(chosen: tuple[str, ...] | list[str], options: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(label for label in options if label in chosen)
