"""Run by a student's Python: grades submissions by a kit's rubric and prints, check by check, what was found."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from grader.grading.engine import grade
from grader.grading.randomness import draw_at_home
from grader.rubric.loading import load_rubric
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission


def main(rubric: str, *submissions: str) -> None:
    loaded = load_rubric(Path(rubric))
    libraries = loaded.libraries
    found = {}
    with BoxRunner(libraries) as boxes:
        for path in submissions:
            with open_submission(Path(path)) as submission:
                report = grade(loaded, submission, boxes, draw_at_home())
            found[Path(path).name] = {
                problem.problem.id: {
                    result.check.id: [result.outcome.status, str(result.outcome.score), result.outcome.message]
                    for result in problem.checks
                }
                for problem in report.problems
            }
    print(json.dumps(found))


main(*sys.argv[1:])
