"""Words among the tokens: articles that look like letters, and scales that are said instead of written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.formulas.lexing.tokens import Token
from grader.formulas.syntax.expressions import Symbol
from grader.notation.letters import LETTERS
from grader.notation.size_words import FILLER_WORDS, SCALE_WORDS

_MUST_FOLLOW = ("RELATION", "OPERATOR", "+", "-")  # something of mathematics has to


def articles_apart(tokens: Sequence[Token]) -> list[Token]:
    """In prose `a` and `I` before a word are words themselves."""
    around = zip([None, *tokens[:-1]], tokens, [*tokens[1:], None], strict=True) if tokens else ()
    found = [_article(before, token, after) for before, token, after in around]
    *_, said, last = [None, None, *found]
    if said and last and str(last.value) == "a" and str(said.value).lower() in ("be", "is", "as"):
        found[-1] = replace(last, kind="WORD", value="a")  # "let M be a", and then mathematics
    return found


def _article(before: Token | None, token: Token, after: Token | None) -> Token:
    if before is not None and before.kind in _MUST_FOLLOW and token.kind == "IDENTITY":  # Q = I and V = …
        return token
    alone = token.kind in ("NAME", "IDENTITY") and token.end - token.start == 1
    if after is not None and after.value == "times":  # A times B
        return token
    letter = "I" if token.kind == "IDENTITY" else str(token.value)
    if alone and letter in ("a", "A", "I") and after is not None and after.kind == "WORD":
        return Token("WORD", letter, token.start, token.end)
    return token


def scales_in_words(tokens: Sequence[Token], prose: bool) -> list[Token]:
    """`scale * (u - w)`, `a large number times (…)`: words where a factor stands are a scale."""
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        if tokens[at].kind != "WORD":
            found.append(tokens[at])
            at += 1
            continue
        end = at
        while end < len(tokens) and tokens[end].kind == "WORD":
            end += 1
        before = found[-1] if found else None
        after = tokens[end] if end < len(tokens) else None
        if [one.kind for one in (*found[-2:], *tokens[end : end + 2])] == ["RELATION", "(", ")", "("]:
            after = tokens[end + 1]  # y = (a large constant)(u − w)
        found.extend(_said(tokens[at:end], before, after, prose))
        at = end
    return found


def _said(run: Sequence[Token], before: Token | None, after: Token | None, prose: bool) -> Sequence[Token]:
    """A run of words as a scale or as `times`, or as it was."""
    words = [str(token.value).lower() for token in run]
    times = len(words) > 1 and words[-1] in ("times", "multiplied")
    if times:
        words.pop()
    opens = before is None or before.kind in ("RELATION", "OPERATOR", "+", "-", "(", "{", "BREAK", "/")
    leads = before.kind != "BREAK" if before is not None else not prose
    multiplied = after is not None and (after.kind in ("OPERATOR", "(", "^") or (times and after.kind in ("NAME", "{")))
    if opens and multiplied and leads and _is_a_scale(words):
        name = words[0] if len(words) == 1 else "scale"
        return [Token("NAME", Symbol(name), run[0].start, run[-1].end)]
    if words == ["times"] and before is not None and after is not None:
        return [Token("OPERATOR", "·", run[0].start, run[0].end)]
    return run


def _is_a_scale(words: Sequence[str]) -> bool:
    parts = {part for word in words for part in word.split("_")}
    return bool(parts & SCALE_WORDS) and parts <= SCALE_WORDS | FILLER_WORDS


def scales_below(tokens: Sequence[Token]) -> list[Token]:
    """`softargmax β (XᵀY)`: the letter stands below, or multiplies the argument, which is the same."""
    found: list[Token] = []
    for at, token in enumerate(tokens):
        before, after = found[-1:], tokens[at + 1 : at + 2]
        greek = token.kind == "NAME" and isinstance(token.value, Symbol) and token.value.name in LETTERS.values()
        if greek and before and after and (before[0].value, after[0].kind) == ("softmax", "("):
            found.append(Token("_", "", token.start, token.start))
        found.append(token)
    return found
