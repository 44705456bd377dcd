"""Formula answers judged side by side: this grader, Math-Verify and sympy's parse_latex, where they are installed.

    python -m benchmarks.formula_corpus

The corpus is rubrics/*/tests/formulas/*.yaml. Full marks for an answer that does not deserve them is a false accept;
anything less for one that does is a false reject; unreadable is an answer a person can read and the tool cannot. The
other tools can only compare with a key, so they are given one that is right, and the formula without the words around
it; they run in a process that is ended after five seconds, because some answers make them compute without end.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import re
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from rich.console import Console
from rich.table import Table

from grader.answers import cut_into_parts
from grader.errors import StudentFault
from grader.formulas import killable_child
from grader.model import Answer, Problem, Status
from grader.rubric.loading import load_rubric

REPOSITORY = Path(__file__).resolve().parent.parent
_OTHERS_SECONDS = 5
_SHORT_CHARACTERS = 5_000
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as quick, where it is there
RUBRICS = ("nlp-a5", "dl-hw3")


@dataclass(frozen=True)
class Entry:
    """One answer as a student wrote it, and what it deserves."""

    id: str
    part: str
    text: str
    file: str
    verdict: str
    why: str
    now: str = ""  # what it gets so far, where that is not yet what it deserves


@dataclass(frozen=True)
class Judged:
    verdict: str
    code: str
    message: str
    seconds: float


def entries(*rubrics: str) -> Iterator[Entry]:
    """All answers to questions of these assignments; of every one, if none is named."""
    files = (path for rubric in rubrics or RUBRICS for path in (_tests(rubric) / "formulas").glob("*.yaml"))
    for path in sorted(files, key=lambda path: path.name):
        for one in yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER):
            part = one["part"].split()[1]
            text = one["text"] if "text" in one else one["repeat"]["unit"] * one["repeat"]["times"]
            form = one.get("format", "md")
            sheet = f"# {part}\n\n{text}\n" if form == "md" else text
            yield Entry(one["id"], part, sheet, f"answers.{form}", one["verdict"], one["why"], one.get("now", ""))


def _tests(rubric: str) -> Path:
    return REPOSITORY / "rubrics" / rubric / "tests"


@dataclass(frozen=True)
class _Wrote:
    """As much of a student as a formula check looks at."""

    answer: Answer


class Grader:
    """This grader: the answer sheet is read, the check of the part judges it."""

    def __init__(self) -> None:
        loaded = [load_rubric(_tests(name) / "formula_questions.yaml", folder=_tests(name).parent) for name in RUBRICS]
        self._problems: dict[str, Problem] = {problem.id: problem for rubric in loaded for problem in rubric.problems}
        killable_child.start()

    def __call__(self, entry: Entry) -> Judged:
        began = time.perf_counter()
        verdict, code, message = self._judge(entry)
        return Judged(verdict, code, message, time.perf_counter() - began)

    def _judge(self, entry: Entry) -> tuple[str, str, str]:
        try:
            answers = cut_into_parts(entry.text, entry.file, list(self._problems))
        except StudentFault as fault:
            return "unreadable", fault.code, fault.message
        if entry.part not in answers.parts:
            return "unreadable", "no_answer_given", "; ".join(answers.notes)
        (check,) = self._problems[entry.part].checks
        student: Any = _Wrote(answers.parts[entry.part])
        outcome = check.function(student, np.random.default_rng(0), **check.parameters)
        verdict = "unreadable" if outcome.status is Status.REVIEW else str(outcome.status)
        message = f"{outcome.message}: {outcome.detail}" if outcome.detail else outcome.message
        return verdict, outcome.code, message


# ---- the others ----

_KEYS = {
    "1.b.i": r"AA^T",
    "1.b.ii": r"\beta(k_a+k_b)",
    "1.c.i": r"\beta(\mu_a+\mu_b)",
    "1.c.ii": r"\frac{1}{1+e^{\beta(1-\gamma)}}",
    "1.1.b": r"\frac{1}{\sqrt{d}}",
}
_FORMULA = re.compile(r"\$\$?(.+?)\$\$?|\\\[(.+?)\\\]|`([^`]+)`", re.DOTALL)


def _right_side(entry: Entry) -> str:
    """The last formula between dollars or backticks, and what stands right of its last equals sign."""
    found = [next(group for group in match.groups() if group) for match in _FORMULA.finditer(entry.text)]
    formulas = [formula for formula in found if "=" in formula] or found or [entry.text.split("\n\n", 1)[-1]]
    return formulas[-1].split("=")[-1].strip().rstrip(".,")


def _math_verify(entry: Entry) -> str:
    from math_verify import parse, verify

    key, answer = (parse(f"${text}$") for text in (_KEYS[entry.part], _right_side(entry)))
    if not any(not isinstance(one, str) for one in answer):
        return "unreadable"
    return "passed" if verify(key, answer) else "failed"


def _parse_latex(entry: Entry) -> str:
    import sympy
    from sympy.parsing.latex import parse_latex

    try:
        key, answer = (parse_latex(text) for text in (_KEYS[entry.part], _right_side(entry)))
        return "passed" if sympy.simplify(key - answer) == 0 else "failed"
    except Exception:  # whatever it raises, it could not read or compare this
        return "unreadable"


class Other:
    """Another tool in a process of its own, started anew whenever it has to be ended."""

    def __init__(self, judge: Callable[[Entry], str]) -> None:
        self._judge = judge
        self._pool = multiprocessing.Pool(1)
        self.hung = 0

    def __call__(self, entry: Entry) -> Judged:
        began = time.perf_counter()
        try:
            verdict = self._pool.apply_async(self._judge, (entry,)).get(timeout=_OTHERS_SECONDS)
        except multiprocessing.TimeoutError:
            self._pool.terminate()
            self._pool = multiprocessing.Pool(1)
            self.hung += 1
            verdict = "unreadable"
        return Judged(verdict, "", "", time.perf_counter() - began)


def _others() -> dict[str, Callable[[Entry], str]]:
    found: dict[str, Callable[[Entry], str]] = {}
    if importlib.util.find_spec("math_verify"):
        found["Math-Verify"] = _math_verify
    if importlib.util.find_spec("antlr4"):
        found["sympy parse_latex"] = _parse_latex
    return found


def _is_simple(entry: Entry) -> bool:
    return entry.part in _KEYS and entry.file == "answers.md" and len(entry.text) < _SHORT_CHARACTERS


def _row(name: str, results: list[tuple[Entry, Judged]]) -> list[str]:
    accepts = [entry for entry, got in results if got.verdict == "passed" and entry.verdict != "passed"]
    rejects = [entry for entry, got in results if entry.verdict == "passed" and got.verdict in ("failed", "partial")]
    unread = [entry for entry, got in results if got.verdict == "unreadable" and entry.verdict != "unreadable"]
    spent = sorted(1000 * got.seconds for _, got in results)
    return [
        name,
        str(len(results)),
        str(len(accepts)),
        str(len(rejects)),
        str(len(unread)),
        f"{statistics.median(spent):.0f}",
        f"{spent[int(0.99 * (len(spent) - 1))]:.0f}",
    ]


def main() -> None:
    everything = list(entries())
    grader = Grader()
    grader(everything[0])  # sympy is loaded once per run, not once per answer
    table = Table("tool", "answers", "false accepts", "false rejects", "unreadable", "median ms", "p99 ms")
    whole = [(entry, grader(entry)) for entry in everything]
    table.add_row(*_row("this grader", whole))
    simple = [entry for entry in everything if _is_simple(entry)]
    by_id = {entry.id: got for entry, got in whole}
    table.add_row(*_row("this grader *", [(entry, by_id[entry.id]) for entry in simple]))
    console = Console()
    hung = []
    for name, judge in _others().items():
        other = Other(judge)
        table.add_row(*_row(f"{name} *", [(entry, other(entry)) for entry in simple]))
        hung.append(f"{name} had to be ended {other.hung} times")
    console.print(table)
    console.print(f"* on the parts answered by one formula with one key ({', '.join(_KEYS)})")
    console.print("; ".join(hung))
    for missing in {"Math-Verify", "sympy parse_latex"} - _others().keys():
        console.print(f"{missing} is not installed: `pip install math-verify antlr4-python3-runtime==4.11.1` for both")
    for entry, got in whole:
        if got.verdict != entry.verdict:
            console.print(f"{entry.id}: expected {entry.verdict}, got {got.verdict} ({got.message})", markup=False)


if __name__ == "__main__":
    main()
