"""What is read from a PDF is judged with care: a pass may stand; anything else is for a person, with its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from grader.errors import ForAPerson, Missing, StudentFault
from grader.model import Answer, Answers, Outcome, Place, Problem, Status
from grader.quoting import quote

# What a reader that took a sign for another would bring about, and what a missing answer may be.
_UNSURE = (Status.FAILED, Status.PARTIAL, Status.MISSING)
_DOUBTFUL_PASS = Fraction(1, 2)  # right as it was read, but it may have been written otherwise


def answer_in(answers: Answers, problem: Problem) -> Answer:
    """What was written for a problem. On pages that nobody has read it may be there unseen, and is for a person."""
    if problem.id in answers.parts:
        return answers.parts[problem.id]
    pages = answers.pages.get(problem.id, ())
    if not answers.pdf or (problem.optional and not pages):
        raise Missing(f"there is no answer to {problem.id}", code="no_answer_given")
    if pages or answers.unread:
        where = f", {pages_named(pages)}" if pages else ""
        raise ForAPerson(f"a person reads {quote(answers.pdf, 80)}{where}", code="pages_unread")
    if place := answers.unplaced.get(problem.id):
        raise unplaced(place, problem)
    nowhere = f"no answer to {problem.id} was found in {quote(answers.pdf, 80)}; a person looks for it"
    raise ForAPerson(nowhere, code="answer_not_found")


def unplaced(place: str, problem: Problem) -> StudentFault:
    what = f"what stands at {place} names no part; a person looks whether it answers {problem.id}"
    return ForAPerson(what, code="unplaced_answer")


def places_of(answers: Answers, part: str) -> tuple[Place, ...]:
    if part in answers.parts:
        return answers.parts[part].places
    return tuple(Place(page) for page in answers.pages.get(part, ()))


def shown_places(places: Sequence[Place]) -> list[dict[str, Any]]:
    """Places as reports have them."""
    return [{"page": place.page, **({"box": list(place.box)} if place.box else {})} for place in places]


def from_pages(outcome: Outcome, answers: Answers, part: str) -> Outcome:
    """The outcome of a check that read this part of a sheet; as it is, if the sheet has no pages."""
    if not answers.pdf or outcome.status is Status.UNGRADED:
        return outcome
    places, answer = places_of(answers, part), answers.parts.get(part)
    evidence = {**outcome.evidence, "file": answers.pdf, "places": shown_places(places)}
    outcome = replace(outcome, evidence=evidence)
    if answer is None or not places:
        return outcome
    here = f"{quote(answers.pdf, 80)}, {pages_named([place.page for place in places])}"
    message = outcome.message.removeprefix(f"{answer.file}:{answer.line}: ")
    if outcome.status is Status.PASSED and answer.doubt:
        message = f"{here}: {message}; but {answer.doubt}, so a person decides"
        return replace(outcome, status=Status.REVIEW, score=_DOUBTFUL_PASS, message=message, code="doubtful_reading")
    if outcome.status in _UNSURE:
        return replace(outcome, status=Status.REVIEW, message=f"{here}, as far as it can be read: {message}")
    return replace(outcome, message=f"{here}: {message}")


def pages_named(pages: Sequence[int]) -> str:
    return f"page{'s' * (len(pages) > 1)} {', '.join(map(str, pages))}"
