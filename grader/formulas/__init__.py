"""The answer language: what students write as mathematics → typed expressions → verdicts. Nothing is ever executed.

    from grader.formulas import Declared, Vocabulary, judged

Rubrics that ask for formulas import from here, and from nowhere else in this package.
"""

from typing import TYPE_CHECKING

from grader.lazy_names import lazy_name

if TYPE_CHECKING:
    from grader.formulas.formula_questions import *  # noqa: F403


def __getattr__(name: str) -> object:
    """Loaded when a rubric asks for it: the grader itself needs some of it only in the process that judges."""
    return lazy_name(__name__, "formula_questions", name)
