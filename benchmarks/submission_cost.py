"""Processor time of all processes per submission, without the start of the libraries.

    python -m benchmarks.submission_cost --rubric dl-hw3 --problems 2.1,2.2 submissions/ada submissions/ben
    python -m benchmarks.submission_cost --rubric nlp-a5 --problems 2.e,2.g.i --data DATA FOLDER …

One process grades them one after the other. The start is what grading the first one takes beyond grading it twice. Give
problems that all use torch, or none that does: what a second fork server spends is not counted.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.errors import UsageError
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Rubric
from grader.rubric.loading import find_rubric, load_rubric
from grader.sandbox import BoxRunner
from grader.submission.opening import open_submission


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("submissions", nargs="+", type=Path)
    parser.add_argument("--rubric", required=True)
    parser.add_argument("--problems", required=True, help="ids, with commas between them")
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    rubric = load_rubric(find_rubric(options.rubric), options.data)
    chosen = options.problems.split(",")
    rubric = replace(rubric, problems=tuple(problem for problem in rubric.problems if problem.id in chosen))
    first = options.submissions[:1]
    _seconds(rubric, first)  # whatever is loaded from a cold disk
    start = max(0.0, 2 * _seconds(rubric, first) - _seconds(rubric, first * 2))
    each = (_seconds(rubric, options.submissions) - start) / len(options.submissions)
    print(f"{1000 * each:.0f} ms for each of {len(options.submissions)} submissions, after a start of {start:.2f} s")


def _seconds(rubric: Rubric, submissions: Sequence[Path]) -> float:
    before = _spent()
    with BoxRunner(rubric.libraries) as runner:
        for path in submissions:
            try:
                with open_submission(path) as submission:
                    grade(rubric, submission, runner, Draw(0, None))
            except UsageError as fault:
                print(fault)
    return _spent() - before


def _spent() -> float:
    """Of this process and of those that it has waited for: the fork servers, and with them their sandboxes."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    main()
