"""Questions pasted above their answers: taken out, so that nobody earns points with the handout's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.answers.lines import Line
from grader.model import Piece

_SOLUTION = re.compile(r"\s*(?:solution|answer|ans|sol)\b\s*(?:[.:)–—-]+\s*|$)", re.IGNORECASE)
_POINTS = re.compile(
    r"\s*(?:\(?\w{1,4}[.)]\s+)?[(\[]\s*\d+(?:\.\d+)?\s*(?:points?|pts?|marks?)\.?\s*[)\]]\s*[.:]?\s*", re.IGNORECASE
)
_ENDS_WITH_POINTS = re.compile(r"[(\[]\s*\d+(?:\.\d+)?\s*(?:points?|pts?|marks?)\.?\s*[)\]]\s*$", re.IGNORECASE)
# Handouts command; students who write "we show that …" do not.
_COMMAND = re.compile(
    r"(?:^|[.;:?]\s+)\W*(?:Explain|Describe|Find|Design|Construct|Show|Prove|Provide|Derive|Justify|State|Give|Succinctly|"
    r"Concisely|Compute|Discuss|Name|Write down)\b|"
    r"(?:,|,? and)\s+(?:describe|explain|design|construct|justify|provide)\b"
)
_TO_A_READER = re.compile(r"\b(?:you|your|we'll)\b", re.IGNORECASE)
_HOW = re.compile(
    r"\b(?:in (?:one|two|\d) sentences?|briefly|succinctly|concisely|sentences or fewer)\b", re.IGNORECASE
)
_HINT = re.compile(r"\s*\W*hint\b", re.IGNORECASE)
# What a template says where an answer is to stand.
_PROMPT = re.compile(
    r"\W*(?:(?:answer|solution)\W+)?(?:"
    r"(?:please )?(?:write|type|put|enter|insert|place|add|fill in) (?:in )?(?:your|the) (?:own )?"
    r"(?:answer|solution|response|text|work|explanation)s?(?: \w+){0,3}|(?:your|my) (?:answer|solution|response)"
    r"(?: (?:goes|comes|belongs))? (?:here|below|there)|(?:answer|solution)s?(?: goes)? here|your (?:answer|solution)"
    r")\W*|[\s._…-]*",
    re.IGNORECASE,
)
_QUESTION_WORDS = 8  # fewer, after "(2 points)", are more likely an answer
_ASKING_WORDS = 5  # "Why?" may well be asked by who answers


@dataclass
class _Block:
    """A paragraph, or what stands behind the word "Solution"."""

    begins: Line
    pieces: list[Piece]
    in_solution: bool

    @property
    def text(self) -> str:
        return " ".join(piece.text for piece in self.pieces).strip()


def is_prompt(line: Line) -> bool:
    """Whether it only says that an answer is to be written here."""
    return all(piece.kind == "prose" for piece in line.pieces) and bool(_PROMPT.fullmatch(line.text))


def without_the_question(
    lines: Sequence[Line], has_parts: bool, marked: bool = False
) -> tuple[tuple[Piece, ...], Line | None]:
    """The pieces of an answer, and the first line of a question that was left out, if one was.

    Where a question has parts, points stand before what is common to them, which asks nothing yet. Where answers are
    `marked` as such throughout the sheet, what stands above the parts is the question's.
    """
    kept: list[_Block] = []
    asked: Line | None = None
    solved = any(line.in_solution for line in lines)
    for block in _blocks(lines):
        first = block[0].pieces[0] if block[0].pieces else Piece("prose", "", block[0].number)
        label, points = (rule.match(first.text) if first.kind == "prose" else None for rule in (_SOLUTION, _POINTS))
        if kept and (block[0].opens_solution or (label and _asks(kept))):
            asked, kept = asked or kept[0].begins, []
        if points and (has_parts or _is_pasted(_joined(block), points.end())):
            asked = asked or block[0]
            continue
        mark = label or points
        if mark:
            block[0] = replace(block[0], pieces=[replace(first, text=first.text[mark.end() :]), *block[0].pieces[1:]])
        if pieces := _joined(block):
            kept.append(_Block(block[0], pieces, block[0].in_solution))
    if has_parts and marked and not solved:
        kept, asked = [], asked or (kept[0].begins if kept else None)
    for number, one in enumerate(_questions(kept)):
        if not one.in_solution:
            asked = asked or (one.begins if number == 0 else None)
            kept.remove(one)
    return tuple(piece for one in kept for piece in one.pieces), asked


def _blocks(lines: Sequence[Line]) -> list[list[Line]]:
    blocks: list[list[Line]] = []
    for line in lines:
        labelled = bool(line.pieces) and line.pieces[0].kind == "prose" and _SOLUTION.match(line.pieces[0].text)
        changes = bool(blocks) and blocks[-1][-1].in_solution != line.in_solution
        if line.opens_block or line.opens_solution or labelled or changes or not blocks:
            blocks.append([])
        blocks[-1].append(line)
    return blocks


def _questions(kept: list[_Block]) -> list[_Block]:
    """Those that begin an answer and ask for one, with their hints; all, if there is nothing else."""
    asking: list[_Block] = []
    for one in kept:
        if not (_asks_a_reader(one.text) or (asking and _HINT.match(one.text))):
            break
        asking.append(one)
    if len(asking) == len(kept) and not any(_commands_a_reader(one.text) for one in kept):
        return []  # it may be all that somebody has to say
    return asking


def _asks_a_reader(text: str) -> bool:
    """More surely than by one command: students write `Show: Ms = v_a` above their proofs."""
    if len(text.split()) < _ASKING_WORDS:
        return False
    return text.endswith("?") or _commands_a_reader(text)


def _commands_a_reader(text: str) -> bool:
    if _ENDS_WITH_POINTS.search(text):
        return True
    commands = _COMMAND.findall(text)
    return len(commands) > 1 or (bool(commands) and bool(_TO_A_READER.search(text) or _HOW.search(text)))


def _joined(block: list[Line]) -> list[Piece]:
    """Words on lines that follow each other are one piece: a sentence does not end where a line does."""
    pieces: list[Piece] = []
    for line in block:
        begins = True
        for piece in (piece for piece in line.pieces if piece.text.strip()):
            if begins and piece.kind == "prose" and pieces and pieces[-1].kind == "prose":
                pieces[-1] = Piece("prose", f"{pieces[-1].text}\n{piece.text}", pieces[-1].line)
            else:
                pieces.append(piece)
            begins = False
    return pieces


def _asks(kept: list[_Block]) -> bool:
    """One paragraph that tells somebody to do something, or ends in a question mark."""
    if len(kept) != 1:
        return bool(kept) and all(_asks_a_reader(one.text) or _HINT.match(one.text) for one in kept)
    return bool(_COMMAND.search(kept[0].text)) or kept[0].text.endswith("?")


def _is_pasted(pieces: list[Piece], begin: int) -> bool:
    text = " ".join([pieces[0].text[begin:], *(piece.text for piece in pieces[1:])]).strip()
    asks = _COMMAND.search(text) or _TO_A_READER.search(text) or text.endswith("?")
    return bool(asks) and len(text.split()) > _QUESTION_WORDS
