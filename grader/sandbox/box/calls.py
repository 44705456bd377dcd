"""Calling a student's function as the assignment does: a call that does not fit is no fault within. What the function
calls can be replaced."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterable, Iterator
from typing import Any


class WrongSignature(Exception):
    """The student's function cannot be called the way the assignment calls it."""


def call_as_asked(function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if not callable(function):
        raise WrongSignature("is not a function")
    try:
        return function(*args, **kwargs)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            # Raised by the call itself, before any line of the function ran.
            raise WrongSignature(f"is defined as {_signature(function)} and cannot be called so: {error}") from None
        raise


def built_by_name(kind: Any, arguments: dict[str, Any]) -> Any:
    """A class called with these by their names if it takes them so, else in their order: its author may rename them."""
    try:
        inspect.signature(kind).bind(**arguments)
    except (TypeError, ValueError):
        return call_as_asked(kind, list(arguments.values()), {})
    return call_as_asked(kind, [], arguments)


def _signature(function: Any) -> str:
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):  # some callables have none
        return "something without a signature"


@contextlib.contextmanager
def replaced(attributes: Iterable[tuple[Any, str, Any]]) -> Iterator[None]:
    """Within, these objects have other attributes of these names."""
    kept = [(place, name, getattr(place, name), value) for place, name, value in attributes]
    try:
        for place, name, _, value in kept:
            setattr(place, name, value)
        yield
    finally:
        for place, name, was, _ in kept:
            setattr(place, name, was)
