"""Markdown → lines. Formulas, code and words as the student wrote them; only emphasis marks go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from grader.answers.labels import read_label
from grader.answers.lines import Line
from grader.answers.markdown_formulas import formulas
from grader.model import Piece

# Links, images, HTML and references would swallow brackets that belong to formulas.
_NOT_READ = ["link", "image", "autolink", "html_inline", "html_block", "reference", "text_join"]
# Escapes that only Markdown needs. In `\{` or `\,` the backslash belongs to a formula without dollars.
_ESCAPED_FOR_MARKDOWN = frozenset("_*#-.+<>`~$")
_FORMULA_FENCES = ("math", "latex", "tex")
_INDENTED = re.compile(r"(?: {4}|\t)\s*\(?(?:[ivx]{1,4}|[a-z]|\d(?:\.\w+)+)[.):]*[.):\s]", re.IGNORECASE)
_LABEL_CHARACTERS = 40
_TITLE_CHARACTERS = 120  # a longer "heading" is a paragraph that somebody drew a line under


def markdown_lines(text: str, *, pasted: bool = False) -> Iterator[Line]:
    """In text that was `pasted` into a file that is no Markdown, what is indented is no code."""
    markdown = MarkdownIt("commonmark").disable([*_NOT_READ, *(["code"] if pasted else [])])
    formulas(markdown)
    tokens = markdown.parse(text if pasted else _with_labels_at_the_margin(text))
    marker, item, depth, level = "", 1, 0, 0  # a marker waits for the words it stands before
    opens_item = False
    for token in tokens:
        match token.type:
            case "ordered_list_open" | "bullet_list_open":
                depth += 1
            case "ordered_list_close" | "bullet_list_close":
                depth -= 1
            case "list_item_open":
                if marker:
                    yield Line(item, [], marker=marker, depth=depth - 1)  # the outer one of `1. 2.` stands alone
                marker, item = (f"{token.info}{token.markup}" if token.info else ""), _line(token)
                opens_item = True
            case "list_item_close":
                if marker:
                    yield Line(item, [], marker=marker, depth=depth)
                marker = ""
            case "heading_open":
                level = int(token.tag[1])
            case "heading_close":
                level = 0
            case "inline":
                is_title = level and len(token.content) <= _TITLE_CHARACTERS and "\n" not in token.content
                for number, line in enumerate(_inline_lines(token)):
                    line.level = level if is_title else 0
                    line.opens_block = number == 0
                    line.depth = depth
                    line.marker, marker = marker, ""
                    line.opens_item, opens_item = opens_item, False
                    yield line
            case "formula":
                piece = Piece("math", token.content, _line(token))
                yield Line(_line(token), [piece], marker=marker, opens_item=opens_item, depth=depth)
                marker, opens_item = "", False
            case "fence" | "code_block":
                is_formula = token.info.strip().lower().startswith(_FORMULA_FENCES)
                piece = Piece("math" if is_formula else "code", token.content.strip("\n"), _line(token))
                yield Line(_line(token), [piece], marker=marker, opens_item=opens_item, depth=depth)
                marker, opens_item = "", False


def _with_labels_at_the_margin(text: str) -> str:
    """Four blanks make code of a line in Markdown, but not of one that begins with a label, as in an outline."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        label = _INDENTED.match(line)
        if label and (number == 0 or not lines[number - 1].strip()) and read_label(line[:_LABEL_CHARACTERS].strip()):
            lines[number] = line.lstrip()
    return "\n".join(lines)


def inline_pieces(text: str, line: int) -> list[Piece]:
    """One value of a YAML sheet."""
    return [
        Piece(piece.kind, piece.text, line) for found in markdown_lines(text) for piece in found.pieces if piece.text
    ]


def _line(token: Token) -> int:
    return token.map[0] + 1 if token.map else 1


def _inline_lines(token: Token) -> Iterator[Line]:
    children = token.children or []
    number = _line(token)
    literal = _marks_that_stay(children)
    line, words, bold, plain = Line(number, []), "", 0, False
    for index, child in enumerate([*children, None]):
        if child is None or child.type in ("softbreak", "hardbreak"):
            if words.strip():
                line.pieces.append(Piece("prose", words.strip(), line.number))
            line.bold = not plain and bool(line.pieces)
            yield line
            number += 1
            line, words, plain = Line(number, []), "", False
        elif child.type in ("formula", "code_inline"):
            if words.strip():
                line.pieces.append(Piece("prose", words.strip(), number))
            line.pieces.append(Piece("math" if child.type == "formula" else "code", child.content, number))
            number += child.markup.count("\n") if child.type == "formula" else 0
            words, plain = "", True
        elif child.type in ("strong_open", "strong_close") and index not in literal:
            bold += child.nesting
        elif child.type in ("em_open", "em_close", "strong_open", "strong_close"):
            words += child.markup if index in literal else ""
        else:
            escaped = child.info == "escape" and child.content not in _ESCAPED_FOR_MARKDOWN
            written = child.markup if escaped else child.content
            plain = plain or (bold == 0 and bool(written.strip(" .:")))
            words += written


def _marks_that_stay(children: Sequence[Token]) -> set[int]:
    """Asterisks within words multiply: `A*B and C*D` holds no emphasis."""
    stay: set[int] = set()
    opened: list[int] = []
    for index, child in enumerate(children):
        if child.type in ("em_open", "strong_open"):
            opened.append(index)
        elif child.type in ("em_close", "strong_close") and opened:
            begin = opened.pop()
            before = children[begin - 1].content[-1:] if begin else ""
            after = children[index + 1].content[:1] if index + 1 < len(children) else ""
            if before.isalnum() or after.isalnum() or before in (")", "]", "}"):
                stay |= {begin, index}
    return stay
