"""Did you mean …?, and what else an author is told about a value that does not fit: in our words, never a library's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from grader.quoting import quote
from grader.rubric.yaml_source import as_written

_LONGEST = 60  # characters of a value that does not fit: enough to find it by
# What pydantic calls a kind of misfit → what is wanted. Whatever is not here, and not below, "does not fit here".
_WANTED = {
    kind: wanted
    for wanted, kinds in {
        "text": "string_type string_sub_type string_unicode",
        "a whole number": "int_type int_parsing int_from_float int_parsing_size",
        "a number, such as 2.5 or 1/3": "fraction_type fraction_parsing",
        "a number": "float_type float_parsing decimal_type decimal_parsing finite_number",
        "true or false": "bool_type bool_parsing",
        "a list, such as [a, b]": "list_type tuple_type set_type frozen_set_type iterable_type sequence_str",
        "a mapping, such as {name: value}": "dict_type mapping_type model_type model_attributes_type dataclass_type",
        "empty": "none_required",
    }.items()
    for kind in kinds.split()
}
_OF_A_KEY = "[key]"  # how pydantic says that not the value but its key is unfit
_BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}
_SIGNS = {
    r"^[\w.\-]+$": "letters, digits, '.', '-' and '_'",
    r"^\w+$": "letters, digits and '_'",
    r"^([a-z]{2})?$": "two small letters, such as ji",
}


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
    match problem["type"]:
        case "extra_forbidden":
            return f"'{name}' has no meaning here{did_you_mean(name, known)}"
        case "missing":
            return f"'{name}' is missing"
        case "value_error" if name.isdigit():  # one of a list: what it says is a sentence about it
            return _own_words(problem)
        case _:
            return f"{_named(problem['loc'])} {_asked_for(problem)}{_but_got(problem)}"


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
    wanted = [wanted for one in there if (wanted := _WANTED.get(one["type"]))]
    if len(wanted) > 1:
        return place, f"should be {' or '.join(dict.fromkeys(wanted))}{_but_got(there[0])}"
    match there[0]["type"]:
        case "missing":
            return place, "is missing"
        case "extra_forbidden":
            return place, f"has no meaning here{did_you_mean(str(place[-1]), known)}"
    return place, f"{_asked_for(there[0])}{_but_got(there[0])}"


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


def _asked_for(problem: Any) -> str:
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "is_instance_of" and context["class"] == "Sequence":
        kind = "list_type"
    match kind:
        case "value_error" | "assertion_error":
            return _own_words(problem)
        case "literal_error" | "enum":
            return f"should be {context['expected']}"
        case "too_short" | "string_too_short":
            least = context.get("min_length", 1)
            return "is empty" if least == 1 else f"should have at least {least}"
        case "too_long" | "string_too_long":
            return f"should have at most {context['max_length']}"
        case "string_pattern_mismatch":
            return f"should be made of {_SIGNS.get(context['pattern'], 'other letters and signs')}"
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        return f"should be {words} {context[key]}"
    return f"should be {_WANTED[kind]}" if kind in _WANTED else "does not fit here"


def _own_words(problem: Any) -> str:
    """What a validator of ours said; pydantic puts its own words before that."""
    return str(problem["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, "))


def _but_got(problem: Any) -> str:
    """What stands there instead and, of a few words that may, the one it is near to."""
    if problem["type"] in ("value_error", "assertion_error", "too_short", "string_too_short") or "input" not in problem:
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
