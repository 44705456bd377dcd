"""A prediction file as it was handed in → its places, and everything about it that is not as asked.

The assignment asks for UTF-8 text, one place per line, in the order of the questions. Where a mistake leaves no doubt
which place answers which question, it is undone and told; where it leaves a doubt, it is told and nothing is scored.
Remarks hold line numbers; of the file's words they quote only what is no place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from grader.checks.predictions.mishaps import are_reports, repeated, stray_lines
from grader.quoting import quote
from reference.birthplaces import Question

PAD = "□"
_LINES_NAMED = 5
_FEW = 0.1  # a weak model may leave some answers empty: they are wrong, but the file is what was asked for
_LONGEST_PLACE = 200  # characters; real places stay below 60, and what is longer is not worth normalising
_ABOUT_PLACES = (
    "answer answers birth birthplace born label output outputs place places predicted prediction predictions"
)
_ABOUT_LINES = "id idx index name no number of question result target text the"
_HEADER_WORDS = frozenset(f"answers {_ABOUT_PLACES} {_ABOUT_LINES}".split())
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}
_NUMBERED = re.compile(r"\s*(\d{1,9})\s*[.):,;\t ]\s*(.*)", re.DOTALL)


@dataclass(eq=False)
class Handed:
    """Its places, one for each line, and what was noticed on the way to them. To students a place goes by what the
    rubric calls it."""

    called: str = "place"
    places: list[str] = field(default_factory=list)
    harmless: list[str] = field(default_factory=list)  # told, but costs nothing
    mistakes: list[str] = field(default_factory=list)  # not as asked, and yet it is plain what was meant
    needed_cleanup: bool = False  # the course's own script would not have read these places
    doubt: str = ""  # why a line cannot be said to belong to its question
    code: str = ""  # of the doubt, or of the first mistake; of those that needed cleanup, if there are any

    def mistaken(self, code: str, what: str, *, cleaned_up: bool = True) -> None:
        self.mistakes.append(what)
        if not self.code or (cleaned_up and not self.needed_cleanup and not self.doubt):
            self.code = code
        self.needed_cleanup |= cleaned_up

    def doubted(self, code: str, why: str) -> None:
        self.code, self.doubt = code, why

    def is_no_text(self) -> None:
        self.doubted("not_text", f"it is no text file; hand in one {self.called} per line, as UTF-8")


def several(called: str) -> str:
    """Places, classes, categories."""
    if called.endswith(("s", "x", "ch", "sh")):
        return f"{called}es"
    return f"{called[:-1]}ies" if called.endswith("y") else f"{called}s"


def read_predictions(content: bytes, questions: Sequence[Question], called: str) -> Handed:
    handed = Handed(called)
    text = "" if _is_far_too_long(content, len(questions), handed) else _decoded(content, handed)
    lines = _lines(text, handed)
    lines = _without_surplus_blanks(lines, len(questions), handed)
    if len(lines) != len(questions):
        lines = _from_json(text, lines, len(questions), handed)
    lines = _without_strays(lines, questions, handed)
    lines = _without_repeats(lines, len(questions), handed)
    lines = _without_header(lines, questions, handed)
    lines = _without_questions(lines, questions, handed)
    lines = _without_numbers(lines, handed)
    lines = _without_quotes(lines, handed)
    if spaced := _where(lines, lambda line: line != line.strip()):
        handed.harmless.append(f"spaces around the {called} in {numbered(spaced)}")
    handed.places = [line.strip() for line in lines]
    _remark_on_what_is_no_place(handed)
    return handed


def numbered(numbers: Sequence[int]) -> str:
    """A few line numbers, never thousands."""
    shown = ", ".join(str(number) for number in numbers[:_LINES_NAMED])
    more = f" and {len(numbers) - _LINES_NAMED} more" if len(numbers) > _LINES_NAMED else ""
    return f"line{'s' if len(numbers) > 1 else ''} {shown}{more}"


def _where(lines: Sequence[str], odd: Callable[[str], bool]) -> list[int]:
    return [number for number, line in enumerate(lines, start=1) if odd(line)]


def _is_far_too_long(content: bytes, asked: int, handed: Handed) -> bool:
    """Millions of lines are counted and not taken apart: as text they would fill the grader's memory."""
    return _are_far_too_many(max(content.count(b"\n"), content.count(b"\r")), "lines", asked, handed)


def _are_far_too_many(count: int, what: str, asked: int, handed: Handed) -> bool:
    if far := count > 10 * asked + 1000:
        handed.doubted("wrong_line_count", f"it has {count} {what}, and {asked} were asked for")
    return far


def _decoded(content: bytes, handed: Handed) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or content[1:2] == b"\0" or content[:1] == b"\0":
        # Without a mark, a zero byte in first or second place tells big from little endian.
        codec = "utf-16" if content[:1] > b"\xf0" else "utf-16-le" if content[1:2] == b"\0" else "utf-16-be"
        try:
            text = content.decode(codec)
        except UnicodeDecodeError:
            handed.is_no_text()
            return ""
        handed.mistaken("not_utf8", "it is UTF-16 text; save it as UTF-8")
        return text
    if b"\0" in content:
        handed.is_no_text()
        return ""
    if content.startswith(b"\xef\xbb\xbf"):
        handed.harmless.append("a byte order mark at the beginning")
        content = content[3:]
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raw = content.split(b"\n")
        broken = [number for number, line in enumerate(raw, start=1) if not _is_utf8(line)]
        handed.mistaken("not_utf8", f"no UTF-8 in {numbered(broken)}, read as Latin-1; save it as UTF-8")
        return "\n".join(line.decode("utf-8" if _is_utf8(line) else "latin-1") for line in raw)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _lines(text: str, handed: Handed) -> list[str]:
    """Only the newline ends a line, so that no exotic separator shifts the count; or, in a file without, the return."""
    if "\n" not in text and "\r" in text:
        handed.mistaken("carriage_returns", "its lines end in a carriage return alone; end them in a newline")
        text = text.replace("\r", "\n")
    lines = text.removesuffix("\n").split("\n") if text else []
    if any(line.endswith("\r") for line in lines):
        handed.harmless.append("lines end as on Windows")
    return [line.removesuffix("\r") for line in lines]


def _without_surplus_blanks(lines: list[str], asked: int, handed: Handed) -> list[str]:
    """Blank lines at the end, beyond the count asked for. Within the count they are answers that were left empty."""
    end = len(lines)
    while end > asked and not lines[end - 1].strip():
        end -= 1
    if end < len(lines):
        handed.harmless.append(f"blank lines at the end ({len(lines) - end})")
    return lines[:end]


def _from_json(text: str, lines: list[str], asked: int, handed: Handed) -> list[str]:
    if not text.lstrip().startswith("["):
        return lines
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return lines
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return lines
    if _are_far_too_many(len(value), f"{several(handed.called)} in a JSON list", asked, handed):
        return []
    handed.mistaken("json_list", f"it is a JSON list; write one {handed.called} per line")
    return value


def _without_strays(lines: list[str], questions: Sequence[Question], handed: Handed) -> list[str]:
    asked, known = len(questions), {question.place for question in questions}  # labels may be numbers
    strays, kind = stray_lines(lines, asked, known, handed.called, several(handed.called))
    if strays:
        code = "stray_lines" if lines[strays[0] - 1].strip() else "blank_lines"
        handed.mistaken(code, f"{numbered(strays)} {kind}")
        return [line for number, line in enumerate(lines, start=1) if number not in set(strays)]
    if lines and len(lines) == asked and are_reports(lines[0], known) and not are_reports(lines[-1], known):
        why = f"line 1 is no {handed.called} ('{quote(lines[0].strip(), 60)}'), and then a prediction is missing"
        handed.doubted("stray_lines", why)
    return lines


def _without_repeats(lines: list[str], asked: int, handed: Handed) -> list[str]:
    """The whole file once more, or a block of it: what was written twice counts once."""
    times = len(lines) // asked
    if times > 1 and len(lines) == times * asked:
        if lines == lines[:asked] * times:
            handed.mistaken("repeated_lines", f"the same {asked} lines stand there {times} times")
            return lines[:asked]
        return lines
    if (block := repeated(lines, asked)) is None:
        return lines
    start, end = block
    handed.mistaken("repeated_lines", f"lines {start + 1} to {end} repeat the {end - start} before")
    return lines[:start] + lines[end:]


def _without_header(lines: list[str], questions: Sequence[Question], handed: Handed) -> list[str]:
    words = re.findall(r"[^\W\d_]+", lines[0][:_LONGEST_PLACE].lower()) if lines else []
    about = _HEADER_WORDS | {handed.called, several(handed.called)}
    is_place = bool(lines) and any(lines[0].strip() == question.place for question in questions)
    if not words or is_place or not about.issuperset(words):
        return lines
    if len(lines) == len(questions) + 1:
        handed.mistaken("header_line", "line 1 is a header; leave it out")
        return lines[1:]
    handed.mistaken("header_line", "line 1 looks like a header; leave it out", cleaned_up=False)
    if len(lines) == len(questions):
        handed.doubted("header_line", "line 1 looks like a header, and then a prediction is missing")
    return lines


def _without_questions(lines: list[str], questions: Sequence[Question], handed: Handed) -> list[str]:
    """`question<TAB>place`, or the model's whole output `question⁇place⁇`: every place goes to its question."""
    texts = [question.text for question in questions]
    asked = [re.split(r"(?<=\?)\s*[\t,;:|⁇]", line, maxsplit=1) for line in lines]
    known = [parts[0].strip() for parts in asked if parts[0].strip() in set(texts)]
    if not known:
        if len(lines) == len(questions) and (tabbed := _where(lines, lambda line: "\t" in line.strip())):
            told = f"there is a tab in {numbered(tabbed)}; write the {handed.called} alone"
            handed.mistaken("tabs_in_lines", told, cleaned_up=False)
        return lines
    handed.mistaken("questions_in_lines", f"lines hold the question too; write the {handed.called} alone")
    said = [parts[1].split("⁇")[0] if len(parts) > 1 else "" for parts in asked]
    moved = [number for number, (parts, text) in enumerate(zip(asked, texts, strict=False), 1) if parts[0] != text]
    if not moved and len(lines) == len(questions):
        return said
    if len(known) < len(lines) or len(set(known)) < len(known) or len(set(texts)) < len(texts):
        why = f"the question in {numbered(moved or [len(lines)])} is not the one asked there"
        handed.doubted("other_questions", why)
        return said
    by_question = dict(zip(known, said, strict=True))
    if unanswered := [number for number, text in enumerate(texts, start=1) if text not in by_question]:
        handed.mistaken("questions_unanswered", f"the question of {numbered(unanswered)} is not answered")
    if known != [text for text in texts if text in by_question]:
        handed.mistaken("questions_reordered", f"{numbered(moved)} are in another order than the questions")
    return [by_question.get(text, "") for text in texts]


def _without_numbers(lines: list[str], handed: Handed) -> list[str]:
    found = [_NUMBERED.fullmatch(line) for line in lines]
    counted = [int(match[1]) for match in found if match]
    if not lines or counted not in (list(range(len(lines))), list(range(1, len(lines) + 1))):
        return lines
    handed.mistaken("lines_numbered", f"lines are numbered; write the {handed.called} alone")
    return [match[2] for match in found if match]


def _without_quotes(lines: list[str], handed: Handed) -> list[str]:
    """Only if every line wears them: a place may have a quotation mark of its own."""
    bare = [line.strip().removesuffix(",") for line in lines]
    written = [line for line in bare if line]
    if not written or not all(len(line) > 1 and _QUOTES.get(line[0]) == line[-1] for line in written):
        return lines
    handed.mistaken("lines_quoted", f"{several(handed.called)} are in quotation marks; leave them out")
    return [line[1:-1] for line in bare]


def _remark_on_what_is_no_place(handed: Handed) -> None:
    kinds: dict[str, Callable[[str], bool]] = {
        "empty": lambda place: not place,
        f"filled with the pad character {PAD}": lambda place: bool(place) and not place.strip(PAD),
        f"padded with {PAD}": lambda place: PAD in place and bool(place.strip(PAD)),
        "JSON": lambda place: place.startswith(("{", "[")),
        f"longer than any {handed.called}": lambda place: len(place) > _LONGEST_PLACE,
    }
    for kind, fits in kinds.items():
        if odd := _where(handed.places, fits):
            few = len(odd) <= _FEW * len(handed.places)
            told = f"{numbered(odd)} {'are' if len(odd) > 1 else 'is'} {kind}"
            if few:
                handed.harmless.append(told)
            else:
                handed.mistaken("no_predictions", told, cleaned_up=False)
    handed.places = [place if len(place) <= _LONGEST_PLACE else "" for place in handed.places]
