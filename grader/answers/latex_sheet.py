"""LaTeX → lines, by a reader of our own.

Converters read LaTeX to typeset it: they number, reorder and re-spell formulas, need a TeX installation or another
program, and stop at the first unknown package. pylatexenc gives a tree of groups and environments, and neither counts
nor spells out an author's own commands, which is most of the work here; one brace or \\end that is forgotten makes the
rest of the sheet a single node of its tree, and lists within lists are too deep for it. Here it is enough to know
headings, lists, formulas and a few commands that do nothing but look; everything else stays as it was written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from grader.answers import latex_meanings as known
from grader.answers.delimiters import find_closing, inside, opening_at
from grader.answers.labels import read_label
from grader.answers.latex_numbering import EXAM_NUMERALS, ListAround, Numbers, printed
from grader.answers.latex_source import ANSWER_NAME, Body, body, group_end
from grader.answers.lines import Line
from grader.model import Piece

_EXAM = {"question": 1, "part": 2, "subpart": 3, "subsubpart": 4}  # the exam class numbers these itself
_EXAM_COMMAND = re.compile(r"(titled|bonus)?(?:titled)?(question|subsubpart|subpart|part)")
_EXAM_LISTS = {"questions": "question", "parts": "part", "subparts": "subpart", "subsubparts": "subsubpart"}
_PROBLEM = re.compile(r"(?:homework|hw)?(?:problem|exercise|question|task)", re.IGNORECASE)
_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\\\n|[{}$~]|\n[ \t]*(?:\n[ \t]*)+|\n|[^\\{}$~\n]+|.", re.DOTALL)
_OPTION = re.compile(r"\s*\[((?:[^\]\[{}\n]|\{(?:[^{}\n]|\{[^{}\n]*\})*\}|\[[^\]\[\n]*\])*)\]")
_NAME = re.compile(r"\s*\{([A-Za-z]+\*?)\}")
_SET_COUNTER = re.compile(r"\s*\{\s*([A-Za-z]+)\s*\}\s*\{\s*(-?\d{1,3})\s*\}")
_SWITCH = re.compile(r"if\w*(?:ans|sol)\w*", re.IGNORECASE)


def latex_lines(text: str) -> Iterator[Line]:
    return _Reader(body(text)).lines()


class _Reader:
    def __init__(self, source: Body, first_line: int = 1) -> None:
        text = self._text = source.text
        self._answers = source.answers
        self._at = 0
        self._breaks = [found.start() for found in re.finditer("\n", text)]
        self._first_line = first_line
        self._line = Line(first_line, [])
        self._words = ""
        self._groups: list[str] = []  # what closes each open brace: "}", "", "bold" or "answer"
        self._bold = 0  # how many of them are bold
        self._plain = False  # some words of the line are not bold
        self._lists: list[ListAround] = []
        self._numbers = Numbers(source.preamble)
        self._solutions = 0  # how many environments and commands for answers it stands in
        self._switches: list[bool] = []  # whether each open \\if… shows answers
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
            self._skip(known.SPACE_AFTER_A_BREAK)
            self._end_line(opens_block=False)
        elif token == "{":
            looks = known.LOOKS.match(self._text, self._at)
            self._push("}" if looks is None else "bold" if "\\bf" in looks[1] else "")
            self._say("" if looks else "{")
        elif token == "}":
            closes = self._groups.pop() if self._groups else "}"
            self._bold -= closes == "bold"
            if closes == "answer":
                self._close_solution()
            self._say("}" if closes == "}" else "")
        else:
            self._say(
                {"~": " ", "\\ ": " ", "\\%": "%", "\\&": "&", "\\#": "#", "\\$": "$", "\\_": "_"}.get(token, token)
            )

    def _command(self, name: str) -> None:
        bare = name.rstrip("*")
        exam = _EXAM_COMMAND.fullmatch(bare)
        if exam and (exam[1] or not self._text.startswith("{", self._at)):
            self._exam(exam[2])
        elif bare in known.HEADINGS:
            self._heading(bare, numbered=not name.endswith("*"))
        elif name == "item":
            self._item()
        elif name in ("setcounter", "addtocounter"):
            self._set_counter(adds=name == "addtocounter")
        elif name.startswith("if") or name in ("fi", "else", "newif"):
            self._conditional(name)
        elif self._opens_answer(name):
            self._at = self._text.index("{", self._at) + 1
            self._open_solution()
            self._push("answer")
        elif name in ("begin", "end") and (environment := _NAME.match(self._text, self._at)):
            self._at = environment.end()
            self._begin(environment[1]) if name == "begin" else self._end(environment[1])
        elif name == "textbf":
            self._open_group("bold")
        elif name in known.SHOWN or known.FACE.fullmatch(name):
            self._open_group("bold" if name.startswith("bf") else "")
        elif name in known.FIRST_ARGUMENT or name in known.BOXES:
            self._skip_arguments(most=name not in known.BOXES or name in ("parbox", "raisebox"))
            self._open_group("")
        elif known.BREAKS.fullmatch(name):
            self._end_line(opens_block=not name.endswith(("line", "break")))
        elif known.SPACE.fullmatch(name):  # in a formula without dollars it parts two of them
            self._say(f"\\{name}" if "=" in self._words else " ")
        elif name in ("hskip", "kern"):
            self._skip(known.SKIP)
        elif name == "verb":
            self._verb()
        elif known.DROPPED.fullmatch(bare):
            self._skip_arguments()
        elif known.BARE.fullmatch(bare):
            self._skip(_OPTION)
        else:
            self._say(f"\\{name}")

    def _open_group(self, kind: str) -> None:
        if self._text.startswith("{", self._at):
            self._at += 1
            self._push(kind)

    def _push(self, kind: str) -> None:
        self._groups.append(kind)
        self._bold += kind == "bold"

    def _skip(self, what: re.Pattern[str]) -> None:
        if found := what.match(self._text, self._at):
            self._at = found.end()

    def _skip_arguments(self, most: int = 9) -> None:
        """As many in braces, and all in brackets before each of them and after the last."""
        while self._text[self._at : self._at + 1] in (("{", "[") if most else ("[",)):
            most -= self._text[self._at] == "{"
            option = _OPTION.match(self._text, self._at)
            self._at = option.end() if option else max(group_end(self._text, self._at), self._at + 1)

    # Structure

    def _heading(self, name: str, *, numbered: bool) -> None:
        self._end_line(opens_block=True)
        number = self._here()
        if option := _OPTION.match(self._text, self._at):
            self._at = option.end()
        count = self._numbers.step(name) if numbered and known.HEADINGS[name] <= 3 else 0
        pieces = self._title(number)
        numeral = "1" if count else ""
        self._ready.append(Line(number, pieces, level=known.HEADINGS[name], count=count, numeral=numeral))

    def _title(self, number: int) -> list[Piece]:
        if not self._text.startswith("{", self._at):
            return []
        end = group_end(self._text, self._at)
        title, self._at = self._text[self._at + 1 : end - 1], end
        return [piece for line in _Title(Body(title, frozenset(), ""), number).lines() for piece in line.pieces]

    def _exam(self, name: str) -> None:
        self._end_line(opens_block=True)
        self._solutions, self._groups = 0, []  # an answer, or a brace, that was never closed ends here
        number = self._here()
        pieces = self._title(number)
        self._skip_arguments()  # its points
        count = self._numbers.step(name)
        if prefix := self._numbers.prefixes.get(name):
            pieces, count = [Piece("prose", f"{prefix}{count}", number), *pieces], 0
        self._ready.append(Line(number, pieces, level=_EXAM[name], count=count, numeral=EXAM_NUMERALS[name]))

    def _problem(self, name: str) -> None:
        """\\begin{problem}{1.b}, or one that is counted."""
        number = self._here()
        option = _OPTION.match(self._text, self._at)
        words = option[1] if option else ""
        self._at = option.end() if option else self._at
        pieces = [Piece("prose", words, number)] if words.strip() else self._title(number)
        count = 0 if pieces and read_label(pieces[0].text, heading=True) else self._numbers.step("question")
        self._ready.append(Line(number, pieces, level=1, count=count, numeral="1" if count else ""))

    def _set_counter(self, *, adds: bool) -> None:
        if found := _SET_COUNTER.match(self._text, self._at):
            self._at = found.end()
            self._numbers.set(found[1], int(found[2]), self._lists, adds=adds)
        else:
            self._skip_arguments()

    # Answers that are marked as such

    def _opens_answer(self, name: str) -> bool:
        named = name in self._answers or ANSWER_NAME.fullmatch(name)
        return bool(named) and self._text[self._at : self._at + 3].lstrip().startswith("{")

    def _conditional(self, name: str) -> None:
        """A switch that shows answers opens and closes them; of all others both branches are read."""
        if name == "newif":
            self._at = found.end() if (found := re.compile(r"\s*\\[A-Za-z]+").match(self._text, self._at)) else self._at
        elif name == "iff":
            self._say("\\iff")
        elif name.startswith("if"):
            if self._opens_answer(name):
                self._at = self._text.index("{", self._at) + 1
                self._open_solution()
                self._push("answer")
                return
            self._switches.append(bool(_SWITCH.fullmatch(name)))
            if self._switches[-1]:
                self._open_solution()
        elif self._switches:
            if self._switches[-1]:
                self._close_solution()
            self._switches[-1:] = [False] if name == "else" else []

    def _open_solution(self) -> None:
        self._end_line(opens_block=True)
        self._solutions += 1
        here = self._here()
        self._ready.append(Line(here, [], depth=len(self._lists), opens_solution=True, in_solution=True))

    def _close_solution(self) -> None:
        self._end_line(opens_block=True)
        self._solutions = max(0, self._solutions - 1)

    def _item(self) -> None:
        self._end_line(opens_block=True)
        option = _OPTION.match(self._text, self._at)
        marker, count, numeral = "", 0, ""
        if option:
            self._at = option.end()
            marker = re.sub(r"\\(?:textbf|bf|bfseries|emph|textit)\b|[{}]", "", option[1]).strip()
        elif self._lists and self._lists[-1].template:
            self._lists[-1].count += 1
            count = self._lists[-1].count
            marker, numeral = printed(self._lists[-1].template, count), self._lists[-1].numeral
        self._line = Line(self._here(), [], marker=marker, count=count, numeral=numeral, opens_item=True)
        self._line.listed, self._line.depth = bool(marker), len(self._lists)

    def _begin(self, name: str) -> None:
        if name in known.CODE:
            self._code(name)
            return
        self._end_line(opens_block=True)
        if name in _EXAM_LISTS:
            self._numbers.restart(_EXAM_LISTS[name])
        elif _PROBLEM.fullmatch(name):
            self._problem(name)
            return
        option = _OPTION.match(self._text, self._at)
        self._skip_arguments()
        if name == "enumerate":
            self._lists.append(self._numbers.open_list(option[1] if option else "", self._lists))
        elif name in ("itemize", "description"):
            self._lists.append(ListAround(""))
        elif ANSWER_NAME.fullmatch(name):
            self._open_solution()

    def _end(self, name: str) -> None:
        self._end_line(opens_block=True)
        if name in ("enumerate", "itemize", "description") and self._lists:
            self._numbers.close_list(self._lists.pop(), self._lists)
            self._line.depth = len(self._lists)
        elif ANSWER_NAME.fullmatch(name):
            self._close_solution()

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
            line.in_solution = self._solutions > 0
            self._ready.append(line)
            self._line = Line(here, [], opens_block=opens_block, depth=len(self._lists))
        else:  # nothing stands on it: what it carries goes to the next
            line.number = here
            line.opens_block = line.opens_block or opens_block
        self._plain = False


class _Title(_Reader):
    """A heading's words, in which nothing begins a heading."""

    def _command(self, name: str) -> None:
        if name.rstrip("*") not in {*known.HEADINGS, *_EXAM, "begin", "item"}:
            super()._command(name)
