"""All that a page about one answer needs, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from grader.batch.gradebook import Gradebook
from grader.batch.request_log import Request
from grader.batch.rulings import Decision, Mark, PartState
from grader.errors import UsageError
from grader.model import Status
from grader.review import matched_words
from grader.review.double_marking import as_seen_by
from grader.review.leases import Lease
from grader.review.refs import Ref, alias_of, no_such_answer


@dataclass(frozen=True)
class AnswerView:
    ref: Ref
    alias: str  # while names are hidden
    name: str
    pieces: list[dict[str, Any]]  # as the JSON report has them
    marks: tuple[matched_words.Mark, ...]
    checks: list[dict[str, Any]]
    chosen: str
    found_status: Status
    found_points: Fraction
    worth: Fraction
    judged: str
    decision: Decision | None
    earlier: Decision | None
    items: tuple[str, ...]  # those that stand
    suggested: tuple[str, ...]  # those that the grader found
    adjust: Fraction
    comment: str
    history: tuple[Decision, ...]
    request: Request | None  # that waits for an answer
    requests: tuple[Request, ...]
    lease: Lease | None
    version: str  # what a decision on this view has to be sent with
    is_open: bool  # for this reviewer


def version_of(state: PartState, mark: Mark) -> str:
    """Of what somebody saw: the answer, and the act that decided it."""
    own = state.standing.second if mark is Mark.SECOND else state.standing.decision
    return f"{state.judged}:{own.act if own else 0}"


def seen(version: str) -> tuple[str, int]:
    judged, colon, act = version.rpartition(":")
    if not colon or not act.isascii() or not act.isdigit() or len(act) > 18:
        raise UsageError("this page is too old; load it again")
    return judged, int(act)


def view_of(gradebook: Gradebook, ref: Ref, reviewer: str, lease: Lease | None) -> AnswerView:
    state = next(iter(gradebook.decisions.states(student=ref.student, part=ref.part)), None)
    result = gradebook.latest(ref.student)
    if state is None or result is None:
        raise UsageError(no_such_answer(ref))
    problem = next(one for one in result.report["problems"] if one["id"] == ref.part)
    pieces = problem.get("judged", {}).get("pieces", [])
    sight = as_seen_by(reviewer, state)
    requests = tuple(gradebook.requests.all(student=ref.student, part=ref.part))
    history = gradebook.decisions.of_student(ref.student, ref.part)
    decision = sight.decision
    return AnswerView(
        ref=ref,
        alias=alias_of(ref, [Ref(student, ref.part) for student in gradebook.students()]),
        name=result.name or ref.student,
        pieces=pieces,
        marks=matched_words.marks_in(pieces, problem["checks"]),
        checks=problem["checks"],
        chosen=problem.get("chosen", ""),
        found_status=state.found,
        found_points=state.points,
        worth=state.worth,
        judged=state.judged,
        decision=decision,
        earlier=state.standing.earlier,
        items=decision.items if decision else (),
        suggested=gradebook.items.suggested(ref.student, ref.part),
        adjust=(decision.adjust or Fraction(0)) if decision else Fraction(0),
        comment=decision.comment if decision else "",
        history=tuple(one for one in history if not sight.is_second or one.by == reviewer),
        request=next((one for one in requests if one.reply is None), None),
        requests=requests,
        lease=lease,
        version=version_of(state, sight.mark),
        is_open=sight.is_open,
    )
