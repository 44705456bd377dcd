"""Code that has seen a hidden input tries to carry it into the report: whatever it tries, the report stays the same.

What remains, by design, is told at the end: each of these costs the points of the check, and carries a few bits.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader import compare
from grader.checks.functions.nested import as_asked
from grader.errors import Crashed, Killed, WrongKind
from grader.grading.concealment import seconds_shown
from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Check, Limits, Outcome, Problem, Rubric, failed, passed
from grader.report.json_report import as_data
from grader.sandbox import BoxRunner
from tests.conftest import MakeSubmission, sampled

TOOLS = """
    import builtins, ctypes, json, os, stat, struct, sys, time
    import numpy as np

    KINDS = sorted((one for one in vars(builtins).values() if isinstance(one, type) and issubclass(one, Exception)
                    and one not in (UnicodeDecodeError, UnicodeEncodeError, UnicodeTranslateError)), key=str)
    HERE = os.getcwd() + "/work.py"

    def forge(**reply):
        encoded = {"~": "dict", "items": [["raised", {"~": "dict", "items": [[k, v] for k, v in reply.items()]}]]}
        send(json.dumps(encoded).encode())
    def send(header, magic=b"gbx1"):
        wire = next(fd for fd in range(3, 99) if is_socket(fd))
        os.write(wire, struct.pack(">4sIQ", magic, len(header), 0) + header)
    def is_socket(fd):
        try:
            return stat.S_ISSOCK(os.fstat(fd).st_mode)
        except OSError:
            return False
    def at(line):  # an error in a line of this file, which is long enough
        exec(compile("\\n" * (line - 1) + "1/0", HERE, "exec"))
"""
LONG_FILE = "\n" * 300

# In each, x is 37 or 201.
CLOSED = {
    "kind of exception": "raise KINDS[x % len(KINDS)]()",
    "name of an exception": "raise type(f'T{x}', (Exception,), {})()",
    "text of an exception": "raise ValueError(x)",
    "line of an exception": "at(x)",
    "first line of code": "exec(compile('1/0', HERE, 'exec').replace(co_firstlineno=x))",
    "line of a syntax error": "raise SyntaxError('bad', (HERE, x, 1, ''))",
    "traceback of another error": """
        try: at(x)
        except ZeroDivisionError as e: raise KeyError('k').with_traceback(e.__traceback__)""",
    "file of an exception": "exec(compile('1/0', os.getcwd() + ('/work.py' if x > 99 else '/other.py'), 'exec'))",
    "forged exception": "forge(type='KeyError', text='', file='work.py', line=x, importing=False)",
    "forged import": "forge(type=KINDS[x % len(KINDS)].__name__, text='', file='work.py', line=x, importing=True)",
    "no answer": "send(b'{') if x > 99 else send(b'', b'HTTP')",
    "memory or another error": "raise MemoryError if x > 99 else RuntimeError('No CUDA GPUs are available')",
    "way to end": "os._exit(x) if x > 99 else ctypes.string_at(0)",
    "signature": "globals()['f'] = eval(f'lambda v{x}, *, w: 1')",
    "names defined": "globals()[f'v{x}'] = 1; del globals()['f']",
    "type of an object": "return type(f'T{x}', (), {})()",
    "number of things": "return tuple(np.zeros(1) for _ in range(10 * x))",
    "printed": "print(x); return 7.0",
    "digits of an error": "return 1.25 + x * 1e-5",
    "place of an error": "return np.where(np.arange(300) == x, 9.0, 1.0)",
    "place of no number": "return np.where(np.arange(300) == x, np.nan, 1.0)",
    "exponent of an error": "return 10.0 ** x",
    "count with commas": "return 1.0, 'one', f'{12_000 + x:,}'",
    "tiny parts of a right answer": "return 1.0 + x * 1e-12",
    "number told by a pass": "return 1.0, 1000 + x",
}


def _asks(student: Any, rng: Any, *, x: int) -> Outcome:
    """As checks do: the size of an error is told, the values are kept back."""
    student.call("work.py", "f", x)
    got = student.call("work.py", "f", x)
    if isinstance(got, tuple) and len(got) == 2:
        return passed("right", evidence={"counted": got[1]})
    if isinstance(got, tuple) and len(got) == 3:
        return failed(f"{got[2]} of 5,000 are wrong")
    array = compare.numbers(got, "f()")
    found = compare.difference(array, np.ones(300 if array.shape == (300,) else ()))
    if found is None:
        return passed(f"right, to within {abs(float(array) - 1):.9g}")
    return failed(found.summary, found.detail, evidence={"off_by": found.size})


def _told(boxes: BoxRunner, work: Any, x: int, visibility: Any) -> dict[str, Any]:
    check = Check("asks", _asks, {"x": x}, "It asks.", Fraction(1), visibility=visibility)
    problem = Problem("1", "One", Fraction(1), (check,), Limits(cpu_seconds=5))
    report = grade(Rubric("r", "R", Fraction(1), (problem,), Path("r.yaml"), "0" * 64), work, boxes, Draw(0, None))
    (told,) = as_data(report)["problems"][0]["checks"]
    del told["seconds"]  # a busy machine changes them; `seconds_shown` says how roughly they are told
    shown = ("status", "code", "message", "evidence")
    return {key: told[key] for key in shown} | ({} if visibility == "public" else told)


def _code(body: str) -> dict[str, str]:
    inside = body if body.startswith("\n") else f"\n        {body}"
    return {"work.py": f"{TOOLS}\n    def f(x):{inside}\n{LONG_FILE}", "other.py": LONG_FILE}


@pytest.mark.parametrize("body", sampled(CLOSED.values(), 4), ids=list(CLOSED))
def test_a_hidden_check_tells_the_same_whatever_the_input(
    boxes: BoxRunner, submission: MakeSubmission, body: str
) -> None:
    work = submission(**_code(body))
    assert _told(boxes, work, 37, "public") != _told(boxes, work, 201, "public"), "this is no way to tell anything"
    assert _told(boxes, work, 37, "hidden") == _told(boxes, work, 201, "hidden")


def test_a_code_is_concealed_where_the_message_is() -> None:
    """How a process ends, and in which way one of several values is wrong, is chosen by the student's code."""
    wants = {"a": np.zeros(2), "b": np.zeros(2)}
    ways_to_end = (Crashed("raised", code="raised"), Killed("was killed"), Crashed("ended", "", "over", code="ended"))
    assert {fault.concealed_code for fault in ways_to_end} == {"crashed"}
    codes = []
    for wrong in (None, (1.0, 2.0, np.zeros(1)), [[1.0], [1.0, 2.0]], "text"):
        with pytest.raises(WrongKind) as caught:
            as_asked({"a": wrong, "b": np.zeros(2)}, wants, "f()")
        codes.append((caught.value.code, caught.value.concealed_code))
    assert codes == [(one, "wrong_kind") for one in ("returned_nothing", "wrong_parts", "ragged_rows", "not_numbers")]


# A student must be able to act on a verdict; each of these says what to look for and is chosen from a handful.
BY_DESIGN = {
    "whether it is right": "return 1.0 if x > 99 else 9.0",
    "how large the error is, to two digits": "return 1.0 + x",
    "that it crashed, gave no array, or has no such function": "return None if x > 99 else 1/0",
    "that it took too long": "time.sleep(100 if x > 99 else 0); return 2.0",
}


def test_what_remains_is_the_verdict_its_cause_and_the_size_of_the_error(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    *quick, _ = BY_DESIGN.values()
    for body in quick:
        work = submission(**_code(body))
        assert _told(boxes, work, 37, "hidden") != _told(boxes, work, 201, "hidden")


def test_places_are_believed_only_in_files_and_lines_that_were_handed_in(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    forged = "forge(type='KeyError', text='', file={file!r}, line={line}, importing=False)"
    places = [("work.py", 3), ("work.py", 3000), ("/etc/passwd", 1), ("../work/work.py", 1), ("gone.py", 1), ("", 1)]
    places += [("x" * 300, 1), ("a\0b", 1), ("\udc80", 1)]  # names that no file can have
    said = []
    for file, line in places:
        work = submission(**_code(forged.format(file=file, line=line)))
        said.append(_told(boxes, work, 37, "public")["message"].removeprefix("f() in work.py raised KeyError"))
    assert said == [" at work.py:3", *[""] * 8]


def test_how_long_a_hidden_check_took_is_told_by_order_of_magnitude() -> None:
    told = [seconds_shown(seconds, "hidden") for seconds in (0.001, 0.999, 1.001, 9.5, 11, 101, 5000)]
    assert told == [1, 1, 10, 10, 100, 1000, 1000]
    assert seconds_shown(0.12345, "public") == 0.123
