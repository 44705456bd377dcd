"""What a box is left with: limits, privileges, signals, environment and scratch folder, each looked at by itself."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from grader.model import Limits
from grader.sandbox import BoxRunner
from grader.sandbox.host import scratch
from grader.sandbox.jail import jail
from grader.submission.opening import open_submission
from tests.conftest import MakeSubmission

KINDS = ("CPU", "FSIZE", "NOFILE", "CORE", "MEMLOCK", "MSGQUEUE", "AS")
LIMITS = """
    import resource
    def f(kinds): return {kind: list(resource.getrlimit(getattr(resource, f"RLIMIT_{kind}"))) for kind in kinds}
"""


def test_every_limit_is_set_for_good(boxes: BoxRunner, submission: MakeSubmission) -> None:
    """The soft and the hard one: a soft limit alone could be raised again."""
    work, found = submission(LIMITS), []
    for memory_mb in (300, 700):
        limits = Limits(cpu_seconds=7, memory_mb=memory_mb, scratch_mb=3)
        with boxes.open(work, limits, 0) as student:
            found.append(student.call("work.py", "f", KINDS))
    (small, hard), (large, _) = (each.pop("AS") for each in found)
    want = {"CPU": 19, "FSIZE": 3 * 2**20, "NOFILE": 256, "CORE": 0, "MEMLOCK": 0, "MSGQUEUE": 0}
    assert found == 2 * [{kind: [limit, limit] for kind, limit in want.items()}]
    assert hard == small
    assert small > 300 * 2**20, "memory is counted from what the fork server uses already"
    assert large - small == pytest.approx(400 * 2**20, abs=16 * 2**20)


def test_limits_bite_where_they_are_set(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = """
        import errno, os, signal
        def f():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            said = []
            try:
                with open("big", "wb") as file:
                    file.truncate(2**20 + 1)
            except OSError as error:
                said.append(error.errno)
            try:
                while True:
                    os.dup(1)
            except OSError as error:
                said.append(error.errno)
            try:
                bytearray(200 * 2**20)
            except MemoryError:
                said.append("memory")
            return said
    """
    with boxes.open(submission(code), Limits(memory_mb=100, scratch_mb=1), 0) as student:
        assert student.call("work.py", "f") == [errno.EFBIG, errno.EMFILE, "memory"]


def _descendants(process: int) -> set[int]:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return {one for child in children for one in (int(child), *_descendants(int(child)))}


def test_a_box_has_no_capability_and_never_gets_one(boxes: BoxRunner, submission: MakeSubmission) -> None:
    work = submission("def f(): return 1")
    with boxes.open(work, Limits(), 0) as student:  # the fork server is there from now on
        student.call("work.py", "f")
    before = _descendants(os.getpid())
    with boxes.open(work, Limits(), 0) as student:
        student.call("work.py", "f")
        (box,) = _descendants(os.getpid()) - before
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{box}/status").read_text().splitlines())
    capabilities = [int(status[kind], 16) for kind in ("CapEff", "CapPrm", "CapInh", "CapAmb")]
    assert (capabilities, status["NoNewPrivs"], status["Seccomp"]) == ([0, 0, 0, 0], "1", "2")


def test_a_box_signals_nobody_but_itself(boxes: BoxRunner, submission: MakeSubmission) -> None:
    """EPERM is the filter's word: a process that is not there would be ESRCH, which is luck and no wall."""
    code = """
        import os, signal
        def refused(process):
            try:
                os.kill(process, 0)
            except OSError as error:
                return error.errno
            return 0
        def f():
            me, heard = os.getpid(), []
            signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
            os.kill(me, signal.SIGUSR1)
            return [refused(one) for one in (me + 1, 0, -1, -me, os.getppid(), 2**22)], refused(me), heard
    """
    with boxes.open(submission(code), Limits(), 0) as student:
        assert student.call("work.py", "f") == ([errno.EPERM] * 6, 0, [1])


@pytest.mark.slow
def test_the_fork_server_has_an_environment_of_its_own(
    submission: MakeSubmission, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GRADER_SECRET", "PYTHONHASHSEED", "PYTHONWARNINGS", "OMP_NUM_THREADS", "TMPDIR_OF_THE_TA"):
        monkeypatch.setenv(name, "7")
    code = """
        import os, sys
        def f(): return dict(os.environ), [getattr(sys.flags, name) for name in (
            "hash_randomization", "no_user_site", "no_site", "safe_path", "dont_write_bytecode")]
    """
    with BoxRunner() as fresh, fresh.open(submission(code), Limits(), 0) as student:
        seen, flags = student.call("work.py", "f")
    assert seen.pop("HOME") == seen.pop("TMPDIR")
    assert seen.pop("PYTHONHASHSEED") == "0"
    assert flags == [0, 1, 1, True, 1], "a seed of 0 is what Python calls no randomization"
    assert {name: seen.pop(name) for name in [*seen] if name.endswith("_NUM_THREADS")} == dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
    )
    assert seen.keys() <= {"PYTHONDONTWRITEBYTECODE", "LANG", "MALLOC_ARENA_MAX", "CUDA_VISIBLE_DEVICES", "MPLBACKEND"}


LEAVES_A_NOTE = """
    import os
    def f():
        there = sorted(os.listdir(os.environ["HOME"]))
        for place in (os.environ["HOME"], "."):
            with open(os.path.join(place, "note"), "w") as file:
                file.write("from another box")
        return there
"""


@pytest.mark.parametrize(
    "without", [(), pytest.param(("namespaces",), marks=pytest.mark.slow)], ids=["all layers", "no namespaces"]
)
def test_a_box_finds_its_scratch_folder_empty_and_leaves_nothing(
    submission: MakeSubmission, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without: tuple[str, ...]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    work = submission(LEAVES_A_NOTE)
    with BoxRunner(without=without) as runner:
        for _ in range(2):
            with runner.open(work, Limits(), 0) as student:
                assert student.call("work.py", "f") == ["submission"]
            (workspace,) = tmp_path.glob("grader-*")
            assert [*workspace.rglob("note")] == []
            assert len([*workspace.glob("scratch*")]) <= ("namespaces" not in without), "only a place to mount at"
    assert not workspace.exists()
    assert not (work.folder / "note").exists()


@pytest.mark.parametrize(
    "without", [(), pytest.param(("namespaces",), marks=pytest.mark.slow)], ids=["all layers", "no namespaces"]
)
def test_a_sandbox_writes_to_its_own_copy_and_reads_no_other_submission(
    tmp_path: Path, without: tuple[str, ...]
) -> None:
    code = """
import os
def f(path, mode):
    try:
        with open(path, mode) as file:
            return file.read() if mode == "r" else file.write("changed")
    except OSError as error:
        return type(error).__name__
def dates(path): return [os.stat(os.path.join(path, "work.py")).st_mtime, os.stat(os.path.dirname(path)).st_mtime]
"""
    for name in ("alice", "bob"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "work.py").write_text(code)
    with (
        BoxRunner(without=without) as runner,
        open_submission(tmp_path / "alice") as alice,
        open_submission(tmp_path / "bob") as bob,
    ):
        with runner.open(alice, Limits(), 0) as student:
            assert student.call("work.py", "f", "work.py", "r") == code
            (folder,) = runner.workspace.glob("submission-*")
            own = str(folder / "work.py")
            assert student.call("work.py", "f", own, "r") == code
            assert "Error" in student.call("work.py", "f", own, "w")
            assert "Error" in student.call("work.py", "f", str(folder / "new"), "w")
            assert student.call("work.py", "f", str(bob.folder / "work.py"), "r") == "PermissionError"
            assert student.call("work.py", "f", str(alice.folder / "work.py"), "r") == "PermissionError"
            assert student.call("work.py", "f", "work.py", "w") == len("changed"), "it has a copy to write into"
            assert student.call("work.py", "dates", str(folder)) == 2 * [1e9]
        assert Path(own).read_text() == (alice.folder / "work.py").read_text() == code
        with runner.open(bob, Limits(), 0) as student:
            assert student.call("work.py", "f", own, "r") in ("PermissionError", "FileNotFoundError")


def test_two_boxes_at_once_have_scratch_folders_of_their_own(boxes: BoxRunner, submission: MakeSubmission) -> None:
    work = submission(LEAVES_A_NOTE)
    with boxes.open(work, Limits(), 0) as one, boxes.open(work, Limits(), 0) as other:
        assert one.call("work.py", "f") == other.call("work.py", "f") == ["submission"]


def test_a_folder_is_measured_by_bytes_and_by_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").write_bytes(b"x" * 2**20)
    (tmp_path / "round").symlink_to(tmp_path)  # followed, it would never end
    assert not scratch.exceeds(tmp_path, 2 * 2**20)
    assert scratch.exceeds(tmp_path, 2**19)
    assert not scratch.exceeds(tmp_path / "gone", 0)
    assert scratch.exceeds(tmp_path / ("x" * 300), 2**30) is True, "what cannot be looked at is taken for too much"
    monkeypatch.setattr(scratch, "_MAX_ENTRIES", 4)
    assert not scratch.exceeds(tmp_path, 2 * 2**20)
    (inner / "one more").touch()
    assert scratch.exceeds(tmp_path, 2 * 2**20)


def test_a_folder_is_removed_whatever_is_in_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    (folder / "a").mkdir(parents=True)
    outside.write_text("stays")
    (folder / "link").symlink_to(outside)
    (folder / "a" / "file").touch(mode=0)
    scratch.remove(folder)
    assert not folder.exists()
    assert outside.read_text() == "stays"
    scratch.remove(tmp_path / ("x" * 300))  # what cannot be removed ends no grading, and nobody is told
    assert capfd.readouterr() == ("", "")


def test_a_submission_that_does_not_fit_is_read_where_it_is_and_leaves_nothing_open(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    code = """
        import os
        def is_open(number):
            try:
                os.fstat(number)
            except OSError:
                return False
            return True
        def f(): return os.path.exists("large"), [number for number in range(300) if is_open(number)]
    """
    work = submission(code)
    (work.folder / "large").write_bytes(b"x" * 2**21)
    with boxes.open(work, Limits(scratch_mb=1), 0) as student:
        assert student.call("work.py", "f") == (True, [0, 1, 2, 3])


def test_a_box_prints_by_streams_that_know_they_are_on_a_pipe(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = """
        import sys
        def f():
            print("said")
            print("whispered", file=sys.stderr, end="")
            streams = (sys.stdout, sys.stderr)
            return [(one.name, one.encoding, one.line_buffering, one.seekable(), one.isatty()) for one in streams]
    """
    for _ in range(2):
        with boxes.open(submission(code), Limits(), 0) as student:
            found = student.call("work.py", "f")
            assert student.printed == "said\nwhispered"
        assert found == [(place, "utf-8", True, False, False) for place in (1, 2)]


def test_threads_logs_and_chance_are_as_in_a_process_that_was_not_forked(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    code = """
        import logging, random, threading
        def f():
            drawn, lock = [], threading.Lock()
            def draw():
                with lock:
                    drawn.append(random.random())
                    logging.getLogger("of a thread").warning("drew")
            threads = [threading.Thread(target=draw) for _ in range(3)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            is_main = threading.current_thread() is threading.main_thread()
            return drawn, is_main, threading.main_thread().ident == threading.get_ident(), threading.active_count()
    """
    found = []
    for seed in (1, 1, 2):
        with boxes.open(submission(code), Limits(), seed) as student:
            found.append(student.call("work.py", "f"))
            assert student.printed == 3 * "drew\n"
    drawn = [one[0] for one in found]
    assert drawn[0] == drawn[1] != drawn[2]
    assert {one[1:] for one in found} == {(True, True, 1)}


def test_folders_inside_others_need_no_rule_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "lib" / "inner").mkdir(parents=True)
    (tmp_path / "library").mkdir()
    (tmp_path / "lib" / "link").symlink_to(tmp_path / "library")
    paths = [str(tmp_path / name) for name in ("lib/inner", "lib", "lib/link")]
    assert jail.outermost(paths) == paths[1:], "a link leads out of the folder it stands in"
