"""Random text and damaged answers through the whole formula reader, in one process: nothing may crash, hang or run.

python -m tests.formulas.fuzzing 300000
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.formula_corpus import Entry, Grader, entries
from tests.formulas.conftest import in_one_process

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


def fuzz(count: int, seed: int, grader: Grader) -> tuple[Counter[str], float]:
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
            tally[grader(Entry("", part, damaged_text, "answers.md", "", "")).verdict] += 1
        except Exception as error:
            raise AssertionError(f"{damaged_text!r} raised {type(error).__name__}: {error}") from error
        spent = time.process_time() - began
        slowest = max(slowest, spent)
        assert spent < SLOW_SECONDS, f"{damaged_text!r} took {spent:.1f} s"
    assert set(Path.cwd().iterdir()) == here, "something was written"
    return tally, slowest


if __name__ == "__main__":
    with in_one_process():
        found, longest = fuzz(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, Grader())
    print(f"{sum(found.values()):,} inputs, longest {longest:.2f} s of processor time: {dict(found)}")
