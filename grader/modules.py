"""What rubrics need to judge modules of torch: `from grader.modules import Workbench, trained, …`."""

from grader.checks.modules.obligations import (
    irregular,
    judged_by_behaviour,
    made_steady,
    not_a_function_of_its_input,
    trained,
    wrong_shape,
)
from grader.checks.modules.relations import AffineMap, Parameters, Record, scores_of
from grader.checks.modules.workbench import Inputs, Recorded, Workbench, first_of, started

__all__ = [
    "AffineMap",
    "Inputs",
    "Parameters",
    "Record",
    "Recorded",
    "Workbench",
    "first_of",
    "irregular",
    "judged_by_behaviour",
    "made_steady",
    "not_a_function_of_its_input",
    "scores_of",
    "started",
    "trained",
    "wrong_shape",
]
