"""The reference implementations, as rubrics name them: `attention.multi_head_attention`, or a function of the rubric's
own `checks.py`; or their answers, frozen.

Students have no reference. Their rubric names a file instead that holds its answers to the questions of one check.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, ValidationInfo

from grader.checks.functions import frozen
from grader.checks.functions.inputs import Case
from grader.checks.functions.nested import Values, values_in
from grader.registry import LeftOutOfKits, NamesAReference, found_in_data
from grader.rubric.hints import did_you_mean
from grader.rubric.own_functions import Offer, OfferedName, offered


def _existing(name: str, info: ValidationInfo) -> str:
    """Looks without importing, because a reference may need torch and most rubrics are loaded without it."""
    if is_frozen(name):
        return found_in_data(name, info)
    own: Mapping[str, Offer] = (info.context or {}).get("offers", {}).get("reference", {})
    if name in own:
        return OfferedName(name, own[name])
    if "." not in name and own:
        raise ValueError(f"names no reference: checks.py has no '{name}'{did_you_mean(name, own)}")
    module, _, function = name.rpartition(".")
    spec = importlib.util.find_spec(f"reference.{module}") if module and importlib.util.find_spec("reference") else None
    if spec is None or spec.origin is None:
        raise ValueError(f"names no reference: '{name}' should look like 'attention.multi_head_attention'")
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    known = [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    if function not in known:
        raise ValueError(
            f"names no reference: reference/{module}.py has no '{function}'{did_you_mean(function, known)}"
        )
    return name


Reference = Annotated[str, AfterValidator(_existing), NamesAReference()]
ReferenceForCauses = Annotated[Reference | None, LeftOutOfKits()]


# Every submission of a class is asked the same questions, so the reference need answer them only once. A process sees
# some dozens of questions a rubric; the bound is for rubrics that ask about large arrays.
_REMEMBERED = 1024
_LARGEST_BYTES = 1 << 16


def reference_function(name: str) -> Callable[..., Any]:
    """The reference by its name. What it has answered about small arrays it remembers; such an answer is read-only."""
    if is_frozen(name):
        return frozen.answers(Path(name))[frozen.RIGHT]
    right = _right(name)

    def answer(*args: Any, **kwargs: Any) -> Any:
        asked = _as_key((args, kwargs))
        if asked is None:
            return right(*args, **kwargs)
        question = (right, asked)  # a rubric's own function may go by a name that another rubric's has
        if question not in _answers:
            found = right(*args, **kwargs)
            if not isinstance(found, np.ndarray):
                return found
            found.flags.writeable = False
            if len(_answers) >= _REMEMBERED:
                _answers.pop(next(iter(_answers)))
            _answers[question] = found
        return _answers[question]

    return answer


def _right(name: str) -> Callable[..., Any]:
    if own := offered(name, "reference"):
        return own.function
    module, _, function = name.rpartition(".")
    found: Callable[..., Any] = getattr(importlib.import_module(f"reference.{module}"), function)
    return found


def right_values(right: Callable[..., Any], name: str, case: Case) -> Values:
    """What the reference of this name gives for a case; nobody may write into it."""
    return case.once((right_values, name), lambda: values_in(right(*case.args, **case.kwargs)))


Mistaken = tuple[str, Callable[..., Any]]  # what it looks like, and what gives such values


def mistakes_in(name: str) -> Sequence[Mistaken]:
    """Classic mistakes in place of this reference, several of which may look alike."""
    if is_frozen(name):
        return frozen.mistakes(Path(name))
    if own := offered(name, "reference"):
        return own.mistakes
    module, function = _written_out(name)
    return _each(module.MISTAKES.get(function, {})) if module else []


def mistakes_on_squares(name: str) -> Sequence[Mistaken]:
    """Those that crash unless all sides are equal."""
    module, function = _written_out(name)
    return _each(module.ON_SQUARES.get(function, {})) if module else []


def mistakes_at_extremes(name: str) -> Sequence[Mistaken]:
    """Those that show only where scores are huge."""
    module, function = _written_out(name)
    return _each(module.AT_EXTREMES.get(function, {})) if module else []


def pairs_of_mistakes(name: str) -> Iterator[Mistaken]:
    """Two made together. A kit has none of them: there are too many to keep their answers."""
    module, function = _written_out(name)
    return module.pairs(function) if module and function in module.MISTAKES else iter(())


def _each(table: Mapping[str, Sequence[Callable[..., Any]]]) -> Sequence[Mistaken]:
    return [(cause, mistaken) for cause, several in table.items() for mistaken in several]


def _written_out(name: str) -> tuple[Any, str]:
    """The module of mistakes in this reference, None if there is none, and the function they are made in."""
    module, _, function = name.rpartition(".")
    if (
        is_frozen(name)
        or offered(name, "reference")
        or importlib.util.find_spec(f"reference.mistakes.{module}") is None
    ):
        return None, function
    return importlib.import_module(f"reference.mistakes.{module}"), function


def is_frozen(name: str) -> bool:
    """Whether only answers are there, to questions that are known already."""
    return name.endswith(frozen.ENDING)


_answers: dict[Any, NDArray[Any]] = {}


def _as_key(value: Any) -> Any:
    """The value in a form that can be looked up; None if it is too large, or of a kind that may change."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes()) if value.nbytes <= _LARGEST_BYTES else None
    if isinstance(value, str | int | float | None):
        return type(value), value
    parts = value.items() if isinstance(value, dict) else value if isinstance(value, tuple | list) else None
    if parts is None:
        return None
    keys = tuple(_as_key(part) for part in parts)
    return None if None in keys else (type(value), keys)
