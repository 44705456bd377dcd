"""Did you mean …?, and what else an author reads about a value that does not fit: pydantic's words, and the place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from grader.quoting import quote
from grader.rubric.yaml_source import as_written

_SHOULD_BE = "should be "
_LONGEST = 60  # characters of a value that does not fit: enough to find it by
_OF_A_KEY = "[key]"  # how pydantic says that not the value but its key is unfit
_OURS = ("value_error", "assertion_error")  # raised by a validator of ours, in whole sentences


def did_you_mean(written: str, known: Iterable[str]) -> str:
    """A clause to end an error with: the nearest known word, or all of them if none is near."""
    words = sorted(known)
    return near_to(written, words) or (f"; known: {', '.join(words)}" if words else "")


def near_to(written: str, known: Iterable[str]) -> str:
    """The same, where there are too many to name them all."""
    near = get_close_matches(written, sorted(known))
    return f"; did you mean '{near[0]}'?" if near else ""


def misfit(problem: Any, known: Iterable[str]) -> str:
    """One error that pydantic found, in words; `known` are the keys that mean something in its place."""
    name = next(str(step) for step in reversed(problem["loc"]) if step != _OF_A_KEY)
    if problem["type"] == "value_error" and name.isdigit():  # one of a list: what it says is a sentence about it
        return _wanted(problem)
    return f"{_named(problem['loc'])} {_cause(problem, name, known)}"


def _cause(problem: Any, name: str, known: Iterable[str]) -> str:
    match problem["type"]:
        case "extra_forbidden":
            return f"has no meaning here{did_you_mean(name, known)}"
        case "missing":
            return "is missing"
    return f"{_wanted(problem)}{_but_got(problem)}"


def _named(place: Sequence[Any]) -> str:
    """What stands there: one of a list has no name of its own."""
    *around, last = (step for step in place if step != _OF_A_KEY)
    return f"number {last + 1} of '{around[-1]}'" if isinstance(last, int) and around else f"'{last}'"


def misfit_of_a_value(problems: Sequence[Any], value: Any, known: Iterable[str]) -> tuple[list[Any], str]:
    """Where in a value pydantic found it unfit, and in words why; `known` are the keys that mean something in it.

    Of several places the deepest counts: where a value may be of several kinds, that is where the kind that was meant
    goes wrong. A key that has no meaning comes first: what is said to be missing may be that key, misspelt.
    """
    places = [(problem, _inside(problem, value)) for problem in problems]
    first, place = max(places, key=lambda one: (len(one[1]), one[0]["type"] == "extra_forbidden"))
    there = [first, *(problem for problem, at in places if at == place and problem is not first)]
    kinds = dict.fromkeys(wanted for one in there if (wanted := _wanted(one)).startswith(_SHOULD_BE))
    if _wanted(first) in kinds and len(kinds) > 1:
        return place, f"{_SHOULD_BE}{' or '.join(kind.removeprefix(_SHOULD_BE) for kind in kinds)}{_but_got(first)}"
    return place, _cause(first, str(place[-1]) if place else "", known)


def _inside(problem: Any, value: Any) -> list[Any]:
    """A place without the steps that no author wrote: pydantic puts the kinds in that it tried."""
    steps = []
    for number, step in enumerate(problem["loc"]):
        is_lacking = problem["type"] == "missing" and number == len(problem["loc"]) - 1
        is_index = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if is_index or (isinstance(value, dict) and step in value):
            value = value[step]
        elif not is_lacking:
            continue
        steps.append(step)
    return steps


def _wanted(problem: Any) -> str:
    """What pydantic says after the subject: `Input should be a valid string`, `List should have at least 1 item`."""
    subject, should, wanted = problem["msg"].partition("should ")
    if problem["type"] in _OURS:  # `Value error, …`
        return str(problem["msg"].partition(", ")[2])
    return f"{should}{wanted}" if should else str(subject)


def _but_got(problem: Any) -> str:
    """What stands there instead and, of a few words that may, the one it is near to."""
    if problem["type"] in _OURS or "input" not in problem or ", not " in problem["msg"]:
        return ""
    got = problem["input"]
    if got is None:
        return ", and nothing stands there"
    if isinstance(got, dict | list):
        return f", not {'a mapping' if isinstance(got, dict) else 'a list'}"
    if isinstance(got, bool):
        return f", not {str(got).lower()}"
    if not isinstance(got, str):
        return f", not {quote(str(as_written(got)), _LONGEST)}"
    words = re.findall("'([^']*)'", str(problem.get("ctx", {}).get("expected", "")))
    return f", not '{quote(got, _LONGEST)}'{near_to(got, words)}"
