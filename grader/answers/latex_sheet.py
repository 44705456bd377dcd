"""LaTeX → lines, by a reader of our own.

Converters read LaTeX to typeset it: they number, reorder and re-spell formulas, need a TeX installation or another
program, and stop at the first unknown package. Here it is enough to know headings, lists, formulas and a few commands
that do nothing but look; everything else stays as it was written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from grader.answers.delimiters import find_closing, inside, opening_at
from grader.answers.labels import ROMANS
from grader.answers.latex_source import body, group_end
from grader.answers.lines import Line
from grader.model import Piece
from grader.notation.faces import TEXT_COMMANDS

_HEADINGS = {"chapter": 1, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4, "subparagraph": 5}
_EXAM = {"question": 1, "part": 2, "subpart": 3}  # the exam class numbers these itself
# \operatorname stays: it begins a formula that stands among words.
_SHOWN = (TEXT_COMMANDS - {"operatorname"}) | {"textit", "textsc", "emph", "underline", "footnote", "uline"}
_DROPPED = re.compile(
    "label|vspace|hspace|includegraphics|maketitle|newpage|noindent|centering|bigskip|medskip|smallskip|clearpage|"
    "pagebreak|hfill|title|author|date|ref|cite|eqref|caption|tableofcontents|pagestyle|thispagestyle|setcounter|"
    "indent|large|Large|small|normalsize|bf|bfseries|it|itshape|em|hline|usepackage|item"
)
_MAX_DEPTH = 4  # LaTeX itself allows no more lists within lists
_CODE = ("verbatim", "lstlisting", "minted")
_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\\\n|[{}$~]|\n[ \t]*(?:\n[ \t]*)+|\n|[^\\{}$~\n]+|.", re.DOTALL)
_LOOKS = re.compile(r"\s*\\(bf|bfseries|em|it|large|Large|small|itshape)\b")
_OPTION = re.compile(r"\s*\[([^\]\n]*)\]")
_NAME = re.compile(r"\s*\{([A-Za-z]+\*?)\}")
_NUMERALS = {"arabic": "1", "alph": "a", "Alph": "A", "roman": "i", "Roman": "I"}


@dataclass
class _List:
    template: str  # how it prints its items, with 1, a or i for the numeral; "" for bullets
    count: int = 0


def latex_lines(text: str) -> Iterator[Line]:
    return _Reader(body(text)).lines()


class _Reader:
    def __init__(self, text: str, first_line: int = 1) -> None:
        self._text = text
        self._at = 0
        self._breaks = [found.start() for found in re.finditer("\n", text)]
        self._first_line = first_line
        self._line = Line(first_line, [])
        self._words = ""
        self._groups: list[str] = []  # what closes each open brace: "}", "" or "bold"
        self._bold = 0  # how many of them are bold
        self._plain = False  # some words of the line are not bold
        self._lists: list[_List] = []
        self._numbers: Counter[str] = Counter()
        self._unclosed: set[str] = set()
        self._ready: list[Line] = []

    def lines(self) -> Iterator[Line]:
        while self._at < len(self._text):
            token = _TOKEN.match(self._text, self._at)
            assert token is not None  # its last alternative is any character
            if not self._formula():
                self._at = token.end()
                self._take(token[0])
            yield from self._ready
            self._ready.clear()
        self._end_line(opens_block=True)
        yield from self._ready

    def _here(self) -> int:
        return self._first_line + bisect_right(self._breaks, self._at - 1)

    def _take(self, token: str) -> None:
        if token.startswith("\\") and token[1:2].isalpha():
            self._command(token[1:])
        elif token.startswith("\n"):
            self._end_line(opens_block=token.count("\n") > 1)
        elif token in ("\\\\", "\\\n"):
            self._end_line(opens_block=False)
        elif token == "{":
            looks = _LOOKS.match(self._text, self._at)
            self._push("}" if looks is None else "bold" if looks[1].startswith("bf") else "")
            self._say("" if looks else "{")
        elif token == "}":
            closes = self._groups.pop() if self._groups else "}"
            self._bold -= closes == "bold"
            self._say("}" if closes == "}" else "")
        else:
            self._say(
                {"~": " ", "\\ ": " ", "\\%": "%", "\\&": "&", "\\#": "#", "\\$": "$", "\\_": "_"}.get(token, token)
            )

    def _command(self, name: str) -> None:
        bare = name.rstrip("*")
        if bare in _EXAM and not self._text.startswith("{", self._at):
            self._exam(bare)
        elif bare in _HEADINGS:
            self._heading(bare, numbered=not name.endswith("*"))
        elif name == "item":
            self._item()
        elif name in ("begin", "end") and (environment := _NAME.match(self._text, self._at)):
            self._at = environment.end()
            self._begin(environment[1]) if name == "begin" else self._end(environment[1])
        elif name == "textbf":
            self._open_group("bold")
        elif name in _SHOWN:
            self._open_group("")
        elif name == "par":
            self._end_line(opens_block=True)
        elif name == "verb":
            self._verb()
        elif _DROPPED.fullmatch(bare):
            self._skip_arguments()
        else:
            self._say(f"\\{name}")

    def _open_group(self, kind: str) -> None:
        if self._text.startswith("{", self._at):
            self._at += 1
            self._push(kind)

    def _push(self, kind: str) -> None:
        self._groups.append(kind)
        self._bold += kind == "bold"

    def _skip_arguments(self) -> None:
        while self._text[self._at : self._at + 1] in ("{", "["):
            option = _OPTION.match(self._text, self._at)
            self._at = option.end() if option else max(group_end(self._text, self._at), self._at + 1)

    # Structure

    def _heading(self, name: str, *, numbered: bool) -> None:
        self._end_line(opens_block=True)
        number = self._here()
        if option := _OPTION.match(self._text, self._at):
            self._at = option.end()
        counter = self._count(name) if numbered else ""
        title = ""
        if self._text.startswith("{", self._at):
            end = group_end(self._text, self._at)
            title, self._at = self._text[self._at + 1 : end - 1], end
        pieces = [piece for line in _Title(title, number).lines() for piece in line.pieces]
        self._ready.append(Line(number, pieces, level=_HEADINGS[name], counter=counter))

    def _count(self, name: str) -> str:
        self._numbers[name] += 1
        if name == "section":
            self._numbers["subsection"] = 0
            return str(self._numbers["section"])
        return f"{self._numbers['section']}.{self._numbers['subsection']}" if name == "subsection" else ""

    def _exam(self, name: str) -> None:
        self._end_line(opens_block=True)
        self._numbers[name] += 1
        for below in list(_EXAM)[_EXAM[name] :]:
            self._numbers[below] = 0
        self._skip_arguments()  # its points
        printed = _printed({"question": "1.", "part": "(a)", "subpart": "i."}[name], self._numbers[name])
        self._ready.append(Line(self._here(), [Piece("prose", printed, self._here())], level=_EXAM[name]))

    def _item(self) -> None:
        self._end_line(opens_block=True)
        option = _OPTION.match(self._text, self._at)
        marker, count = "", 0
        if option:
            self._at = option.end()
            marker = re.sub(r"\\(?:textbf|bf|bfseries|emph|textit)\b|[{}]", "", option[1]).strip()
        elif self._lists and self._lists[-1].template:
            self._lists[-1].count += 1
            count = self._lists[-1].count
            marker = _printed(self._lists[-1].template, count)
        self._line = Line(self._here(), [], marker=marker, count=count, opens_item=True, depth=len(self._lists))

    def _begin(self, name: str) -> None:
        if name in _CODE:
            self._code(name)
            return
        self._end_line(opens_block=True)
        option = _OPTION.match(self._text, self._at)
        self._skip_arguments()
        if name == "enumerate":
            depth = sum(bool(around.template) for around in self._lists[:_MAX_DEPTH])
            self._lists.append(_List(_template(option[1] if option else "", depth)))
        elif name in ("itemize", "description"):
            self._lists.append(_List(""))
        elif name in ("solution", "answer", "solutionorbox"):
            self._line.opens_solution = True

    def _end(self, name: str) -> None:
        self._end_line(opens_block=True)
        if name in ("enumerate", "itemize", "description") and self._lists:
            self._lists.pop()
            self._line.depth = len(self._lists)

    # Pieces

    def _formula(self) -> bool:
        opening = opening_at(self._text, self._at)
        if opening is None or opening[1] in self._unclosed:
            return False
        opens, closes = opening
        begins = self._at + len(opens)
        closing = find_closing(self._text, closes, begins)
        blank = self._text.find("\n\n", begins, closing) if opens == "$" else -1
        if closing < 0 or blank >= 0:
            self._unclosed |= {closes} if closing < 0 else set()
            return False
        self._end_piece()
        content = inside(opens, closes, self._text[begins:closing])
        if content:
            self._line.pieces.append(Piece("math", content, self._here()))
        self._plain = True
        self._at = closing + len(closes)
        return True

    def _code(self, name: str) -> None:
        self._end_line(opens_block=True)
        closes = f"\\end{{{name}}}"
        closing = self._text.find(closes, self._at)
        ends = closing if closing >= 0 else len(self._text)
        self._line.pieces.append(Piece("code", self._text[self._at : ends].strip("\n"), self._here()))
        self._at = min(ends + len(closes), len(self._text))
        self._end_line(opens_block=True)

    def _verb(self) -> None:
        mark = self._text[self._at : self._at + 1]
        closing = self._text.find(mark, self._at + 1) if mark else -1
        if closing > 0:
            self._end_piece()
            self._line.pieces.append(Piece("code", self._text[self._at + 1 : closing], self._here()))
            self._at = closing + 1

    def _say(self, words: str) -> None:
        self._words += words
        self._plain = self._plain or (not self._bold and bool(words.strip(" .:")))

    def _end_piece(self) -> None:
        if self._words.strip():
            self._line.pieces.append(Piece("prose", " ".join(self._words.split()), self._line.number))
        self._words = ""

    def _end_line(self, *, opens_block: bool) -> None:
        self._end_piece()
        line, here = self._line, self._here()
        if line.pieces or (line.marker and opens_block):
            line.bold = bool(line.pieces) and not self._plain
            self._ready.append(line)
            self._line = Line(here, [], opens_block=opens_block, depth=len(self._lists))
        else:  # nothing stands on it: what it carries goes to the next
            line.number = here
            line.opens_block = line.opens_block or opens_block
        self._plain = False


class _Title(_Reader):
    """A heading's words, in which nothing begins a heading."""

    def _command(self, name: str) -> None:
        if name.rstrip("*") not in {*_HEADINGS, *_EXAM, "begin", "item"}:
            super()._command(name)


def _template(option: str, depth: int) -> str:
    """`[label=(\\alph*)]`, `[(a)]` or, as LaTeX has it, 1. then (a) then i."""
    if numeral := re.search(r"\\(arabic|alph|Alph|roman|Roman)\s*\*", option):
        label = option.rpartition("label")[2].lstrip("= {")
        label = re.sub(r"\\(arabic|alph|Alph|roman|Roman)\s*\*", _NUMERALS[numeral[1]], label).split(",")[0]
        return re.sub(r"\\[A-Za-z]+|[{}]", "", label).strip()
    if re.fullmatch(r"\W*[1aAiI]\W*", option):
        return option.strip()
    return ("1.", "(a)", "i.", "A.")[min(depth, 3)]


def _printed(template: str, count: int) -> str:
    def numeral(found: re.Match[str]) -> str:
        kind = found[0]
        letters = chr(ord("a") + (count - 1) % 26)
        romans = ROMANS[min(count, len(ROMANS)) - 1]
        text = {"1": str(count), "a": letters, "i": romans}[kind.lower()]
        return text.upper() if kind.isupper() else text

    return re.sub("[1aAiI]", numeral, template, count=1)
