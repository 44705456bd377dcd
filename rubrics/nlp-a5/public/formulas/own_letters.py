"""Letters of one's own for sizes, defined in words: "let S be the sequence length", "p layers", "r = latents"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from grader import Answer
from grader.formulas import plain_text

_MARKUP = re.compile(r"\\[()\[\],;!]|[${}`*]")
_LETTER = r"(?<![A-Za-z\\^_])(?P<letter>[A-Za-zℓα-ω])(?![A-Za-z^_(])"
_VERB = r"(?:\s*(?:=|:)\s*|\s+(?:be|is|are|denotes|denoting|denote|being|represents|means|stands\s+for|as|for)\s+)"
_DEFINED = re.compile(
    rf"{_LETTER}(?P<joined>{_VERB}|\s+)(?P<article>(?:the|a|an|our)\s+)?(?P<phrase>[#A-Za-z-]+(?:\s+[#A-Za-z-]+){{0,6}})"
)
_NAMED = re.compile(
    rf"(?P<phrase>[A-Za-z-]+(?:\s+[A-Za-z-]+){{0,3}})\s*(?:is|=|\(|by)?\s*{_LETTER}(?=\s*[,.;)]|\s+and\b|\s*\Z)"
)
# Said of a size and not what it is: "m is much smaller than the sequence length".
_COMPARING = frozenset(
    """
    than smaller larger shorter longer less more much times quadratic linear independent grows small large fixed
    """.split()  # noqa: SIM905 - words read better than a list of strings
)


def letters_said(answer: Answer, meanings: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Each letter that the answer gives a meaning of its own, and the variable of the question that it stands for.

    `meanings` lists the words for each variable; of two that fit, the first counts ("the length after the bottleneck").
    """
    text = _plain(answer)
    found: dict[str, str] = {}
    for said in _NAMED.finditer(text):  # "sequence length n": only where the letter has no meaning in the question
        means = _meaning(said["phrase"].split()[-2:], meanings)
        if means and said["letter"] not in meanings:
            found[said["letter"]] = means
    at = 0
    while said_next := _DEFINED.search(text, at):
        at = said_next.end("letter")
        words = _up_to_the_next(said_next["phrase"].split())
        if (
            not said_next["joined"].strip() and not said_next["article"]
        ):  # "p layers" says it in one word, "m tokens" not
            words = words[:1] if said_next["letter"] not in meanings else []
        if means := _meaning(words, meanings):
            found[said_next["letter"]] = means
    return found


def _plain(answer: Answer) -> str:
    return re.sub(r"\s+", " ", _MARKUP.sub(" ", plain_text(answer)))


def _up_to_the_next(words: Sequence[str]) -> list[str]:
    """The words before the next letter: "the number of latents and p the number of layers"."""
    ends = next((at for at, word in enumerate(words) if len(word) == 1 and word not in ("a", "#")), len(words))
    return [word for word in words[:ends] if word != "and"]


def _meaning(words: Sequence[str], meanings: Mapping[str, Sequence[str]]) -> str:
    said = {word.lower() for word in words}
    if said & _COMPARING:
        return ""
    return next((name for name, keywords in meanings.items() if said & set(keywords)), "")
