"""A search of the kit for what must not be in it: by content, whatever files are called. A seat belt: a kit is made of
what is public. The wheel in it is not searched, since everybody may have that."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, log2
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from grader.answers import read_answers
from grader.errors import Missing
from grader.grading.secret import Secret
from grader.model import Rubric, is_code
from grader.notation.faces import FACES, any_of
from grader.notation.letters import LETTERS
from grader.proving.proof import Proof
from grader.registry import SaidInFeedback, defined
from grader.release.handout import Handout
from grader.rubric.catalogue import known_checks
from grader.rubric.locating import DATA
from grader.similar.material import Numbers
from grader.similar.normalised_tokens import code_material
from grader.similar.winnowing import course_grams
from grader.submission.opening import OpenedSubmission, open_submission
from grader.submission.starter_code import starter_folder

_SHORTEST = 8  # letters that are left of a text: fewer stand anywhere; of a formula three less
_WORDS_IN_A_ROW = 8
_BITS_IN_A_ROW = 40  # of labels: so many agree by chance once in 10¹² places
_TOKENS_IN_A_ROW = 40  # about four lines of code: fewer, anybody writes alike
_SPELLINGS = {r"\top": "T", r"\approx": "≈"} | {f"\\{name}": letter for name, letter in LETTERS.items()}
_CLAUSES = re.compile(r"[,;]|\\q?quad|\n")
_FACES = any_of([name for name in FACES if name.startswith("math")])  # of others the letters may be part of a word
_UNSEEN = re.compile(rf"[^\w=+\-/<>()≈]|_|arg|left|right|quad|cdot|{_FACES}")


def plain(text: str) -> str:
    """A text or formula, however it is spaced and set: `W = U V^\\top` is w=uvt."""
    for spelled, letter in _SPELLINGS.items():
        text = text.replace(spelled, letter)
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).casefold()


def grams(text: str) -> Numbers:
    """Hashes of so many tokens of code in a row, whatever its names and numbers are."""
    return course_grams(code_material({"": text})[0].tokens, _TOKENS_IN_A_ROW)


@dataclass(frozen=True)
class Withheld:
    texts: Mapping[str, str]  # what must not be found, and what it is
    code: Mapping[str, Numbers]  # hashes, by where they are from


def leaks_in(folder: Path, kept: Withheld) -> list[str]:
    found: dict[str, None] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        where, text = path.relative_to(folder).as_posix(), path.read_bytes().decode("utf-8", errors="replace")
        said, code = plain(f"{where} {text}"), grams(text)
        found |= dict.fromkeys(f"{where}: {what}" for secret, what in kept.texts.items() if secret in said)
        copied = (file for file, hashes in kept.code.items() if np.isin(code, hashes).any())
        found |= dict.fromkeys(f"{where}: code of {file}" for file in copied)
    return list(found)


def withheld_from(
    rubric: Rubric, public: str, handout: Handout, data: Path | None, secret: Secret | None, proof: Proof | None
) -> Withheld:
    """`public` is what was made for students from the rubric."""
    told = plain(" ".join([public, *known_checks()]))  # the harness's own names are no secrets
    texts = [(text, f"an answer in the rubric: {text}") for text in _answers_in(rubric) if plain(text) not in told]
    for path in (path for folder in (data, rubric.folder / DATA) if folder for path in sorted(folder.glob("*"))):
        if path.name not in handout.data:
            texts += [(text, f"labels of {path.name}") for text in _labels(path)]
    if secret is not None:
        texts += [(secret.text, "the secret"), (secret.fingerprint, "the secret's fingerprint")]
    code: dict[str, Numbers] = {}
    if proof is not None:
        with open_submission(proof.submissions / proof.gold) as solution:
            texts += _answers_of(solution, rubric)
            for file in filter(is_code, solution.files):
                code[f"{proof.gold}/{file}"] = grams((solution.folder / file).read_text(encoding="utf-8"))
    # What the solution keeps of the starter, students have anyway. Whether the starter is a solution is tried.
    for path in starter_folder(rubric).rglob("*.py"):
        given = grams(path.read_text(encoding="utf-8", errors="replace"))
        code = {name: hashes[~np.isin(hashes, given)] for name, hashes in code.items()}
    short = {plain(text): what for text, what in texts}
    return Withheld({text: short[text] for text in short if len(text) + 3 * bool({*"=+"} & {*text}) >= _SHORTEST}, code)


def _answers_in(rubric: Rubric) -> Iterator[str]:
    """Phrases and formulas, but no single words, and nothing that students read in feedback."""
    for check in (check for problem in rubric.problems for check in problem.every_check):
        known = defined(check).parameters
        answers = [value for name, value in check.parameters.items() if known[name].holds_the_answer]
        yield from (text for text in _leaves(answers) if re.search(r"[\s|=]", text))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, BaseModel):
        fields = type(value).model_fields.items()
        said = {name for name, info in fields if any(isinstance(one, SaidInFeedback) for one in info.metadata)}
        value = {name: getattr(value, name) for name, _ in fields if name not in said}
    if isinstance(value, dict | list | tuple):
        yield from (text for one in (value.values() if isinstance(value, dict) else value) for text in _leaves(one))
    elif isinstance(value, str):
        yield value


def _labels(path: Path) -> Iterator[str]:
    """A question with its label and, without the words that all questions share, a name with it; labels in a row."""
    lines = [line.rpartition("\t") for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    pairs = [(question.split(), label) for question, tab, label in lines if tab]
    shared = set(pairs[0][0]).intersection(*(question for question, _ in pairs)) if pairs else set[str]()
    for question, label in pairs:
        yield " ".join([*question, label])
        yield " ".join([*(word for word in question if word not in shared), label])
    kinds = max(2, len({label for _, label in pairs}))
    yield from _in_a_row([label for _, label in pairs], ceil(_BITS_IN_A_ROW / log2(kinds)))  # no more comes by chance


def _in_a_row(texts: Sequence[str], count: int) -> Iterator[str]:
    yield from map(" ".join, zip(*(texts[first:] for first in range(count)), strict=False))


def _answers_of(solution: OpenedSubmission, rubric: Rubric) -> Iterator[tuple[str, str]]:
    """The formulas and sentences of a right submission."""
    with suppress(Missing):
        for part, answer in read_answers(solution, rubric.parts).parts.items():
            checks = [check for problem in rubric.problems if problem.id == part for check in problem.every_check]
            names = {plain(text) for check in checks for text in _leaves(check.parameters)}
            math = (clause for piece in answer.pieces if piece.kind == "math" for clause in _CLAUSES.split(piece.text))
            formulas = (formula for formula in math if plain(formula).partition("=")[0] in names)
            yield from ((formula, f"a right formula for {part}") for formula in formulas)
            said = _in_a_row(answer.prose.split(), _WORDS_IN_A_ROW)
            yield from ((words, f"a right answer to {part}") for words in said)
