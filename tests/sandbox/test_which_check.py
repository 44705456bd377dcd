"""Code in a box cannot tell which check is running but by the inputs: a student who looks everywhere sees the same.

What differs from box to box, and tells nothing of the check, is named below: numbers drawn at random, the time now,
and numbers that the kernel hands out to the whole machine.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Check, Limits, Outcome, Problem, Rubric, passed
from grader.sandbox import BoxRunner
from tests.conftest import MakeSubmission

LOOKS_AROUND = """
    import gc, logging, os, random, resource, sys, threading, time
    import numpy as np

    AT_IMPORT = gc.get_count()

    def f(x):
        seen, frame = {}, sys._getframe().f_back
        while frame is not None:
            name = frame.f_code.co_name
            seen[f"{name}:line"] = repr(frame.f_lineno)
            for key, value in frame.f_locals.items():
                seen[f"{name}:{key}"] = repr(value)
                for attribute, inner in getattr(value, "__dict__", {}).items():
                    seen[f"{name}:{key}.{attribute}"] = repr(inner)[:2000]
            frame = frame.f_back
        seen["environment"] = repr(sorted(os.environ.items()))
        seen["arguments"] = repr([sys.argv, sys.orig_argv, sys.path])
        seen["processes"] = repr([os.getpid(), os.getppid(), threading.get_native_id()])
        seen["threads"] = repr([thread.name for thread in threading.enumerate()])
        seen["descriptors"] = repr([number for number in range(300) if is_open(number)])
        seen["random"] = repr([random.getstate()[1][:9], np.random.get_state()[1][:9].tolist(), hash("x")])
        seen["collector"] = repr([AT_IMPORT, gc.get_freeze_count(), gc.get_stats()])
        seen["modules"] = repr(sorted(sys.modules))
        seen["limits"] = repr([resource.getrlimit(kind) for kind in range(16)])
        seen["folder"] = repr([os.getcwd(), sorted(os.listdir("."))])
        top = os.path.dirname(os.environ["HOME"])
        settings = [f"{top}/settings-{libraries}.json" for libraries in ("numpy", "numpy-torch")]
        for path in (".", "work.py", os.environ["HOME"], top, *settings, find("submission")):
            seen[f"file {path}"] = repr(os.stat(path)) if os.path.exists(path) else "gone"
        return {"seen": seen, "ages": ages(top), "dicts": requests()}

    def is_open(number):
        try:
            return os.fstat(number) is not None
        except OSError:
            return False

    def find(key):  # where the box was told that the submission lies
        frame = sys._getframe()
        while "asked" not in frame.f_locals:
            frame = frame.f_back
        return getattr(frame.f_locals["asked"].confinement, key)

    def requests():
        found = [d for d in gc.get_objects() if isinstance(d, dict) and (d.keys() & {"probe", "id", "ended", "opened"})]
        return [repr(d)[:400] for d in found if len(d) < 9]

    def ages(top):  # everything that knows when something was, less than a day ago
        now, told = time.time(), {}
        for path in ("work.py", ".", os.environ["HOME"], top, find("submission"), find("submission") + "/work.py"):
            status = os.stat(path)
            told |= {f"{path} {key}": now - getattr(status, key) for key in ("st_mtime", "st_ctime", "st_atime")}
        for module in list(sys.modules.values()):
            for key, value in list(getattr(module, "__dict__", {}).items()):
                if isinstance(value, float):
                    told[f"{module.__name__}.{key}"] = now - value
        return {key: age for key, age in told.items() if 0 <= age < 86_400}
"""

# Drawn at random: numbers of 40 bits and more, the names of folders.
RANDOM = re.compile(r"\d{12,}|(?<=grader-)\w+|0x[0-9a-f]+")
# The time now, and the kernel's numbers of files, devices, processes and processor time used so far.
CLOCKS = re.compile(r"st_(?:ino|dev|[amc]time)=[\d.]+")


def _asks(student: Any, rng: Any, *, dumps: list[Any]) -> Outcome:
    dumps.append(student.call("work.py", "f", 1))
    return passed("asked")


def _asks_in_another_way(student: Any, rng: Any, *, dumps: list[Any]) -> Outcome:
    """What a check does outside, before or after it asks, is not seen inside either."""
    rng.random(1000)
    dumps.append(student.call("work.py", "f", 1))
    student.probe("latest_arguments", "work.py", calls=1)
    return passed("asked")


@pytest.fixture(params=[(), pytest.param(("namespaces",), marks=pytest.mark.slow)], ids=["all layers", "no namespaces"])
def runner(request: pytest.FixtureRequest) -> Iterator[BoxRunner]:
    with BoxRunner(without=request.param) as made:
        yield made


def test_two_checks_look_the_same_from_inside(runner: BoxRunner, submission: MakeSubmission) -> None:
    dumps: list[Any] = []
    ways = {"first": (_asks, "public"), "warm": (_asks, "public"), "hidden": (_asks_in_another_way, "hidden")}
    checks = tuple(
        Check(name, function, {"dumps": dumps}, "It asks.", Fraction(1), visibility=visibility)  # type: ignore[arg-type]
        for name, (function, visibility) in ways.items()
    )
    problem = Problem("1", "One", Fraction(3), checks, Limits())
    rubric = Rubric("r", "R", Fraction(3), (problem,), Path("r.yaml"), "0" * 64)
    work = submission(LOOKS_AROUND)
    # In a box that checks share, code knows what it was asked before. tests/test_groups.py says what comes of that.
    grade(rubric, work, runner, Draw(0, None), share_boxes=False)
    first, _, last = ({_plain(key): _plain(value) for key, value in dump["seen"].items()} for dump in dumps)
    differing = {
        key: (one, other) for key in first.keys() | last.keys() if (one := first.get(key)) != (other := last.get(key))
    }
    if "namespaces" not in runner.isolation.layers:  # processes have the whole machine's numbers then
        differing.pop("processes")
    assert differing == {}
    dicts = [[_plain(one) for one in dump["dicts"]] for dump in dumps]
    assert dicts[0] == dicts[2]
    assert len(first) > 40, "it should have looked around"


def _plain(text: str) -> str:
    return CLOCKS.sub("…", RANDOM.sub("…", text))


def test_no_box_leaves_flags_on_a_descriptor_for_the_next(runner: BoxRunner, submission: MakeSubmission) -> None:
    """What several boxes had open by one description, such as a standard input of the fork server's, would hand a note
    from one to the next."""
    code = """
        import fcntl
        def flags(notes):
            found = []
            for number in range(64):
                try:
                    found.append([number, fcntl.fcntl(number, fcntl.F_GETFL)])
                except OSError:
                    pass
            for number, before in found:
                fcntl.fcntl(number, fcntl.F_SETFL, before | notes)
            return found
    """
    work = submission(code)
    seen = []
    for notes in (os.O_APPEND | os.O_NONBLOCK, 0):
        with runner.open(work, Limits(), 0) as student:
            seen.append(student.call("work.py", "flags", notes))
    assert seen[0] == seen[1]
    assert {0, 1, 2} <= {number for number, _ in seen[0]}


def test_no_box_finds_where_earlier_ones_wrote(runner: BoxRunner, submission: MakeSubmission) -> None:
    """What the fork server puts into its own environment, libc keeps for ever: names of folders would count boxes."""
    code = """
        import ctypes, os, re
        def folders():
            libc = ctypes.CDLL(None)
            libc.sbrk.restype = ctypes.c_void_p
            reading, writing = os.pipe()
            pages, at = [], libc.sbrk(0) - 4096
            while libc.write(writing, ctypes.c_void_p(at), 4096) == 4096:  # down to where nothing is mapped
                pages.insert(0, os.read(reading, 4096))
                at -= 4096
            named = re.findall(rb"(?:TMPDIR|HOME)=[^\\0]*(scratch[-0-9]*)", b"".join(pages))
            return [len(pages), len(set(named))]
    """
    work = submission(code)
    seen = []
    for _ in range(4):
        with runner.open(work, Limits(), 0) as student:
            seen.append(student.call("work.py", "folders"))
    assert min(pages for pages, _ in seen) > 100, "it should have looked through the heap"
    assert len({count for _, count in seen}) == 1


@pytest.mark.slow
def test_nothing_in_a_box_is_as_old_as_the_fork_server(submission: MakeSubmission) -> None:
    """With the time of the first box, the time now would tell how far the grader has come."""
    with BoxRunner(("numpy", "torch")) as runner:
        work = submission(LOOKS_AROUND)
        for _ in range(2):
            time.sleep(1.5)
            opened = time.time()
            with runner.open(work, Limits(), 0) as student:
                ages = student.call("work.py", "f", 1)["ages"]
                took = time.time() - opened
                assert student.call("work.py", "f", 1)["seen"]
    assert {what: age for what, age in ages.items() if age > took + 1.4} == {}


@pytest.mark.slow
def test_that_arguments_are_looked_at_is_not_known_before_they_could_be_changed(
    runner: BoxRunner, submission: MakeSubmission
) -> None:
    """A function that writes into its argument unless it is watched is seen to do so."""
    code = """
        import sys
        def f(x):
            frame, names = sys._getframe(), []
            while frame is not None:
                names += [frame.f_code.co_name, *frame.f_locals]
                frame = frame.f_back
            if not any("argument" in name for name in names):
                x[0] = 9
            return x.copy()
    """
    with runner.open(submission(code), Limits(), 0) as student:
        student.call("work.py", "f", np.zeros(2))
        after = student.probe("latest_arguments", "work.py", calls=1)
    assert after[-1]["args"][0].tolist() == [9.0, 0.0]
