"""Random text and damaged answers through the whole formula reader, in one process: nothing may crash, hang or run.

python -m tests.formulas.fuzzing 300000
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.formula_corpus import entries
from grader.answers import cut_into_parts
from grader.errors import StudentFault
from grader.formulas.answer.asked_for import AskedName, judged
from grader.formulas.answer.statements import Statements
from grader.formulas.provers import extraction, weights
from grader.formulas.provers.verdicts import Verdict
from grader.formulas.typing.shapes import Typed

PARTS = ["1.b.i", "1.b.ii"]
SLOW_SECONDS = 2.0
PIECES = [
    "\\",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "^",
    "_",
    "$",
    "$$",
    "=",
    "\\frac",
    "\\sum_{i=1}^m",
    "\\left(",
    "\\right)",
    "\\top",
    "\\beta",
    "k_a",
    "k_b",
    "A",
    "B",
    "^T",
    "'",
    ".T",
    " @ ",
    "1e9",
    "10^{9}",
    "\\\\",
    "&",
    "`",
    "```",
    "\n",
    "\n\n",
    "# ",
    "\\begin{align}",
    "\\end{align}",
    "\\text{",
    "\\mathbf{",
    "∑",
    "ᵀ",
    "ₐ",
    "√",
    "½",
    "\u202e",
    "\u200b",
    "\x00",
    "\x1b[31m",
    "__",
    "os.system",
    "lambda",
    "...",
    "\\ldots",
    "‖",
    "|",
    "\\|",
    "≫",
    "→",
    ",",
    ";",
    ":",
    "%",
    "#",
    "~",
    "\\hat{",
    "9",
    "a_i",
    "\\in",
    "{{",
    "}}",
    "\\operatorname{softmax}",
]


def damaged(text: str, rng: random.Random) -> str:
    """The text with a few characters or pieces lost, doubled, moved or put in."""
    letters = list(text)
    for _ in range(rng.randint(1, 6)):
        place = rng.randint(0, len(letters))
        match rng.randint(0, 4):
            case 0:
                letters[place:place] = list(rng.choice(PIECES))
            case 1:
                del letters[place : place + rng.randint(1, 5)]
            case 2:
                letters[place:place] = letters[place : place + rng.randint(1, 12)]
            case 3:
                letters[place:place] = list(rng.choice(PIECES) * rng.randint(2, 30))
            case 4:
                end = rng.randint(0, len(letters))
                letters[place:end] = reversed(letters[place:end])
    return "".join(letters)


def random_text(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 40)))
    return "".join(chr(rng.choice([rng.randint(32, 126), rng.randint(0, 0x2FFF)])) for _ in range(rng.randint(1, 80)))


def judged_in_process(text: str, part: str) -> str:
    """`passed`, `partial`, `failed`, or `undecided`; anything else that happens is a fault of ours."""
    try:
        answers = cut_into_parts(text, "answers.md", PARTS)
    except StudentFault:
        return "refused"
    if part not in answers.parts:
        return "absent"
    rng = np.random.default_rng(0)
    if part == "1.b.i":
        question, vocabulary = AskedName("M", expected=extraction.EXPECTED), extraction.VOCABULARY
    else:
        question, vocabulary = AskedName("q", expected=("d", "1")), SETTING.vocabulary("q")

    def judge(found: Typed, statements: Statements, proposed: object) -> Verdict:
        if part == "1.b.i":
            return extraction.judge(found, rng)
        sizes = {symbol: statements.claim_about(symbol) for symbol in vocabulary.free(found.expression)}
        half = Fraction(1, 2)
        return weights.judge(found, weights.Query(found.expression, sizes, SETTING), {"a": half, "b": half}, "q", rng)

    verdict = judged(answers.parts[part], vocabulary, question, judge)
    return "undecided" if verdict.score is None else {0: "failed", 1: "passed"}.get(float(verdict.score), "partial")


SETTING = weights.Setting()


def fuzz(count: int, seed: int) -> tuple[Counter[str], float]:
    """What became of `count` inputs, and the longest time one took."""
    rng = random.Random(seed)
    texts = [(entry.part, entry.text) for entry in entries() if entry.part in PARTS and len(entry.text) < 2000]
    tally: Counter[str] = Counter()
    slowest = 0.0
    here = set(Path.cwd().iterdir())
    for _ in range(count):
        part, text = rng.choice(texts)
        damaged_text = damaged(text, rng) if rng.random() < 0.7 else f"# {part}\n\n{random_text(rng)}"
        began = time.process_time()
        try:
            tally[judged_in_process(damaged_text, part)] += 1
        except Exception as error:
            raise AssertionError(f"{damaged_text!r} raised {type(error).__name__}: {error}") from error
        spent = time.process_time() - began
        slowest = max(slowest, spent)
        assert spent < SLOW_SECONDS, f"{damaged_text!r} took {spent:.1f} s"
    assert set(Path.cwd().iterdir()) == here, "something was written"
    return tally, slowest


if __name__ == "__main__":
    found, longest = fuzz(int(sys.argv[1]), seed=int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(f"{sum(found.values()):,} inputs, longest {longest:.2f} s of processor time: {dict(found)}")
