"""A prediction file as it was submitted → its predictions, and everything about it that is not as asked.

Asked for is UTF-8 text, one prediction per line, in the order of the questions. Where a mistake leaves no doubt which
prediction answers which question, it is undone and reported; where it leaves a doubt, nothing is scored. Remarks hold
line numbers; of the file's words they quote only what is no prediction. Lines are taken out (those of another program,
blank ones, a part that is there twice) only where their number is that of the surplus, so that which line answers what
stays beyond doubt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from pydantic import TypeAdapter, ValidationError

from grader.checks.predictions.label_files import Split
from grader.quoting import quote

_LINES_NAMED = 5
_FEW = 0.1  # a weak model may leave some answers empty: they are wrong, but the file is what was asked for
_BLANKS = 20  # between a question and what separates it from its answer
_LONGEST = 200  # characters; real labels stay below 60, and what is longer is not worth normalising
_ABOUT_PREDICTIONS = "answer answers label labels output outputs predicted prediction predictions"
_ABOUT_LINES = "id idx index name no number of question result target text the"
_HEADER_WORDS = frozenset(f"{_ABOUT_PREDICTIONS} {_ABOUT_LINES}".split())
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}
_NUMBERED = re.compile(r"\s*(\d{1,9})\s*[.):,;\t ]\s*(.*)", re.DOTALL)
_STRAYS_QUOTED = 2
_QUOTED_CHARACTERS = 60
_SHORTEST_BLOCK = 5  # lines: by chance, fewer may follow each other twice
_TEXT_IS_LIKELY = 0.5  # of the lines: a finetuned model leaves some answers unfinished
# What programs print: a bare number, a number with a sign that no label has, or a word about results and a number.
_REPORT = re.compile(
    r"[-+]?\d+(?:[.,]\d+)?(?:e-?\d+)?\s*%?"
    r"|.*\d\s*%.*"
    r"|.*\d+\s*(?:it\b|it/s|s/it).*"
    r"|.*\b(?:accuracy|acc|correct|loss|epoch|score|parameters|characters|unique|out of|warning|error)\b.*\d.*"
    r"|.*\d.*\b(?:correct|accuracy|parameters|characters|unique)\b.*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_CLAUSE_WORDS = "and at by for from in is of on or that the to was were where which who with"
_BEGINS_A_CLAUSE = frozenset(_CLAUSE_WORDS.split())


@dataclass(frozen=True)
class Form:
    """How predictions are written: what feedback calls one, and the characters that a model writes next to it."""

    called: str = "label"
    pad: str = ""  # fills it up
    separator: str = ""  # stands between a question and its answer, and ends the answer


@dataclass(eq=False)
class PredictionFile:
    """Its predictions, one for each line, and what was noticed on the way to them."""

    called: str = "label"
    predictions: list[str] = field(default_factory=list)
    harmless: list[str] = field(default_factory=list)  # reported, but costs nothing
    mistakes: list[str] = field(default_factory=list)  # not as asked, and yet it is plain what was meant
    needed_cleanup: bool = False  # the course's own script would not have read these predictions
    doubt: str = ""  # why it is unclear which question a line belongs to
    code: str = ""  # of the doubt, or of the first mistake; of those that needed cleanup, if there are any

    def add_mistake(self, code: str, what: str, *, cleaned_up: bool = True) -> None:
        self.mistakes.append(what)
        if not self.code or (cleaned_up and not self.needed_cleanup and not self.doubt):
            self.code = code
        self.needed_cleanup |= cleaned_up

    def set_doubt(self, code: str, reason: str) -> None:
        self.code, self.doubt = code, reason

    def set_no_text(self) -> None:
        self.set_doubt("not_text", f"it is no text file; hand in one {self.called} per line, as UTF-8")


def several(called: str) -> str:
    """Labels, classes, categories."""
    if called.endswith(("s", "x", "ch", "sh")):
        return f"{called}es"
    return f"{called[:-1]}ies" if called.endswith("y") else f"{called}s"


def read_predictions(content: bytes, split: Split, form: Form) -> PredictionFile:
    file, asked, known = PredictionFile(form.called), len(split.questions), set(split.labels)
    # Millions of lines are counted and not taken apart: as text they would fill the grader's memory.
    ends = max(content.count(b"\n"), content.count(b"\r"))
    text = "" if _are_far_too_many(ends, "lines", asked, file) else _decoded(content, file)
    lines = _split_into_lines(text, file)
    lines = _without_surplus_blanks(lines, asked, file)
    if len(lines) != asked:
        lines = _from_json(text, lines, asked, file)
    lines = _without_strays(lines, asked, known, file)
    lines = _without_repeats(lines, asked, file)
    lines = _without_header(lines, split, known, file)
    lines = _without_questions(lines, [question.text for question in split.questions], form.separator, file)
    lines = _without_numbers(lines, file)
    lines = _without_quotes(lines, file)
    if spaced := _where(lines, lambda line: line != line.strip()):
        file.harmless.append(f"spaces around the {form.called} in {numbered(spaced)}")
    file.predictions = [line.strip() for line in lines]
    _remark_on_odd_predictions(file, form.pad)
    return file


def numbered(numbers: Sequence[int]) -> str:
    """A few line numbers, never thousands."""
    shown = ", ".join(str(number) for number in numbers[:_LINES_NAMED])
    more = f" and {len(numbers) - _LINES_NAMED} more" if len(numbers) > _LINES_NAMED else ""
    return f"line{'s' if len(numbers) > 1 else ''} {shown}{more}"


def _where(lines: Sequence[str], odd: Callable[[str], bool]) -> list[int]:
    return [number for number, line in enumerate(lines, start=1) if odd(line)]


def _are_far_too_many(count: int, what: str, asked: int, file: PredictionFile) -> bool:
    if far := count > 10 * asked + 1000:
        file.set_doubt("wrong_line_count", f"it has {count} {what}, and {asked} were asked for")
    return far


def _decoded(content: bytes, file: PredictionFile) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or content[1:2] == b"\0" or content[:1] == b"\0":
        # Without a mark, a zero byte in first or second place tells big from little endian.
        codec = "utf-16" if content[:1] > b"\xf0" else "utf-16-le" if content[1:2] == b"\0" else "utf-16-be"
        try:
            text = content.decode(codec)
        except UnicodeDecodeError:
            file.set_no_text()
            return ""
        file.add_mistake("not_utf8", "it is UTF-16 text; save it as UTF-8")
        return text
    if b"\0" in content:
        file.set_no_text()
        return ""
    if content.startswith(b"\xef\xbb\xbf"):
        file.harmless.append("a byte order mark at the beginning")
        content = content[3:]
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raw = content.split(b"\n")
        broken = [number for number, line in enumerate(raw, start=1) if not _is_utf8(line)]
        file.add_mistake("not_utf8", f"no UTF-8 in {numbered(broken)}, read as Latin-1; save it as UTF-8")
        return "\n".join(line.decode("utf-8" if _is_utf8(line) else "latin-1") for line in raw)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _split_into_lines(text: str, file: PredictionFile) -> list[str]:
    """Only the newline ends a line, so that no exotic separator shifts the count; or, in a file without, the return."""
    if "\n" not in text and "\r" in text:
        file.add_mistake("carriage_returns", "its lines end in a carriage return alone; end them in a newline")
        text = text.replace("\r", "\n")
    lines = text.removesuffix("\n").split("\n") if text else []
    if any(line.endswith("\r") for line in lines):
        file.harmless.append("lines end as on Windows")
    return [line.removesuffix("\r") for line in lines]


def _without_surplus_blanks(lines: list[str], asked: int, file: PredictionFile) -> list[str]:
    """Blank lines at the end, beyond the count asked for. Within the count they are answers that were left empty."""
    end = len(lines)
    while end > asked and not lines[end - 1].strip():
        end -= 1
    if end < len(lines):
        file.harmless.append(f"blank lines at the end ({len(lines) - end})")
    return lines[:end]


def _from_json(text: str, lines: list[str], asked: int, file: PredictionFile) -> list[str]:
    if not text.lstrip().startswith("["):
        return lines
    try:
        value = TypeAdapter(list[str]).validate_json(text, strict=True)
    except ValidationError:
        return lines
    if _are_far_too_many(len(value), f"{several(file.called)} in a JSON list", asked, file):
        return []
    file.add_mistake("json_list", f"it is a JSON list; write one {file.called} per line")
    return value


def _without_strays(lines: list[str], asked: int, known: set[str], file: PredictionFile) -> list[str]:
    """What programs print about their work, or blank lines, if they are all that is too much."""
    surplus = len(lines) - asked
    reports, blank = _where(lines, lambda line: _is_report(line, known)), _where(lines, lambda line: not line.strip())
    if 0 < surplus == len(reports):
        quoted = ", ".join(f"'{quote(lines[at - 1].strip(), _QUOTED_CHARACTERS)}'" for at in reports[:_STRAYS_QUOTED])
        kind = f"is no {file.called}" if surplus == 1 else f"are no {several(file.called)}"
        file.add_mistake("stray_lines", f"{numbered(reports)} {kind}: {quoted}")
        return [line for line in lines if not _is_report(line, known)]
    if 0 < surplus == len(blank):
        kind = "is blank; leave it out" if surplus == 1 else "are blank; leave them out"
        file.add_mistake("blank_lines", f"{numbered(blank)} {kind}")
        return [line for line in lines if line.strip()]
    if reports and surplus == 0 and reports[0] == 1 and reports[-1] < asked:
        first = quote(lines[0].strip(), _QUOTED_CHARACTERS)
        file.set_doubt("stray_lines", f"line 1 is no {file.called} ('{first}'), and then a prediction is missing")
    return lines


def _is_report(line: str, known: Collection[str]) -> bool:
    """Whether a program printed this about its work: no label, unless it is a known one."""
    return line.strip() not in known and bool(_REPORT.fullmatch(line.strip()[:300]))


def _without_repeats(lines: list[str], asked: int, file: PredictionFile) -> list[str]:
    """The whole file once more, or a block of it: what was written twice counts once."""
    times, surplus = len(lines) // asked, len(lines) - asked
    if times > 1 and lines == lines[:asked] * times:
        file.add_mistake("repeated_lines", f"the same {asked} lines stand there {times} times")
        return lines[:asked]
    for start in range(surplus, asked + 1) if surplus >= _SHORTEST_BLOCK else ():
        end = start + surplus
        if lines[start:end] == lines[start - surplus : start] and len(set(lines[start:end])) >= _SHORTEST_BLOCK:
            file.add_mistake("repeated_lines", f"lines {start + 1} to {end} repeat the {surplus} before")
            return lines[:start] + lines[end:]
    return lines


def _without_header(lines: list[str], split: Split, known: set[str], file: PredictionFile) -> list[str]:
    """A first line of words about predictions: general ones, what the rubric calls one, the name of the split."""
    words = _WORD.findall(lines[0][:_LONGEST].lower()) if lines else []
    about = _HEADER_WORDS.union(_WORD.findall(split.name.lower()))
    is_about = (word in about or file.called in word for word in words)
    if not words or lines[0].strip() in known or not all(is_about):
        return lines
    if len(lines) == len(split.questions) + 1:
        file.add_mistake("header_line", "line 1 is a header; leave it out")
        return lines[1:]
    file.add_mistake("header_line", "line 1 looks like a header; leave it out", cleaned_up=False)
    if len(lines) == len(split.questions):
        file.set_doubt("header_line", "line 1 looks like a header, and then a prediction is missing")
    return lines


def _without_questions(lines: list[str], texts: Sequence[str], separator: str, file: PredictionFile) -> list[str]:
    """`question<TAB>label`, or a model's whole output `question⁇label⁇`: every label goes to its question."""
    known = set(texts)
    separators = re.compile(rf"\s*[\t,;:|{re.escape(separator)}]")
    longest = max(map(len, texts), default=0) + _BLANKS
    pairs = [_question_and_answer(line.strip(), known, separators, longest) for line in lines]
    answered = [text for text, _ in pairs if text in known]
    if not answered:
        if len(lines) == len(texts) and (tabbed := _where(lines, lambda line: "\t" in line.strip())):
            what = f"there is a tab in {numbered(tabbed)}; write the {file.called} alone"
            file.add_mistake("tabs_in_lines", what, cleaned_up=False)
        return lines
    file.add_mistake("questions_in_lines", f"lines hold the question too; write the {file.called} alone")
    answers = [answer.split(separator)[0] if separator else answer for _, answer in pairs]
    moved = [number for number, ((asked, _), text) in enumerate(zip(pairs, texts, strict=False), 1) if asked != text]
    if not moved and len(lines) == len(texts):
        return answers
    if len(answered) < len(lines) or len(set(answered)) < len(answered) or len(known) < len(texts):
        file.set_doubt(
            "other_questions", f"the question in {numbered(moved or [len(lines)])} is not the one asked there"
        )
        return answers
    by_question = dict(zip(answered, answers, strict=True))
    if unanswered := [number for number, text in enumerate(texts, start=1) if text not in by_question]:
        file.add_mistake("questions_unanswered", f"the question of {numbered(unanswered)} is not answered")
    if answered != [text for text in texts if text in by_question]:
        file.add_mistake("questions_reordered", f"{numbered(moved)} are in another order than the questions")
    return [by_question.get(text, "") for text in texts]


def _question_and_answer(line: str, questions: set[str], separators: re.Pattern[str], longest: int) -> tuple[str, str]:
    """A line's question and the answer after it; the whole line, if no question is in it."""
    if line in questions:
        return line, ""
    splits = ((line[: match.start()], line[match.end() :]) for match in separators.finditer(line, 0, longest))
    return next((pair for pair in splits if pair[0] in questions), (line, ""))


def _without_numbers(lines: list[str], file: PredictionFile) -> list[str]:
    matches = [_NUMBERED.fullmatch(line) for line in lines]
    counted = [int(match[1]) for match in matches if match]
    if not lines or counted not in (list(range(len(lines))), list(range(1, len(lines) + 1))):
        return lines
    file.add_mistake("lines_numbered", f"lines are numbered; write the {file.called} alone")
    return [match[2] for match in matches if match]


def _without_quotes(lines: list[str], file: PredictionFile) -> list[str]:
    """Only if every line wears them: a label may have a quotation mark of its own."""
    bare = [line.strip().removesuffix(",") for line in lines]
    written = [line for line in bare if line]
    if not written or not all(len(line) > 1 and _QUOTES.get(line[0]) == line[-1] for line in written):
        return lines
    file.add_mistake("lines_quoted", f"{several(file.called)} are in quotation marks; leave them out")
    return [line[1:-1] for line in bare]


def _remark_on_odd_predictions(file: PredictionFile, pad: str) -> None:
    kinds: dict[str, Callable[[str], bool]] = {
        "empty": lambda text: not text,
        "JSON": lambda text: text.startswith(("{", "[")),
        f"longer than any {file.called}": lambda text: len(text) > _LONGEST,
    }
    if pad:
        kinds[f"filled with the pad character {pad}"] = lambda text: bool(text) and not text.strip(pad)
        kinds[f"padded with {pad}"] = lambda text: pad in text and bool(text.strip(pad))
    for kind, fits in kinds.items():
        if odd := _where(file.predictions, fits):
            what = f"{numbered(odd)} {'are' if len(odd) > 1 else 'is'} {kind}"
            if len(odd) <= _FEW * len(file.predictions):
                file.harmless.append(what)
            else:
                file.add_mistake("no_predictions", what, cleaned_up=False)
    file.predictions = [prediction if len(prediction) <= _LONGEST else "" for prediction in file.predictions]


def running_text(predictions: Sequence[str], known: Collection[str], special: str) -> str:
    """How many lines are what a language model writes that was not finetuned, if most are; with one of them. `special`
    are the characters of its vocabulary that belong to no text."""
    unfinished = [
        number
        for number, prediction in enumerate(predictions, start=1)
        if prediction not in known and (not set(special).isdisjoint(prediction) or _is_clause(prediction))
    ]
    if len(unfinished) < _TEXT_IS_LIKELY * len(predictions):
        return ""
    first = quote(predictions[unfinished[0] - 1], _QUOTED_CHARACTERS)
    lines = f"{len(unfinished)} of {len(predictions)} lines read like those of a model before finetuning"
    return f"{lines} (line {unfinished[0]}: '{first}')"


def _is_clause(prediction: str) -> bool:
    """Words in small letters with one that begins a clause among them: labels are names, or single words."""
    words = _WORD.findall(prediction)
    if len(words) < 2:
        return False
    if words[0] in _BEGINS_A_CLAUSE or (words[-1] in _BEGINS_A_CLAUSE and len(words) > 2):
        return True
    return sum(word.islower() for word in words) >= 3 and any(word in _BEGINS_A_CLAUSE for word in words)
