"""Which formulas are offered side by side: `P = Uᵀ or P = UVᵀ`, `(or maybe Uᵀ)`, `Option 1: … Option 2: …`, bullets.

A correction ("no, rather M = …"), a derivation and a general form before its special case offer nothing: there the last
formula counts. `assertion_of` relates an equation to its sentence; this module relates it to the equation before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from grader.formulas.answer.assertions import ends_a_sentence, sentence_around, since_a_consequence, word_of, words_in
from grader.formulas.answer.clauses import Clause
from grader.formulas.answer.statements import Proposed, Statements
from grader.formulas.lexing.tokens import Token
from grader.formulas.syntax.expressions import Number, Symbol
from grader.notation.denials import CONSEQUENCES, CONTRASTS, DOUBTS, OBJECTIONS, PERHAPS, TAKEN_BACK

# None; in words; in words, and then turned down; two equations with nothing between them.
Link = Literal["", "said", "turned down", "listed"]

_OR = frozenset(["or", "oder", "ou", "vs", "versus", "或", "或者"])
# What is said to be equivalent is judged beside it: equal formulas earn the same.
_ALTERNATIVES = PERHAPS | {"sometimes", "alternatively", "alternative", "alternate", "equivalently"}
_HEARSAY = frozenset((who, do) for who in ("some", "others", "people") for do in ("say", "use", "write", "claim"))
_COULD = frozenset(["could", "might", "may"])
_THINGS = frozenset(
    """
    option answer solution possibility candidate guess choice variant method suggestion proposal query matrix formula
    """.split()  # noqa: SIM905 - words read better than a list of strings
)
_ORDINALS = frozenset(["first", "second", "third", "other", "one", "two", "three"])
_PREFERRED = frozenset(["actually", "instead", "rather", "better"])  # a correction, unless it is "perhaps better"
_IS_OVER = frozenset(["was", "were", "had", "tried", "thought", "initially", "originally"])
_BETTERS = frozenset(["rather", "better", "more"])  # "or rather", "or better", "or more precisely"
_BEFORE_IT = frozenset(["that", "this", "it", "above", "first", "former", "previous"])
_IN_DOUBT = frozenset(["sure", "certain", "know", "think"])
_LABELS = ("NAME", "NUMBER")
_COMMAS = (",", ";", "quad", "qquad", "|")
_OTHER_WORDS = 4  # that may stand between "or" and the formula: "or, in terms of means, q = …"
_NEAR = 5  # words behind a formula within which "also" is about it
_MAX_OFFERED = 12  # alternatives: each is judged, so more than anybody offers would only cost time


def with_alternatives(proposals: Sequence[Proposed], statements: Statements) -> list[Proposed]:
    """The equations for a name, each with those before it that it is an alternative to."""
    found: list[Proposed] = []
    for at, one in enumerate(proposals):
        end = proposals[at + 1].begins if at + 1 < len(proposals) else len(statements.tokens)
        found += [one, *_bare_alternatives(one, statements, end)]
    tokens = statements.tokens
    links: list[Link] = [""]
    for at in range(1, len(found)):
        earlier, later = found[at - 1], found[at]
        link = _link(earlier, later, statements)
        links.append(link)
        before = tokens[earlier.ends : later.begins]
        if earlier.assertion == "denied" and words_in(before) in (["or"], ["nor"]):  # not this one or that one
            found[at] = replace(later, assertion="denied")
        elif link == "turned down":
            found[at] = replace(later, assertion="beside")
        elif link == "said" and ((earlier.assertion, later.assertion) == ("stated", "beside") or _is_fallback(before)):
            found[at] = replace(later, assertion="stated")
    return [replace(one, others=tuple(_offered(found, links, at))) for at, one in enumerate(found)]


def _offered(found: Sequence[Proposed], links: Sequence[Link], at: int) -> list[Proposed]:
    """The equations before this one that are alternatives to it, in the order they were written."""
    offered: list[Proposed] = []
    for place in range(at, max(0, at - _MAX_OFFERED), -1):
        earlier = found[place - 1]
        if links[place] in ("", "turned down") or (earlier.assertion == "denied" and found[at].assertion != "denied"):
            break
        offered.insert(0, replace(earlier, is_listed=links[place] == "listed" and not offered))
    return offered


# ---- two equations ----


def _link(earlier: Proposed, later: Proposed, statements: Statements) -> Link:
    between = statements.tokens[earlier.ends : later.begins]
    if later.begins < earlier.ends:
        return ""
    if not later.is_named or _is_joined_by_or(earlier.ends, later, statements) or _is_fallback(between):
        return "said"
    words = words_in(between)
    if not words and "code" in (earlier.kind, later.kind):  # in code the last assignment counts
        return ""
    if words == ["and"] or (not words and _are_side_by_side(earlier, later, statements)):
        return "listed"
    if _takes_back(between):
        return ""
    _, end = sentence_around(statements.tokens, later.begins, later.ends)
    behind = words_in(statements.tokens[later.ends : end])
    if _is_introduced(between) or _is_added(behind):
        is_against = CONTRASTS & set(behind) and OBJECTIONS & set(behind) and not _IN_DOUBT & set(behind)
        return "turned down" if is_against else "said"
    return "said" if _both_are_numbered(earlier, later, statements) else ""


def _are_side_by_side(earlier: Proposed, later: Proposed, statements: Statements) -> bool:
    """Whether two equations without a word between them are `(a) …; (b) …`, items of a list, or parted by a comma."""
    return (
        _both_are_labelled(earlier, later, statements)
        or _are_items(earlier, later, statements)
        or _is_a_comma(statements.tokens[earlier.ends : later.begins])
    )


def _takes_back(between: Sequence[Token]) -> bool:
    """Whether what stands before an equation corrects the one before: "no, …", "wait", "I meant", "better"."""
    words = set(words_in(between))
    if words & TAKEN_BACK or (words & _PREFERRED and not words & PERHAPS):
        return True
    followers = (between[at + 1 : at + 2] for at, token in enumerate(between) if word_of(token) == "no")
    return any(not after or not word_of(after[0]) for after in followers)  # "no idea" corrects nothing


def _is_joined_by_or(start: int, later: Proposed, statements: Statements) -> bool:
    """Whether an "or" stands right before an equation, or before the equations of other asked names that lead to it."""
    tokens = statements.tokens
    at = next((at for at in range(later.begins - 1, start - 1, -1) if word_of(tokens[at]) in _OR), None)
    if at is None:
        return False
    after = tokens[at + 1 : later.begins]
    words = words_in(after)
    if _is_bettered(words):
        return False
    if set(words) - _ALTERNATIVES and word_of(tokens[at - 1]):  # "to the space or basis we want: M = …"
        return False
    if set(words) & CONSEQUENCES or not _are_few(words):
        return False
    written = [token for token in after if not _is_seam(token)]
    if any(ends_a_sentence(after, place) or token.value == ";" for place, token in enumerate(after)):
        return False
    if any(token.kind == "BREAK" and token.value == ":" for token in written[:-1]):
        return False
    if not written or word_of(written[0]) or written[0].kind == "BREAK":
        return True
    return _begins_an_asked_equation(at + 1, statements)


def _begins_an_asked_equation(start: int, statements: Statements) -> bool:
    clause = next((one for one in statements.clauses if one.order >= start), None)
    left = statements.read(clause.members[0]) if clause and len(clause.members) > 1 else None
    return left is not None and str(left) in statements.vocabulary.asked


def _is_introduced(between: Sequence[Token]) -> bool:
    """Whether what stands before an equation says that it is one more answer."""
    words = since_a_consequence(_said_last(between))
    another = any(word == "another" and set(words[at + 1 : at + 3]) & _THINGS for at, word in enumerate(words))
    heard = not _HEARSAY.isdisjoint(pairwise(words))
    return another or heard or bool(set(words) & _ALTERNATIVES) or bool(set(words) & _COULD and "also" in words)


def _is_fallback(between: Sequence[Token]) -> bool:
    """ "If that is wrong, then M = …"."""
    words = _said_last(between)
    about_it = bool({"if", "case"} & set(words)) and bool(set(words) & _BEFORE_IT) and bool(set(words) & DOUBTS)
    return about_it or words[:2] == ["if", "not"]


def _is_added(behind: Sequence[str]) -> bool:
    """ "… would also work", "… works too", "… is fine as well"."""
    near = behind[:_NEAR]
    return "also" in near or ("as", "well") in pairwise(near) or (behind == near and near[-1:] == ["too"])


def _both_are_numbered(earlier: Proposed, later: Proposed, statements: Statements) -> bool:
    """ "Option 1: … Option 2: …", "my first guess is …, my second guess is …"."""
    tokens = statements.tokens
    start, _ = sentence_around(tokens, earlier.begins, earlier.ends)
    first, second = tokens[start : earlier.begins], tokens[earlier.ends : later.begins]
    if set(words_in(first)) & _IS_OVER:
        return False
    return any(
        (one := _number_of(thing, first)) and (other := _number_of(thing, second)) and one != other for thing in _THINGS
    )


def _number_of(thing: str, tokens: Sequence[Token]) -> str:
    """Which option it is: the number, letter or word beside the last "option"."""
    at = next((at for at in range(len(tokens) - 1, -1, -1) if word_of(tokens[at]) == thing), None)
    if at is None:
        return ""
    before, after = tokens[max(0, at - 1) : at], tokens[at + 1 : at + 2]
    numbered = [token for token in after if token.kind in _LABELS or word_of(token) in _ORDINALS | {"a", "b"}]
    ordinal = [token for token in before if word_of(token) in _ORDINALS]
    return str((numbered or ordinal)[0].value).lower() if numbered or ordinal else ""


def _both_are_labelled(earlier: Proposed, later: Proposed, statements: Statements) -> bool:
    """`(a) M = …; (b) M = …`, or `A: …` and `B: …`."""
    labels = [_label_before(one.begins, statements.tokens) for one in (earlier, later)]
    return all(labels) and labels[0] != labels[1]


def _label_before(begins: int, tokens: Sequence[Token]) -> str:
    near = [token for token in tokens[max(0, begins - 6) : begins] if not _is_seam(token)][-3:]
    if len(near) == 3 and (near[0].kind, near[2].kind) == ("(", ")") and near[1].kind in _LABELS:
        return str(near[1].value)
    if len(near) > 1 and near[-1].value == ":" and near[-2].kind in _LABELS and near[-2].end - near[-2].start == 1:
        return str(near[-2].value)
    return ""


def _are_items(earlier: Proposed, later: Proposed, statements: Statements) -> bool:
    """Whether each is all that its item of a list says."""
    items, lines = statements.answer.items, statements.lines
    if earlier.place.line == later.place.line or not {earlier.place.line, later.place.line} <= items:
        return False
    here = (at for at in range(earlier.begins) if lines[at] == earlier.place.line)
    return not any(word_of(statements.tokens[at]) for at in here)


# ---- an expression without a name ----


def _bare_alternatives(one: Proposed, statements: Statements, end: int) -> list[Proposed]:
    """What follows an equation by "or" and has no name of its own: `P = Uᵀ or UVᵀ`."""
    found: list[Proposed] = []
    begins = one.ends
    while len(found) < _MAX_OFFERED:
        clause = next((clause for clause in statements.clauses if clause.order >= begins), None)
        if clause is None or clause.order >= end or not offers(statements.tokens[begins : clause.order]):
            break
        offered = _offered_bare(clause, statements)
        if offered is None:
            break
        found.append(replace(offered, relation=one.relation, assertion=one.assertion))
        begins = clause.ends
    return found


def offers(between: Sequence[Token]) -> bool:
    """Whether these tokens say "or", and little else."""
    words = words_in(between)
    joins = bool(words) and words[0] in _OR | _ALTERNATIVES and words[1:2] != ["not"] and not _is_bettered(words[1:])
    return (
        joins
        and _are_few(words[1:])
        and not any(token.kind == "ROW" or token.value in (".", ";", ":") for token in between)
    )


def _offered_bare(clause: Clause, statements: Statements) -> Proposed | None:
    expression = statements.read(clause.members[0]) if len(clause.members) == 1 else None
    if expression is None or isinstance(expression, (Symbol, Number)):
        return None
    return statements.alone(clause, expression)


# ---- tokens ----


def _said_last(tokens: Sequence[Token]) -> list[str]:
    """The words of the sentence that these tokens end in."""
    first, _ = sentence_around(tokens, len(tokens), len(tokens))
    return words_in(tokens[first:])


def _is_bettered(words: Sequence[str]) -> bool:
    """Whether "or" is followed by what takes the formula before it back."""
    return bool(words) and words[0] in _BETTERS and not set(words) & PERHAPS


def _are_few(words: Sequence[str]) -> bool:
    return len([word for word in words if word not in _ALTERNATIVES]) <= _OTHER_WORDS


def _is_seam(token: Token) -> bool:
    return token.kind == "BREAK" and token.value in ("", "soft")


def _is_a_comma(tokens: Sequence[Token]) -> bool:
    """Whether a comma, a gap in a display or the border of a cell is all that stands there: paragraphs have none."""
    commas = [token for token in tokens if token.kind == "BREAK" and token.value in _COMMAS]
    others = [token for token in tokens if not (_is_seam(token) or token in commas or token.kind in ("NUMBER", "ROW"))]
    return bool(commas) and not others
