"""What any runner must do with any submission. Every case is a real attempt in a real box, judged from outside."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.errors import Crashed, Killed, StudentFault, TimedOut, WrongKind
from grader.model import Limits
from grader.sandbox import BoxRunner
from tests.conftest import REPOSITORY, MakeSubmission, raises, sampled
from tests.waiting import until

ORDINARY = Limits(cpu_seconds=5, wall_seconds=30)

RUNNERS = {
    "all layers": {},
    "without namespaces": {"without": ("namespaces",)},  # as in a container that forbids them
}


FIRST, *OTHERS = RUNNERS  # the quick loop holds one runner to the contract, the whole suite all of them


@pytest.fixture(scope="module", params=[FIRST, *(pytest.param(other, marks=pytest.mark.slow) for other in OTHERS)])
def runner(request: pytest.FixtureRequest) -> Iterator[BoxRunner]:
    if request.param == FIRST:
        yield request.getfixturevalue("torch_boxes")
        return
    with BoxRunner(("numpy", "torch"), **RUNNERS[request.param]) as made:
        yield made


@pytest.fixture
def ask(runner: BoxRunner, submission: MakeSubmission) -> Any:
    """ask(code, *args): what `f(*args)` in this code returns, run in a box of its own."""

    def asked(code: str, *args: Any, limits: Limits = ORDINARY) -> Any:
        with runner.open(submission(code), limits, seed=1) as student:
            return student.call("work.py", "f", *args)

    return asked


# Values come back as they are.


@pytest.mark.parametrize(
    "expression",
    ["None", "True", "3", "-2.5", "'Grüße'", "1j", "[1, [2.0, 'x']]", "{'a': 1, 'b': [None]}", "10**100"],
)
def test_returns_plain_values(ask: Any, expression: str) -> None:
    assert ask(f"def f(): return {expression}") == eval(expression)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex128"])
def test_returns_arrays_of_every_numeric_dtype(ask: Any, dtype: str) -> None:
    want = np.arange(6).reshape(2, 3).astype(dtype)
    got = ask("def f(x): return x", want)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "expression",
    [
        "np.asfortranarray(x)",
        "x[::-1][::-1]",
        "x.astype('>f8')",
        "np.matrix(x)",
        "np.ma.masked_array(x)",
        "torch.tensor(x)",
        "torch.tensor(x, requires_grad=True)",
        "torch.tensor(x).T.contiguous().T",
        "torch.tensor(x).to_sparse()",
        "torch.nn.Parameter(torch.tensor(x))",
        "torch.tensor(x).to(torch.bfloat16)",
    ],
)
def test_how_an_array_is_kept_does_not_matter(ask: Any, expression: str) -> None:
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(ask(f"import numpy as np, torch\ndef f(x): return {expression}", x), x)


def test_arguments_can_be_written_into(ask: Any) -> None:
    np.testing.assert_array_equal(ask("def f(x):\n    x += 1\n    return x", np.zeros(3)), np.ones(3))


def test_code_finds_its_neighbours_and_may_write_beside_itself(runner: BoxRunner, submission: MakeSubmission) -> None:
    work = submission(
        **{
            "src/work.py": """
                import helper
                def f():
                    with open("src/notes.txt") as notes:
                        text = notes.read()
                    open("log.txt", "w").write(text)
                    return [helper.two(), open("log.txt").read()]
            """,
            "src/helper.py": "def two(): return 2",
            "src/notes.txt": "hello",
        }
    )
    with runner.open(work, Limits(), seed=0) as student:
        assert student.call("src/work.py", "f") == [2, "hello"]
    assert not (work.folder / "log.txt").exists()


def test_relative_imports_work_inside_a_package(runner: BoxRunner, submission: MakeSubmission) -> None:
    work = submission(
        **{
            "course/hw/__init__.py": "",
            "course/hw/work.py": "from .parts import two\nfrom .deep.more import three\ndef f(): return two + three",
            "course/hw/parts.py": "two = 2",
            "course/hw/deep/__init__.py": "",
            "course/hw/deep/more.py": "from ..parts import two\nthree = two + 1",
        }
    )
    with runner.open(work, Limits(), seed=0) as student:
        assert student.call("course/hw/work.py", "f") == 5


def test_random_numbers_are_the_same_every_time(ask: Any) -> None:
    code = """
        import random, numpy as np, torch
        def f(): return [random.random(), float(np.random.rand()), float(torch.rand(1)), list({'a', 'b', 'c', 'd'})]
    """
    assert ask(code) == ask(code)


def test_threads_are_allowed(ask: Any) -> None:
    code = """
        import threading
        def f():
            done = []
            threads = [threading.Thread(target=done.append, args=(n,)) for n in range(8)]
            [t.start() for t in threads]; [t.join() for t in threads]
            return sorted(done)
    """
    assert ask(code) == list(range(8))


# Limits stop it.


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "return len(str(7 ** (10 ** 9)))",  # one bytecode, deaf to Python signals
        "while True: pass",
        "import signal\n    signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n    while True: pass",
        "import threading\n    threading.Thread(target=f).start()\n    while True: pass",
    ],
)
def test_endless_loops_run_out_of_processor_time(ask: Any, body: str) -> None:
    with pytest.raises(TimedOut, match="1 s of processor time"):
        ask(f"def f():\n    {body}", limits=Limits(cpu_seconds=1, wall_seconds=30))


@pytest.mark.slow
def test_an_endless_loop_at_import_is_stopped_too(ask: Any) -> None:
    with pytest.raises(TimedOut):
        ask("while True: f = len", limits=Limits(cpu_seconds=1, wall_seconds=30))


@pytest.mark.slow
def test_sleeping_runs_out_of_wall_time(ask: Any) -> None:
    """It would wake up and answer, long before anything else stops it, if nobody minded the limit."""
    code = "import time\ndef f():\n    time.sleep(8)\n    return 1"
    with pytest.raises(TimedOut, match="no answer within 1 s"):
        ask(code, limits=Limits(wall_seconds=1))
    assert ask(code.replace("8", "1.5"), limits=Limits(wall_seconds=30)) == 1


@pytest.mark.parametrize(
    "body",
    ["return np.ones(10 * 2**30, dtype=np.uint8)", "return bytearray(10 * 2**30)", "return torch.ones(10 * 2**30)"],
)
def test_ten_gigabytes_are_refused(ask: Any, body: str) -> None:
    with raises(Crashed, "out_of_memory"):
        ask(f"import numpy as np, torch\ndef f(): {body}")


def test_disk_space_is_bounded(ask: Any, runner: BoxRunner) -> None:
    ask("def f(): return 1")
    code = """
        def f():
            written = 0
            for n in range(100):
                try:
                    with open(f"big{n}", "wb") as file:
                        for _ in range(64):
                            written += file.write(bytes(2**20))
                except OSError:
                    break
            return written
    """
    if "namespaces" in runner.isolation.layers:  # the scratch folder is a file system of its own
        assert ask(code, limits=Limits(scratch_mb=8)) <= 8 * 2**20
    # And no single file may grow beyond it anywhere. With a hole in it, it fills no disk that the grader would look at.
    code = "def f():\n    with open('big', 'wb') as file:\n        file.seek({} * 2**20 - 1)\n        file.write(b'x')"
    ask(code.format(8), limits=Limits(scratch_mb=8))
    with raises(Crashed, "raised"):
        ask(code.format(9), limits=Limits(scratch_mb=8))


def test_a_thousand_threads_are_stopped(ask: Any) -> None:
    code = """
        import threading, time
        def f():
            threading.stack_size(65536)
            for _ in range(1000):
                threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
            time.sleep(20)
    """
    with raises(Crashed, "too_many_threads"):
        ask(code)


@pytest.mark.slow
def test_folders_nested_without_end_do_no_harm(ask: Any) -> None:
    code = """
        import os
        def f():
            for _ in range(3000):
                os.mkdir("d")
                os.chdir("d")
            return 1
    """
    with contextlib.suppress(Crashed):  # stopped, or done and gone with the box
        ask(code)
    assert ask("def f(): return 2") == 2


def test_many_files_fill_the_scratch_folder_and_nothing_else(ask: Any) -> None:
    code = """
        import time
        def f():
            for n in range(200):
                with open(f"big{n}", "wb") as file:
                    file.write(bytes(2**20))
                time.sleep(0.01)
            return 1
    """
    with pytest.raises(Crashed) as caught:
        ask(code, limits=Limits(scratch_mb=8))
    assert caught.value.code in ("raised", "wrote_too_much")  # where the folder is a file system of its own, or not


def test_a_submission_of_common_size_is_a_copy_that_its_code_may_write_into(
    runner: BoxRunner, submission: MakeSubmission
) -> None:
    code = "def f():\n    with open('notes.txt', 'r+') as file:\n        return len(file.read()) + file.write('seen')"
    work = replace(submission(**{"work.py": code, "notes.txt": "n" * 10_000}), size_bytes=16 * 2**20)
    with runner.open(work, Limits(), seed=0) as student:
        assert student.call("work.py", "f") == 10_004
    assert (work.folder / "notes.txt").read_text() == "n" * 10_000


def test_a_large_submission_is_read_where_it_lies(runner: BoxRunner, submission: MakeSubmission) -> None:
    work = submission(**{"work.py": "import helper\ndef f(): return helper.one", "helper.py": "one = 1"})
    large = replace(work, size_bytes=64 * 2**20)
    with runner.open(large, Limits(), seed=0) as student:
        assert student.call("work.py", "f") == 1


@pytest.mark.slow
def test_a_gigabyte_on_stdout_is_drained_and_the_value_still_comes(ask: Any) -> None:
    code = """
        import os
        def f():
            block = b"x" * 2**20
            for _ in range(1024):
                os.write(1, block)
            return 7
    """
    assert ask(code, limits=Limits(cpu_seconds=20, wall_seconds=60)) == 7


# However it ends, the grader goes on and says what happened.


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("os._exit(0)", "process_ended"),
        ("os._exit(77)", "process_ended"),
        ("sys.exit('bye')", "raised"),
        ("raise KeyboardInterrupt", "raised"),
        ("ctypes.string_at(0)", "died_of_signal"),
        ("os.abort()", "died_of_signal"),
        ("f()", "raised"),
        pytest.param(
            "sys.setrecursionlimit(10**9); f()",
            "died_of_signal raised out_of_memory timed_out",
            marks=pytest.mark.slow,
        ),
        ("os.closerange(3, 200); return 1", "process_ended"),
        ("raise type('Odd', (Exception,), {'__str__': lambda self: 1/0})()", "raised"),
    ],
)
def test_any_ending_is_survived(ask: Any, body: str, codes: str) -> None:
    with pytest.raises(Crashed) as caught:
        ask(f"import ctypes, os, sys\ndef f(): {body}")
    assert caught.value.code in codes.split(), caught.value.message
    assert ask("def f(): return 1") == 1


def test_sigkill_of_itself_is_survived(ask: Any, runner: BoxRunner) -> None:
    code = "import os, signal\ndef f():\n    os.kill(os.getpid(), signal.SIGKILL)\n    return 'still here'"
    ask("def f(): return 1")
    if "namespaces" in runner.isolation.layers:
        assert ask(code) == "still here"  # process 1 of its own namespace cannot kill itself
    else:
        with raises(Killed, "killed"):
            ask(code)
    assert ask("def f(): return 1") == 1


# It cannot lie on the wire, only answer.

ON_THE_WIRE = """
    import os, stat, struct, json
    def wire():
        return next(fd for fd in range(3, 256) if is_socket(fd))
    def is_socket(fd):
        try:
            return stat.S_ISSOCK(os.fstat(fd).st_mode)
        except OSError:
            return False
    def array(dtype, shape):
        value = {'~': 'array', 'dtype': dtype, 'shape': shape, 'at': 0}
        return json.dumps({'~': 'dict', 'items': [['value', value]]}).encode()
    def frame(header, body=b"", size=None):
        return struct.pack(">4sIQ", b"gbx1", len(header), len(body) if size is None else size) + header + body
"""


@pytest.mark.parametrize(
    "sent",
    sampled(
        [
            "b'gbx1' + bytes(5); os._exit(0)",  # half a frame
            "b'HTTP/1.1 200 OK\\r\\n\\r\\n' * 10",
            "frame(b'{')",
            "frame(b'[' * 100000)",
            "frame(b'9' * 100000)",
            "frame(b'\\xff\\xfe')",
            "frame(b'{}', size=2**60)",
            "frame(b'{\"value\": 1}')",  # an object without a tag
            "frame(json.dumps({'~': 'dict', 'items': [['passed', True], ['score', 1]]}).encode())",
            "frame(array('O', [1]), bytes(8))",
            "frame(array('<f8', [2**62, 4]))",
            "frame(array('<f8', [-1]))",
            "frame(array('<f8', [9]))",
            "frame(json.dumps({'~': 'dict', 'items': [['layers', []]]}).encode())",
            "frame(json.dumps({'~': 'dict', 'items': [['refused', 'x']]}).encode())",
        ],
        3,
    ),
)
def test_forged_frames_are_the_students_fault(ask: Any, sent: str) -> None:
    first, _, then = sent.partition("; ")
    code = ON_THE_WIRE + f"    def f():\n        os.write(wire(), {first})\n        {then or 'return 1'}\n"
    with pytest.raises(StudentFault):
        ask(code)


def test_a_forged_answer_is_only_a_value(ask: Any) -> None:
    sent = "frame(json.dumps({'~': 'dict', 'items': [['value', 41]]}).encode())"
    assert ask(ON_THE_WIRE + f"    def f():\n        os.write(wire(), {sent})\n        return 42\n") == 41


@pytest.mark.parametrize(
    "expression",
    [
        "np.array([object()])",
        "np.array(['text'])",
        "np.zeros(2, dtype=[('a', 'f8')])",
        "object()",
        "(n for n in range(3))",
        "{1: 2}",
        "torch.empty(3, device='meta')",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
        "list(range(10**6))",
        "np.zeros(2**29, dtype=np.uint8)",
        "10 ** 5000",
    ],
)
def test_what_is_no_value_is_refused_by_name(ask: Any, expression: str) -> None:
    with raises(WrongKind, "not_numbers"):
        ask(f"import numpy as np, torch\ndef f(): return {expression}")


def test_nan_and_infinity_arrive_as_they_are(ask: Any) -> None:
    got = ask("import numpy as np\ndef f(): return [np.array([np.nan, np.inf]), float('nan')]")
    np.testing.assert_array_equal(got[0], [np.nan, np.inf])
    assert np.isnan(got[1])


def test_subclasses_with_lying_operators_are_only_numbers_outside(ask: Any) -> None:
    code = """
        import numpy as np, torch
        class Array(np.ndarray):
            def __eq__(self, other): return True
            def __array_function__(self, *a, **k): return True
        class Tensor(torch.Tensor):
            def __eq__(self, other): return True
        def f():
            return [np.zeros(2).view(Array), torch.zeros(2).as_subclass(Tensor)]
    """
    for got in ask(code):
        assert type(got) is np.ndarray
        np.testing.assert_array_equal(got, np.zeros(2))


# It cannot get out.

REFUSED = {
    "inet socket": "import socket; socket.socket()",
    "udp socket": "import socket; socket.socket(type=socket.SOCK_DGRAM)",
    "unix socket": "import socket; socket.socket(socket.AF_UNIX)",
    "netlink socket": "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "fork": "os.fork()",
    "double fork and setsid": "os.fork() or (os.setsid(), os.fork())",
    "setsid": "os.setsid()",
    "forkpty": "os.forkpty()",
    "posix_spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "subprocess": "import subprocess; subprocess.run(['/bin/true'])",
    "exec": "os.execv('/bin/true', ['true'])",
    "multiprocessing": "import multiprocessing as m; p = m.get_context('fork').Process(target=print); p.start()",
    "passwd": "open('/etc/passwd').read()",
    "repository": f"open({str(REPOSITORY / 'pyproject.toml')!r}).read()",
    "rubric": f"open({str(REPOSITORY / 'rubrics' / 'dl-hw3' / 'rubric.yaml')!r}).read()",
    "code of a rubric": f"open({str(REPOSITORY / 'rubrics' / 'ridge' / 'checks.py')!r}).read()",
    "reference source": f"open({str(REPOSITORY / 'reference' / 'attention.py')!r}).read()",
    "list the repository": f"os.listdir({str(REPOSITORY)!r})",
    "list home": "os.listdir(os.path.expanduser('~root'))",
    "own environment by proc": "open('/proc/self/environ', 'rb').read()",
    "root by proc": "open('/proc/self/root/etc/passwd').read()",
    "parent's memory": "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
    "process 1's memory": "open('/proc/1/mem', 'rb').read(1)",
    "shared memory": "open('/dev/shm/x', 'w')",
    "write to tmp": "open('/tmp/escaped', 'w')",
    "write to the installation": "open(os.path.join(os.path.dirname(os.__file__), 'os.py'), 'r+')",
    "empty a file of the installation": "os.open(os.__file__, os.O_RDONLY | os.O_TRUNC)",
    "truncate by path": f"os.truncate({str(REPOSITORY / 'README.md')!r}, 0)",
    "link to a secret": f"os.symlink({str(REPOSITORY / 'README.md')!r}, 's'); open('s').read()",
    "hard link to a secret": f"os.link({str(REPOSITORY / 'README.md')!r}, 's'); open('s').read()",
    "rename a repository file": f"os.rename({str(REPOSITORY / 'README.md')!r}, 'mine')",
    "delete a repository file": f"os.unlink({str(REPOSITORY / 'README.md')!r})",
    "signal the parent": "os.kill(os.getppid() or 999999, 9)",
    "signal everyone": "os.kill(-1, 9)",
    "signal the group": "os.killpg(0, 9)",
    "raise its own limits": "import resource; resource.setrlimit(resource.RLIMIT_CPU, (10**6, 10**6))",
    "memfd": "os.memfd_create('x')",
    "set owner of signals": "import fcntl; fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid() or 1)",
    "push bytes into a terminal": "import fcntl; fcntl.ioctl(1, 0x5412, b'x')",
    "real-time priority": "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))",
    "pin other cores": "os.sched_setaffinity(0, {0})",
}

RAW_CALLS = {
    "mount": "call(165, b'none', b'/', b'tmpfs', 0, 0)",
    "unshare": "call(272, 0x10000000)",
    "ptrace": "call(101, 16, os.getppid(), 0, 0)",
    "process_vm_readv": "call(310, os.getppid(), 0, 0, 0, 0, 0)",
    "bpf": "call(321, 0, 0, 0)",
    "keyctl": "call(250, 0, 0, 0, 0, 0)",
    "io_uring": "call(425, 8, ctypes.create_string_buffer(200))",
    "userfaultfd": "call(323, 0)",
    "perf_event_open": "call(298, ctypes.create_string_buffer(200), 0, -1, -1, 0)",
    "raw clone": "call(56, 17, 0, 0, 0, 0)",
    "raw clone3": "call(435, ctypes.create_string_buffer(bytes(32) + bytes([17]), 88), 88)",
    "raw vfork": "call(58)",
    "open by handle": "call(304, -100, ctypes.create_string_buffer(200), 0)",
    "second landlock ruleset": "call(444, 0, 0, 1)",
    "a more lenient filter": "call(317, 1, 0, 0)",
}
if os.uname().machine == "x86_64":  # they are written with its numbers
    REFUSED |= RAW_CALLS


@pytest.mark.parametrize("attempt", sampled(REFUSED.values(), 3), ids=list(REFUSED))
def test_is_refused(ask: Any, attempt: str) -> None:
    setup, _, last = attempt.rpartition("; ")
    code = f"""
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        def call(number, *arguments):
            wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
            if libc.syscall(ctypes.c_long(number), *wide) < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        def f():
            me = os.getpid()
            try:
                {setup or "pass"}
                {last}
            except (OSError, ValueError) as error:  # setrlimit raises ValueError for "not permitted"
                return ["refused", str(error)]
            if os.getpid() != me:
                os._exit(0)
            return ["done", 0]
    """
    assert ask(code)[0] == "refused"


def test_a_fork_bomb_goes_nowhere(ask: Any) -> None:
    code = """
        import os
        def f():
            refused = 0
            for _ in range(10000):
                try:
                    os.fork()
                except OSError:
                    refused += 1
            return refused
    """
    assert ask(code) == 10000


@pytest.mark.parametrize(
    "module", ["grader", "grader.checks", "grader.checks.functions.values", "reference", "reference.attention"]
)
def test_neither_grader_nor_answers_can_be_imported(ask: Any, module: str) -> None:
    code = f"""
        import importlib, sys
        def f():
            try:
                importlib.import_module({module!r})
            except (ImportError, OSError):
                return [name for name in sys.modules if name.split(".")[0] in ("grader", "reference")]
            return "imported"
    """
    assert ask(code) == []


def test_the_fork_server_holds_no_answer_and_no_secret(
    runner: BoxRunner, submission: MakeSubmission, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_SECRET", "hunter2")
    with BoxRunner(("numpy",)) as fresh, fresh.open(submission(SEARCH), Limits(), seed=0) as student:
        assert student.call("work.py", "f") == []


SEARCH = """
    import gc, os, sys
    def f():
        found = [key for key in os.environ if "SECRET" in key]
        for module in list(sys.modules.values()):
            if "multi_head_attention" in getattr(module, "__dict__", {}):
                found.append(module.__name__)
        found += [o for o in gc.get_objects() if isinstance(o, str) and "hunter2" in o and o != "hunter2"]
        return found
"""


def test_other_submissions_cannot_be_read(runner: BoxRunner, submission: MakeSubmission, tmp_path: Path) -> None:
    other = tmp_path / "bob"
    other.mkdir()
    (other / "attention.py").write_text("answer = 42")
    work = submission("def f(path): return open(path).read()")
    with runner.open(work, Limits(), seed=0) as student, pytest.raises(Crashed, match="PermissionError"):
        student.call("work.py", "f", str(other / "attention.py"))


def test_modes_of_files_outside_stay_as_they_are(ask: Any) -> None:
    before = stat.S_IMODE((REPOSITORY / "README.md").stat().st_mode)
    ask(f"import os\ndef f(): os.chmod({str(REPOSITORY / 'README.md')!r}, 0o777)")
    assert stat.S_IMODE((REPOSITORY / "README.md").stat().st_mode) == before


# Nothing carries over.


def test_a_second_box_is_unaffected_by_the_first(runner: BoxRunner, submission: MakeSubmission) -> None:
    code = """
        import builtins, json, os, sys, tempfile
        import numpy as np
        def spoil():
            np.allclose = np.array_equal = lambda *a, **k: True
            np.exp = lambda x: 0
            builtins.len = lambda x: 0
            json.dumps = lambda *a, **k: '{"~": "dict", "items": [["value", 0]]}'
            sys.path.insert(0, os.getcwd())
            for folder in (os.getcwd(), tempfile.gettempdir()):
                with open(os.path.join(folder, "numpy.py"), "w") as file:
                    file.write("raise SystemExit")
            return 1
        def clean():
            return [float(np.exp(0.0)), bool(np.allclose(0, 1)), os.path.exists("numpy.py")]
    """
    work = submission(code)
    with runner.open(work, Limits(), seed=0) as student, contextlib.suppress(StudentFault):
        student.call("work.py", "spoil")
    with runner.open(work, Limits(), seed=0) as student:
        assert student.call("work.py", "clean") == [1.0, False, False]


def _children(process: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@pytest.mark.slow
def test_no_process_is_left_behind(submission: MakeSubmission) -> None:
    work = submission(
        """
        import os, threading, time
        def f():
            for attempt in (os.fork, os.forkpty, lambda: os.posix_spawn("/bin/sleep", ["sleep", "99"], {})):
                try:
                    attempt()
                except OSError:
                    pass
            threading.Thread(target=time.sleep, args=(99,)).start()
            return os.getpid()
        """
    )
    before = set(_children(os.getpid()))
    runner = BoxRunner()
    for _ in range(3):
        with runner.open(work, Limits(), seed=0) as student:
            student.call("work.py", "f")
    (zygote,) = set(_children(os.getpid())) - before
    family = [zygote, *_children(zygote)]
    until(lambda: sum(len(_children(process)) for process in family) <= 1)  # the stand-in's child is the fork server
    runner.close()
    assert not any(Path(f"/proc/{process}").exists() for process in family)


@pytest.mark.slow
def test_the_runner_itself_needs_no_shell_path_or_home(
    submission: MakeSubmission, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "PATH", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONSTARTUP", "/nonexistent")
    with BoxRunner() as fresh, fresh.open(submission("def f(): return 1"), Limits(), seed=0) as student:
        assert student.call("work.py", "f") == 1
