"""What is to be written out, and what ready-made things it may be written with.

Two looks: the code that the function reaches is read, and the function is run while every function of a library that
it calls is noted. Reading alone misses what is hidden on purpose; running alone misses what other inputs would call.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from grader.checks.functions.inputs import Inputs, sampled
from grader.errors import Crashed, StudentFault
from grader.model import Outcome, Student, failed, needs_review, passed
from grader.quoting import place, quote
from grader.registry import StudentFile, check

# What to run while it is watched. Every request but the first has other inputs, a mask say, which lead code to other
# lines. Work that cannot take those yet is judged by the checks that ask for them.
_Watched = list[dict[str, Any]]


@check  # in a sandbox of its own: code that counts its calls would know which ones are watched
def writes_it_out(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    function: str,
    forbidden: list[str],
    allowed: list[str] = [],  # noqa: B006 - read only
    inputs: Inputs | None = None,
    inputs_too: Inputs | None = None,
) -> Outcome:
    """It is written out: nothing that it reaches is a library's ready-made function for it."""
    watched: _Watched = []
    for name in filter(None, (inputs, inputs_too)):
        calls = [{"args": list(case.args), "kwargs": case.kwargs} for case in sampled(name, rng)]
        watched.append({"name": function, "run_as": "call", "requests": calls})
    return _judged(student, file, function, (forbidden, allowed), watched)


@check  # in a sandbox of its own: code that counts its calls would know which ones are watched
def is_built_from_parts(
    student: Student,
    rng: np.random.Generator,
    *,
    file: StudentFile,
    name: str,
    build: dict[str, int],
    shape: list[int],
    forbidden: list[str],
    allowed: list[str] = [],  # noqa: B006 - read only
) -> Outcome:
    """The module is built from its parts: nothing that it reaches is a library's ready-made whole."""
    built = {"build": build, "inputs": [[rng.normal(size=shape)]]}
    watched = [{"name": name, "run_as": "run_configured", "requests": [built]}]
    return _judged(student, file, name, (forbidden, allowed), watched)


def _judged(student: Student, file: str, name: str, rules: tuple[list[str], list[str]], watched: _Watched) -> Outcome:
    # Read inside a box: a hostile file can crash a parser, and then only that box is lost.
    match student.probe("names_used", file, name=name):
        case {"taken": list(taken), "perhaps": list(perhaps), "lookups": list(lookups), "complete": bool(complete)}:
            pass
        case _:
            raise Crashed(f"{file} could not be read", code="malformed_reply")
    runs = [_calls_of(student, file, request) for request in watched]
    calls, finished = [call for made, _ in runs for call in made], bool(runs) and runs[0][1]
    read, seen = _first_forbidden(taken, *rules), _first_forbidden(calls, *rules)
    if seen or (read and not finished):
        used, source, line = read or seen or ("", "", 0)
        where = place(source or file, line)
        message = f"{where} uses {quote(used)}, which is ready-made; write it out yourself"
        return failed(message, code="ready_made")
    if read:
        return _needs_review(read, "names {}, which is ready-made, though no trial run called it", "ready_made_named")
    if lookups:
        says = "looks names up while it runs ({}), so reading cannot tell what it uses"
        return _needs_review(lookups[0], says, "names_looked_up")
    if not finished and (doubtful := _first_forbidden(perhaps, *rules)):
        return _needs_review(doubtful, "uses {}, which may be ready-made", "perhaps_ready_made")
    if not complete:
        message = "it reaches more files of its own than were read; a person should look"
        return needs_review(message, 1, code="files_unread")
    return passed("nothing ready-made is used", evidence={"forbidden": rules[0], "allowed": rules[1]})


def _calls_of(student: Student, file: str, request: dict[str, Any]) -> tuple[list[Any], bool]:
    """What a run called, and whether it came to its end. What does not is judged by the checks that come later."""
    try:
        answer = student.probe("calls_made", file, **request)
    except StudentFault:
        return [], False
    match answer:
        case {"calls": list(calls), "finished": bool(finished)}:
            return calls, finished
    raise Crashed(f"{request['name']} could not be run", code="malformed_reply")


def _first_forbidden(
    mentions: Sequence[Any], forbidden: Sequence[str], allowed: Sequence[str]
) -> tuple[str, str, int] | None:
    for mention in mentions:
        match mention:
            case [str(name), str(source), int(line)] if _fits(name, forbidden) and not _fits(name, allowed):
                return name, source, line
    return None


def _fits(name: str, patterns: Sequence[str]) -> bool:
    """A pattern with a dot is about the whole path, one without about any part of it; capitals do not matter."""
    path = name.lower()
    for pattern in map(str.lower, patterns):
        if "." in pattern and (fnmatchcase(path, pattern) or fnmatchcase(path, f"{pattern}.*")):
            return True
        if "." not in pattern and any(fnmatchcase(part, pattern) for part in path.split(".")):
            return True
    return False


def _needs_review(mention: Sequence[Any], says: str, code: str) -> Outcome:
    name, source, line = mention
    message = f"{place(source, line)} {says.format(quote(name))}; a person should look"
    return needs_review(message, 1, code=code)
