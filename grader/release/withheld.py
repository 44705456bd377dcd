"""What must not be in a kit: labels, the reference's functions, texts cut from the rubric, answers, the secret."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from grader.answers import read_answers
from grader.errors import Missing, RubricError, UsageError
from grader.grading.secret import Secret
from grader.model import Check, Rubric, is_code
from grader.notation.faces import FACES, any_of
from grader.notation.letters import LETTERS
from grader.plugins import Plugin
from grader.prose import item_phrased_apart
from grader.proving.proof import load_proof
from grader.registry import KeyToAFormula, SaidInFeedback, choices_in, defined
from grader.release.answers_held import modules_holding_answers
from grader.release.code_similarity import Shape, shapes_in
from grader.release.handout import Handout
from grader.rubric.locating import data_folders
from grader.rubric.yaml_source import read
from grader.submission.opening import open_submission

_SHORTEST = 8  # characters of a text from the rubric: shorter ones stand in any text
_PHRASE = re.compile(r"[\s|_=]")  # what a single ordinary word has not
_PLACES_IN_A_ROW = 6
_WORDS_IN_A_ROW = 8
_SHORTEST_FORMULA = 5  # characters of `W=UVT`
_WORD = re.compile(r"\w+")
_SPELLINGS = {r"\top": "T", "ᵀ": "T", r"\approx": "≈"} | {f"\\{name}": letter for name, letter in LETTERS.items()}
_CLAUSES = re.compile(r"[,;]|\\q?quad|\n")
_LONG_FACES = [name for name in FACES if name.startswith("math")]  # of others the letters may be part of a word
_UNSEEN_IN_FORMULAS = re.compile(r"[\s\\{}$^_*·⋅,.]|arg|left|right|quad|cdot|" + any_of(_LONG_FACES))


def words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def squeezed(text: str) -> str:
    """A formula, however it is spaced and whether in LaTeX or not: `W = U V^\\top` is W=UVT."""
    for spelled, letter in _SPELLINGS.items():
        text = text.replace(spelled, letter)
    return _UNSEEN_IN_FORMULAS.sub("", unicodedata.normalize("NFKC", text))


def one_line(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True)
class Withheld:
    """Each kind in the form it is searched in, with what it is called when it is found."""

    runs: dict[tuple[str, ...], str] = field(default_factory=dict)  # words in a row
    code: list[Shape] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    at_home: dict[str, str] = field(default_factory=dict)  # of a check's name, the file of the grader that defines it
    formulas: dict[str, str] = field(default_factory=dict)


def withheld_from(rubric: Rubric, public: Any, handout: Handout, data: Path | None, secret: Secret | None) -> Withheld:
    found = Withheld()
    for folder in data_folders(rubric.folder, data):
        for path in sorted(folder.glob("*.tsv")):
            if path.name not in handout.data:
                found.runs.update(dict.fromkeys(_labels(path), f"labels of {path.name}"))
    for module in modules_holding_answers():
        found.code.extend(shapes_in(module.path.read_text(encoding="utf-8")))
    plugin = Plugin(rubric.folder)
    for name, path in plugin.modules.items():
        if plugin.room_of(name) == "checks":
            found.code.extend(shapes_in(path.read_text(encoding="utf-8")))
    source = read(rubric.path.read_text(encoding="utf-8")).data
    told = "\n".join(one_line(text) for text in (*_leaves(public), *_names(rubric)))
    ideas = [idea for problem in rubric.problems for check in problem.every_check for idea in _ideas_of(check)]
    cut = _leaves([source, [idea.model_dump() for idea in ideas]])
    said = _marked_anywhere(rubric, SaidInFeedback)
    checks = [check for problem in rubric.problems for check in problem.every_check]
    choices = {
        text for check in checks for one in defined(check).parameters.values() for text in choices_in(one.annotation)
    }
    for text in {one_line(text) for text in cut} - {one_line(text) for text in said} - choices:
        if len(text) >= _SHORTEST and _PHRASE.search(text) and text not in told:
            found.texts[text] = "a text that was cut from the rubric"
    for check in checks:
        found.at_home[check.function.__name__] = f"/{check.function.__module__.replace('.', '/')}.py"
    for key in _marked_anywhere(rubric, KeyToAFormula):
        if len(squeezed(key)) >= _SHORTEST:
            found.formulas[squeezed(key)] = "the key to a formula"
    if secret is not None:
        found.texts.update({secret.text: "the course's secret", secret.fingerprint: "the secret's fingerprint"})
    _add_gold(found, rubric)
    return found


def _ideas_of(check: Check) -> Iterator[Any]:
    """Those, too, that the rubric only names: their phrasings give the answer away as much as their names do."""
    for name, value in check.parameters.items():
        if item_phrased_apart(defined(check).parameters[name].annotation):
            yield from value


def _labels(path: Path) -> Iterator[tuple[str, ...]]:
    """`question place` and, without the words that all questions share, `name place`; and places in their order."""
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [(words(line[0]), words(line[1])) for line in lines if len(line) == 2]
    shared = set.intersection(*(set(question) for question, _ in pairs)) if pairs else set()
    for question, place in pairs:
        yield (*question, *place)
        if name := [word for word in question if word not in shared]:
            yield (*name, *place)
    places = [place for _, place in pairs]
    for first in range(len(places) - _PLACES_IN_A_ROW + 1):
        yield tuple(word for place in places[first : first + _PLACES_IN_A_ROW] for word in place)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        yield from (text for one in (value.values() if isinstance(value, dict) else value) for text in _leaves(one))
    elif isinstance(value, str):
        yield value


def _marked_anywhere(rubric: Rubric, mark: type) -> Iterator[str]:
    """The texts among all parameters that are so marked, or stand in fields that are."""
    for problem in rubric.problems:
        for check in problem.every_check:
            for name, value in check.parameters.items():
                whole = defined(check).parameters[name].has(mark)
                yield from _leaves(value) if whole else _marked_within(value, mark)


def _marked_within(value: Any, mark: type) -> Iterator[str]:
    if isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            whole = any(isinstance(one, mark) for one in field.metadata)
            yield from _leaves(getattr(value, name)) if whole else _marked_within(getattr(value, name), mark)
    elif isinstance(value, list):
        yield from (text for one in value for text in _marked_within(one, mark))


def _names(rubric: Rubric) -> Iterator[str]:
    """Of files and definitions: what is asked of students is told them, whichever check looks at it. And of public
    checks, those too that run after the deadline."""
    for problem in rubric.problems:
        for check in problem.every_check:
            if check.visibility == "public":
                yield from (check.id, check.function.__name__, *_leaves(list(_open_parameters(check))))
            yield from (*check.files, *check.names)
            yield from _file_names(check.parameters.values())


def _open_parameters(check: Check) -> Iterator[Any]:
    known = defined(check)
    yield from (value for name, value in check.parameters.items() if not known.parameters[name].holds_the_answer)


def _file_names(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        yield from (text for text in _leaves(value) if re.fullmatch(r"[\w.\-]+\.(tsv|txt|predictions|py)", text))


def _add_gold(found: Withheld, rubric: Rubric) -> None:
    """The right submission that proves the rubric, if there is one: its code, its formulas, its sentences."""
    try:
        proof = load_proof(rubric)
    except (RubricError, UsageError):
        return
    with open_submission(proof.submissions / proof.gold) as gold:
        for file in gold.files:
            if is_code(file):
                found.code.extend(shapes_in((gold.folder / file).read_text(encoding="utf-8")))
        try:
            answers = read_answers(gold, rubric.parts)
        except Missing:
            return
    for part, answer in answers.parts.items():
        for piece in answer.pieces:
            for formula in map(squeezed, _CLAUSES.split(piece.text) if piece.kind == "math" else ()):
                if "=" in formula and len(formula) >= _SHORTEST_FORMULA:
                    found.formulas[formula] = f"a right formula for {part}"
        said = words(answer.prose)
        for first in range(len(said) - _WORDS_IN_A_ROW + 1):
            found.runs[tuple(said[first : first + _WORDS_IN_A_ROW])] = f"a right answer to {part}"
