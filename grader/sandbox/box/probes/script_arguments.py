"""The arguments a script declares with argparse, and values for them: the data, a place to write, a choice."""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..calls import replaced

OUTPUT = "london_baseline.predictions"

_OUTPUT = re.compile(r"out|pred|writ|save|result|log", re.IGNORECASE)
_FOLDER = re.compile(r"dir(?![a-z])|folder|root", re.IGNORECASE)
_OTHER_THAN_DATA = re.compile(r"param|model|ckpt|checkpoint|config|variant|device|weight|seed", re.IGNORECASE)
_EVALUATES = re.compile(r"eval|london|dev|test", re.IGNORECASE)
_PATH = re.compile(r"path|file|data|corpus|eval|dev|input|tsv", re.IGNORECASE)
_ANSWER = re.compile(r"answer|city|guess|place|target|town", re.IGNORECASE)
_MOST = 50  # arguments, and values of one: no script declares more
# What is given, from the least that a script may need to the most; the last takes no name for a hint.
_LEVELS = ("required", "unset data", "unset", "paths with a default", "the same data for all")


@dataclass(frozen=True)
class Offered:
    """What a script may be given: data by the names of their files, the labelled ones first, and an answer."""

    data: dict[str, str]
    answer: str

    @property
    def labels(self) -> str:
        return next(iter(self.data))


def value_for(name: str, offered: Offered) -> str:
    """What an argument of this name may stand for: the answer, or the labelled data."""
    return offered.answer if _ANSWER.search(name) and not _PATH.search(name) else offered.labels


class Declared:
    """The parsers that a script asks while it runs, in their order."""

    def __init__(self) -> None:
        self._parsers: list[argparse.ArgumentParser] = []

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        real = argparse.ArgumentParser.parse_known_args

        def parse_known_args(parser: argparse.ArgumentParser, *args: Any, **kwargs: Any) -> Any:
            if not any(parser is known for known in self._parsers):
                self._parsers.append(parser)
            return real(parser, *args, **kwargs)

        try:
            with replaced([(argparse.ArgumentParser, "parse_known_args", parse_known_args)]):
                yield
        finally:
            self._parsers = _first_of_each_program(self._parsers)

    def offers(self, offered: Offered) -> Iterator[tuple[str, ...]]:
        """Command lines to try, one after the other."""
        for level in range(len(_LEVELS)):
            try:
                yield tuple(word for parser in self._parsers for word in _words(parser, offered, level))
            except Exception:  # the parsers are the student's: whatever they hold is theirs to answer for
                return


def _first_of_each_program(parsers: list[argparse.ArgumentParser]) -> list[argparse.ArgumentParser]:
    """A script that is run again declares its arguments again. A subcommand's parser has a name of its own."""
    return list({str(getattr(parser, "prog", "")): parser for parser in parsers[:_MOST]}.values())


def _words(parser: Any, offered: Offered, level: int) -> list[str]:
    by_place: list[str] = []
    by_name: list[str] = []
    subcommand: list[str] = []
    passed_over: list[Any] = []
    for action in islice(parser._actions, _MOST):
        if not _is_given(action, level) or action in passed_over:
            continue
        groups = [group._group_actions for group in parser._mutually_exclusive_groups]
        passed_over += [other for group in groups if action in group for other in group]
        times = min(action.nargs, _MOST) if isinstance(action.nargs, int) else 1
        values = [_value(action, offered, level)] * times
        if isinstance(action, argparse._SubParsersAction):
            subcommand = values
        elif action.option_strings:
            by_name += [action.option_strings[-1], *values]
        else:
            by_place += values
    return [*by_place, *by_name, *subcommand]


def _is_given(action: Any, level: int) -> bool:
    if action.nargs == 0:  # a flag
        return False
    if action.required:
        return True
    if action.type in (int, float, bool) or action.choices is not None or _OTHER_THAN_DATA.search(_name(action)):
        return False
    if action.default in (None, [], argparse.SUPPRESS):
        return level >= (2 if _OUTPUT.search(_name(action)) else 1)
    return level >= 3 and isinstance(action.default, str) and bool(_PATH.search(_name(action)))


def _value(action: Any, offered: Offered, level: int) -> str:
    name = _name(action)
    if action.choices is not None:
        choices = [str(choice) for choice in islice(action.choices, _MOST)]
        return next(filter(_EVALUATES.search, choices), choices[0])
    if action.type in (int, float, bool):
        return "1"
    mode = getattr(action.type, "_mode", "") or ""  # of argparse.FileType
    is_output = "w" in mode if mode else bool(_OUTPUT.search(name))
    if _FOLDER.search(name):
        return "."
    if is_output:
        return OUTPUT
    kinds = [kind for kind in ("train", "test") if kind in name.lower() and level < len(_LEVELS) - 1]
    return next((file for kind in kinds for file in offered.data if kind in file), value_for(name, offered))


def _name(action: Any) -> str:
    return " ".join([*action.option_strings, str(action.dest)])
