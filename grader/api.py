"""What rubrics and notebooks import: `from grader import check, passed, …`. docs/api.md explains each name.

`grader.formulas` has what questions about formulas need, `grader.modules` what modules of torch do.
"""

from grader.checks.functions.extreme_scores import SCORE_SPREADS, ExtremeCase, ScoreSpread
from grader.checks.functions.inputs import Case, Cases, returned_for_each
from grader.compare import ATOL, RTOL, Array, Difference, difference, numbers, shape
from grader.errors import (
    Crashed,
    Killed,
    Missing,
    NotImportable,
    RubricError,
    StudentFault,
    TimedOut,
    UsageError,
    WrongKind,
)
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import (
    Answer,
    Outcome,
    Piece,
    Probe,
    Report,
    Rubric,
    Status,
    Student,
    StudentCode,
    failed,
    needs_review,
    passed,
    scored,
)
from grader.quoting import quote
from grader.registry import DataFile, HoldsTheAnswer, LeftOutOfKits, Prompt, StudentFile, check
from grader.rubric.loading import find_rubric, load_rubric
from grader.rubric.own_functions import inputs, reference
from grader.sandbox import BoxRunner
from grader.selfcheck.check_notebook import check_notebook
from grader.shares import Partial, Share
from grader.submission.opening import open_submission

__all__ = [
    "ATOL",
    "RTOL",
    "SCORE_SPREADS",
    "Answer",
    "Array",
    "BoxRunner",
    "Case",
    "Cases",
    "Crashed",
    "DataFile",
    "Difference",
    "Draw",
    "ExtremeCase",
    "HoldsTheAnswer",
    "Killed",
    "LeftOutOfKits",
    "Missing",
    "NotImportable",
    "Outcome",
    "Partial",
    "Piece",
    "Probe",
    "Prompt",
    "Report",
    "Rubric",
    "RubricError",
    "ScoreSpread",
    "Share",
    "Status",
    "Student",
    "StudentCode",
    "StudentFault",
    "StudentFile",
    "TimedOut",
    "UsageError",
    "WrongKind",
    "check",
    "check_notebook",
    "difference",
    "failed",
    "find_rubric",
    "grade",
    "inputs",
    "load_rubric",
    "needs_review",
    "numbers",
    "open_submission",
    "passed",
    "quote",
    "reference",
    "returned_for_each",
    "scored",
    "shape",
]
