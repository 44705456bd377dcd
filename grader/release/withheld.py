"""What must not be in a kit: labels, keys, ideas, hidden checks, the reference solution, staff's code, the secret."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from grader.answers import read_answers
from grader.errors import Missing, RubricError, UsageError
from grader.grading.secret import Secret
from grader.model import Check, Rubric, is_code
from grader.notation.faces import FACES, any_of
from grader.notation.letters import LETTERS
from grader.plugins import Plugin
from grader.proving.proof import load_proof
from grader.registry import KeyToAFormula, SaidInFeedback, defined, options_of, question_of
from grader.release.handout import Handout, starter_files
from grader.rubric.catalogue import known_checks
from grader.rubric.locating import DATA
from grader.similar.material import Numbers
from grader.similar.normalised_tokens import code_material
from grader.similar.winnowing import course_grams
from grader.submission.opening import open_submission

_SHORTEST = 8  # characters of a text or formula: shorter ones stand in any text
_PHRASE = re.compile(r"[\s|_=]")  # what a single ordinary word has not
_LINES_IN_A_ROW = 6
_WORDS_IN_A_ROW = 8
_TOKENS_IN_A_ROW = 40  # about four lines of code: fewer, anybody writes alike
_SHORTEST_FORMULA = 5  # characters of `W=UVT`
_WORD = re.compile(r"\w+")
_SPELLINGS = {r"\top": "T", "ᵀ": "T", r"\approx": "≈"} | {f"\\{name}": letter for name, letter in LETTERS.items()}
_CLAUSES = re.compile(r"[,;]|\\q?quad|\n")
_LONG_FACES = [name for name in FACES if name.startswith("math")]  # of others the letters may be part of a word
_UNSEEN_IN_FORMULAS = re.compile(r"[\s\\{}$^_*·⋅,.]|arg|left|right|quad|cdot|" + any_of(_LONG_FACES))

Run = tuple[str, ...]


def words(text: str) -> Run:
    return tuple(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def squeezed(text: str) -> str:
    """A formula, however it is spaced and whether in LaTeX or not: `W = U V^\\top` is W=UVT."""
    for spelled, letter in _SPELLINGS.items():
        text = text.replace(spelled, letter)
    return _UNSEEN_IN_FORMULAS.sub("", unicodedata.normalize("NFKC", text))


def grams(text: str) -> Numbers:
    """Hashes of so many tokens of code in a row, whatever its names and numbers are."""
    return course_grams(code_material({"": text})[0].tokens, _TOKENS_IN_A_ROW)


@dataclass(frozen=True)
class Withheld:
    """Each kind in the form it is searched in, with what it is called when it is found."""

    runs: dict[Run, str] = field(default_factory=dict)  # words in a row
    formulas: dict[str, str] = field(default_factory=dict)
    code: dict[str, Numbers] = field(default_factory=dict)  # hashes by file


def withheld_from(rubric: Rubric, public: str, handout: Handout, data: Path | None, secret: Secret | None) -> Withheld:
    """`public` is the part of the rubric that students get."""
    found = Withheld()
    checks = [check for problem in rubric.problems for check in problem.every_check]
    told = " ".join([public, *known_checks(), *(problem.title for problem in rubric.problems), *map(_told, checks)])
    texts = [text for check in checks for text in _kept_back(check)]
    runs = {words(text) for text in texts if len(text) >= _SHORTEST and _PHRASE.search(text)} - {()}
    found.runs.update(dict.fromkeys(runs - set(runs_in(words(told), runs)), "a text that only staff have"))
    for key in (key for check in checks for key in _marked(check, KeyToAFormula)):
        if len(squeezed(key)) >= _SHORTEST:
            found.formulas[squeezed(key)] = "the key to a formula"
    for folder in (data, rubric.folder / DATA):
        for path in sorted(folder.glob("*")) if folder else ():
            if path.name not in handout.data:
                found.runs.update(dict.fromkeys(_labels(path), f"labels of {path.name}"))
    if secret is not None:
        found.runs.update({words(secret.text): "the secret", words(secret.fingerprint): "the secret's fingerprint"})
    plugin = Plugin(rubric.folder)
    own = {name: path for name, path in plugin.modules.items() if plugin.room_of(name) == "checks"}
    found.code.update({path.name: grams(path.read_text(encoding="utf-8")) for path in own.values()})
    _add_solution(found, rubric)
    given = [grams(text.decode("utf-8", "replace")) for name, text in starter_files(rubric).items() if is_code(name)]
    # What the solution keeps of the starter, students have anyway.
    known = np.concatenate([np.zeros(0, dtype=np.uint64), *given])
    found.code.update({name: hashes[~np.isin(hashes, known)] for name, hashes in found.code.items()})
    return found


def runs_in(said: Run, known: Iterable[Run]) -> Iterator[Run]:
    """Those of many runs of words that a text holds, in one pass."""
    by_first: dict[str, list[Run]] = {}
    for run in known:
        by_first.setdefault(run[0], []).append(run)
    for at, word in enumerate(said):
        yield from (run for run in by_first.get(word, ()) if said[at : at + len(run)] == run)


def _told(check: Check) -> str:
    """What students read of a check, now or with their feedback."""
    said = [question_of(check), *options_of(check).values(), *_marked(check, SaidInFeedback), *check.names]
    return "\n".join([*said, check.id, check.summary] if check.visibility == "public" else said)


def _kept_back(check: Check) -> Iterator[str]:
    if check.visibility == "hidden":
        yield from (check.id, check.summary)
    known = defined(check).parameters
    yield from _leaves([value for name, value in check.parameters.items() if known[name].holds_the_answer])


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, BaseModel):
        value = value.model_dump()
    if isinstance(value, dict | list | tuple):
        yield from (text for one in (value.values() if isinstance(value, dict) else value) for text in _leaves(one))
    elif isinstance(value, str):
        yield value


def _marked(check: Check, mark: type) -> Iterator[str]:
    """The texts among its parameters that are so marked, or stand in fields that are."""
    known = defined(check).parameters
    for name, value in check.parameters.items():
        yield from _leaves(value) if known[name].has(mark) else _marked_within(value, mark)


def _marked_within(value: Any, mark: type) -> Iterator[str]:
    if isinstance(value, BaseModel):
        for name, info in type(value).model_fields.items():
            whole = any(isinstance(one, mark) for one in info.metadata)
            yield from _leaves(getattr(value, name)) if whole else _marked_within(getattr(value, name), mark)
    elif isinstance(value, list | tuple):
        yield from (text for one in value for text in _marked_within(one, mark))


def _labels(path: Path) -> Iterator[Run]:
    """`question place` and, without the words that all questions share, `name place`; and places in their order."""
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    pairs = [(words(" ".join(line[:-1])), words(line[-1])) for line in lines if len(line) > 1]
    shared = set.intersection(*(set(question) for question, _ in pairs)) if pairs else set()
    for question, place in pairs:
        yield (*question, *place)
        if name := [word for word in question if word not in shared]:
            yield (*name, *place)
    places = [place for _, place in pairs]
    for first in range(len(places) - _LINES_IN_A_ROW + 1):
        yield tuple(word for place in places[first : first + _LINES_IN_A_ROW] for word in place)


def _add_solution(found: Withheld, rubric: Rubric) -> None:
    """The right submission that proves the rubric, if there is one: its code, its formulas, its sentences."""
    try:
        proof = load_proof(rubric)
    except (RubricError, UsageError):
        return
    with open_submission(proof.submissions / proof.gold) as solution:
        for file in filter(is_code, solution.files):
            found.code[f"{proof.gold}/{file}"] = grams((solution.folder / file).read_text(encoding="utf-8"))
        try:
            answers = read_answers(solution, rubric.parts)
        except Missing:
            return
    for part, answer in answers.parts.items():
        for piece in answer.pieces:
            for formula in map(squeezed, _CLAUSES.split(piece.text) if piece.kind == "math" else ()):
                if "=" in formula and len(formula) >= _SHORTEST_FORMULA:
                    found.formulas[formula] = f"a right formula for {part}"
        said = words(answer.prose)
        for first in range(len(said) - _WORDS_IN_A_ROW + 1):
            found.runs[said[first : first + _WORDS_IN_A_ROW]] = f"a right answer to {part}"
