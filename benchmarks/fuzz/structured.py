"""Damage that knows what it damages: trees of JSON, words of a language, lines of a text, its encoding."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from random import Random
from typing import Any

_ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 3, 2**31, 2**63, -(2**64), 10**400, 0.5, 1e308, float("inf"), float("nan")),
    *("", " ", "\0", "\ud800", "\udfff\ud800", "\u202e", "\x1b[2J", "a\nb\r\nc", "\u2028", "é" * 300, "x" * 5_000),
    *([], {}, [[]], [{}], [None], {"": None}, {"a": {"b": {"c": []}}}, ["a", 3, None, ["b"]]),
)
# What json.dumps cannot write: numbers without end, nesting without end, and half of something.
_ODD_TOKENS = (
    *("9" * 5_000, "-" + "9" * 400, "1e999999", "0x10", "00", "1.", "NaN", "-Infinity", "nul", "'a'", '"', '"\\'),
    *("\\u12", '"\\ud800"', '"\\u0000"', "{", "}", "[", "]", ",", ":", "{}", "[]", '{"a": 1, "a": 2}', "/**/"),
    *("\x00", "\ufeff", "[" * 40, "]" * 40, "[" * 40 + "]" * 40, '{"a":' * 100 + "1" + "}" * 100, "[" * 3_000),
    *("[" * 3_000 + "]" * 3_000,),
)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|\w+|[\[\]{},:]')


def damaged_json(text: str, rng: Random, words: Sequence[str]) -> str:
    """JSON with keys dropped, renamed or doubled, values retyped, nested or swapped; `words` are likely names."""
    tree = [json.loads(text)]
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        _change_tree(tree, rng, words)
    written = json.dumps(tree[0] if tree else None, ensure_ascii=rng.random() < 0.8)
    if rng.random() < 0.15:
        written = damaged_tokens(written, rng, (*_ODD_TOKENS, *(f'"{word}"' for word in words)))
    if rng.random() < 0.1:
        opened = [match.end() for match in re.finditer(r"\{", written)]
        if opened:
            at = rng.choice(opened)
            written = f'{written[:at]}"{rng.choice(words)}": {json.dumps(rng.choice(_ODD_VALUES))}, {written[at:]}'
    return written


def damaged_tree(value: Any, rng: Random, words: Sequence[str]) -> Any:
    """The same for a tree that is to be written in another language; it is changed in place."""
    tree = [value]
    for _ in range(rng.choice((1, 1, 2, 4))):
        _change_tree(tree, rng, words)
    return tree[0] if tree else None


def _places(tree: list[Any]) -> list[tuple[Any, Any]]:
    """Every container with every key or index of it."""
    found, waiting = [], [tree]
    while waiting:
        here: Any = waiting.pop()
        for key in list(here) if isinstance(here, dict) else range(len(here)):
            found.append((here, key))
            if isinstance(here[key], dict | list):
                waiting.append(here[key])
    return found


def _change_tree(tree: list[Any], rng: Random, words: Sequence[str]) -> None:
    places = _places(tree)
    if not places:
        return
    here, key = rng.choice(places)
    match rng.randrange(7):
        case 0:
            del here[key]
        case 1 | 2:
            here[key] = _odd(rng, words)
        case 3:
            here[key] = _nested(here[key], rng)
        case 4:
            there, other = rng.choice(places)
            if not isinstance(there[other], dict | list):  # a tree in itself has no end
                here[key] = there[other]
        case 5 if isinstance(here, dict):
            here[rng.choice(words)] = here.pop(key)
        case 5:
            here.insert(key, here[key] if not isinstance(here[key], dict | list) else _odd(rng, words))
        case 6 if isinstance(here, dict):
            here[rng.choice(words)] = _odd(rng, words)
        case 6:
            here.append(_odd(rng, words))


def _odd(rng: Random, words: Sequence[str]) -> Any:
    if rng.random() < 0.3:
        return rng.choice(words)
    odd = rng.choice(_ODD_VALUES)
    return json.loads(json.dumps(odd)) if isinstance(odd, dict | list) else odd  # a copy, which may be changed in turn


def _nested(value: Any, rng: Random) -> Any:
    for _ in range(rng.choice((1, 2, 12, 40))):
        value = [value] if rng.random() < 0.6 else {"a": value}
    return value


def damaged_tokens(text: str, rng: Random, words: Sequence[str]) -> str:
    """Some tokens of the text lost, doubled, exchanged, or words put in their place."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        found = [match.span() for match in _TOKEN.finditer(text)]
        start, end = rng.choice(found) if found else (0, 0)
        match rng.randrange(4):
            case 0:
                instead = ""
            case 1:
                instead = text[start:end] * 2
            case 2 if found:
                instead = text[slice(*rng.choice(found))]
            case _:
                instead = rng.choice(words)
        text = text[:start] + instead + text[end:]
    return text


def damaged_lines(text: str, rng: Random, words: Sequence[str]) -> str:
    """Some lines lost, doubled, moved, indented or joined, and words of the language put in."""
    lines = text.split("\n")
    for _ in range(rng.choice((1, 2, 3, 6))):
        at = rng.randrange(len(lines)) if lines else 0
        line = lines[at] if lines else ""
        column = rng.randint(0, len(line))
        match rng.randrange(8):
            case 0:
                lines[at : at + rng.choice((1, 1, 5))] = []
            case 1:
                lines[at:at] = lines[at : at + rng.choice((1, 3, 10))]
            case 2:
                lines.insert(rng.randint(0, len(lines)), line)
            case 3:
                lines[at : at + 1] = [rng.choice((" ", "  ", "\t", "    ", "\u00a0")) * rng.choice((1, 2, 40)) + line]
            case 4:
                lines[at : at + 2] = ["".join(lines[at : at + 2])]
            case 5:
                lines.insert(at, rng.choice(words))
            case 6:
                lines[at : at + 1] = [line[:column] + rng.choice(words) * rng.choice((2, 10, 200)) + line[column:]]
            case _:
                lines[at : at + 1] = [line[:column] + rng.choice(words) + line[column:]]
    return "\n".join(lines)


def encoded(text: str, rng: Random) -> bytes:
    """As editors save it: mostly UTF-8; sometimes marked, as UTF-16 or Latin-1, cut short, with other line ends."""
    if rng.random() < 0.1:
        text = text.replace("\n", rng.choice(("\r\n", "\r", "\n\r", "\u2028", "\x85")))
    if rng.random() < 0.92:
        return text.encode("utf-8", "surrogatepass")
    match rng.randrange(6):
        case 0:
            return b"\xef\xbb\xbf" + text.encode("utf-8", "surrogatepass")
        case 1:
            return text.encode("utf-16", "surrogatepass")
        case 2:
            return text.encode("utf-16", "surrogatepass")[:-1]
        case 3:
            return text.encode(rng.choice(("utf-16-le", "utf-16-be", "utf-32")), "surrogatepass")
        case 4:
            return text.encode("latin-1", "replace")
        case _:
            return text.encode("utf-8", "surrogatepass")[: rng.randint(0, len(text))]
