"""How a part stands at home, in a word or two, and how many stand so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from grader.model import CheckResult, ProblemResult, Status
from grader.selfcheck.home_rubric import is_left_out, status_here

_UNSTARTED = ("not_started", "no_answer_given", "answer_empty")
NOT_STARTED, THERE, LATER, OPTIONAL = "not started", "there", "later", "optional"
_WORDS = {
    Status.PASSED: "right as far as is checked here",
    Status.PARTIAL: "partly right",
    Status.FAILED: "wrong",
    Status.CRASHED: "crashed",
    Status.SKIPPED: "not tried",
    Status.UNGRADED: "could not be graded",
    Status.MISSING: "missing",
    NOT_STARTED: "not started",
    Status.REVIEW: "for a person to decide",
    THERE: "there, to be read after the deadline",
    LATER: "judged after the deadline",
}


def standing(result: ProblemResult) -> str:
    """Its status by what is judged here, or what else can be said of it. A file that is not there is missing; where a
    file is still a stub, or nothing stands under a heading, the part is not started."""
    if is_left_out(result):
        return OPTIONAL
    status = status_here(result)
    if status is None:
        return THERE if result.checks else LATER
    return NOT_STARTED if status is Status.MISSING and _is_not_started(result) else str(status)


def _is_not_started(result: ProblemResult) -> bool:
    """As the checks themselves say. What is missing for another reason, such as a function of another name, is told."""
    amiss = [one for one in result.checks if one.outcome.status is Status.MISSING]
    reasons = [one for one in amiss if not lacks_its_file(one)]
    return not amiss or (bool(reasons) and all(one.outcome.code in _UNSTARTED for one in reasons))


def lacks_its_file(one: CheckResult) -> bool:
    return one.outcome.code in ("file_missing", "sheet_missing")


def counted_here(results: Iterable[ProblemResult]) -> str:
    """`7 right as far as is checked here, 3 not started, 13 there, to be read after the deadline`."""
    counts = Counter(map(standing, results))
    return "; ".join(f"{counts[one]} {words}" for one, words in _WORDS.items() if counts[one]) or "none"
