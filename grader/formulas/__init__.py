"""The answer language: what students write as mathematics → typed expressions → verdicts. Nothing is ever executed.

    from grader.formulas import Declared, Vocabulary, judged

Rubrics that ask for formulas import from here, and from nowhere else in this package.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.formulas.formula_questions import *  # noqa: F403

ON_DEMAND = True  # of this package, students get what their own checks need


def __getattr__(name: str) -> object:
    """Loaded when a rubric asks for it: the grader itself needs some of it only in the process that judges."""
    if not name.startswith("_") and name in (api := import_module("grader.formulas.formula_questions")).__all__:
        return getattr(api, name)
    raise AttributeError(f"module 'grader.formulas' has no attribute {name!r}")
