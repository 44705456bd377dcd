"""The filter of system calls: what looks at others, or at what they read, is refused on both architectures."""

from __future__ import annotations

import errno
import os

import pytest

from grader.model import Limits
from grader.sandbox import BoxRunner
from grader.sandbox.jail import seccomp, syscalls
from tests.conftest import MakeSubmission

# name: (x86_64, aarch64, arguments that the kernel would take). `page` is memory of a file, `file` its descriptor,
# `room` some zeroed bytes.
PROBES: dict[str, tuple[int, int, str]] = {
    # which pages of a file are in memory
    "mincore": (27, 232, "page, 4096, room"),
    "preadv2 without waiting": (327, 286, "file, vector, 1, 0, 0, 8"),
    "preadv2": (327, 286, "file, vector, 1, 0, 0, 0"),
    "cachestat": (451, 451, "file, room, room, 0"),
    "readahead": (187, 213, "file, 0, 4096"),
    "madvise to merge pages": (28, 233, "page, 4096, 12"),
    "madvise to page out": (28, 233, "page, 4096, 21"),
    "process_madvise": (440, 440, "-1, vector, 1, 21, 0"),
    "get_mempolicy": (239, 236, "room, 0, 0, page, 3"),
    "move_pages": (279, 239, "0, 1, pages, 0, room, 0"),
    # when the first box was
    "statx": (332, 291, "-100, b'.', 0, 0xfff, room"),
    # what others do
    "inotify_init1": (294, 26, "0"),
    "fanotify_init": (300, 262, "0, 0"),
    "perf_event_open": (298, 241, "room, 0, -1, -1, 0"),
    "userfaultfd": (323, 282, "1"),
    "ptrace": (101, 117, "0, 0, 0, 0"),
    "process_vm_readv": (310, 270, "os.getpid(), vector, 1, vector, 1, 0"),
    "process_vm_writev": (311, 271, "os.getpid(), vector, 1, vector, 1, 0"),
    "kcmp": (312, 272, "os.getpid(), os.getpid(), 0, 0, 1"),
    "pidfd_open": (434, 434, "os.getpid(), 0"),
    "pidfd_getfd": (438, 438, "0, 0, 0"),
    "pidfd_send_signal": (424, 424, "0, 0, 0, 0"),
    "process_mrelease": (448, 448, "0, 0"),
    # signals to others, by whatever name; 0 is the signal that only asks whether there is somebody
    "tkill": (200, 130, "os.getpid(), 0"),
    "rt_sigqueueinfo": (129, 138, "os.getpid(), 10, ctypes.create_string_buffer(b'\\n', 128)"),
    "rt_tgsigqueueinfo": (297, 240, "os.getpid(), os.getpid(), 10, ctypes.create_string_buffer(b'\\n', 128)"),
    # privileges; the kernel lets anybody ask for none at all, or to stay who they are
    "capset": (126, 91, "ctypes.create_string_buffer(b'\\x22\\x05\\x08\\x20', 8), room"),
    "setuid": (105, 146, "os.getuid()"),
    "setresgid": (119, 149, "-1, -1, -1"),
    # ways around the walls
    "io_uring_setup": (425, 425, "1, room"),
    "io_uring_enter": (426, 426, "0, 0, 0, 0, 0, 0"),
    "io_uring_register": (427, 427, "0, 0, 0, 0"),
    "memfd_secret": (447, 447, "0"),
    "name_to_handle_at": (303, 264, "-100, b'.', handle, room, 0"),
    "open_by_handle_at": (304, 265, "-100, handle, 0"),
    "quotactl": (179, 60, "0x800002 << 8, 0, 0, room"),
    "add_key": (248, 217, "b'user', b'note', b'1', 1, -3"),
    "request_key": (249, 218, "b'user', b'note', 0, -3"),
    "keyctl": (250, 219, "0, -3, 1"),
    "bpf": (321, 280, "0, room, 120"),
    "seccomp": (317, 277, "2, 0, room"),
    "landlock_create_ruleset": (444, 444, "0, 0, 1"),
    "landlock_restrict_self": (446, 446, "0, 0"),
    "splice": (275, 76, "0, 0, 0, 0, 0, 0"),
    "vmsplice": (278, 75, "0, 0, 0, 0"),
    "personality": (135, 92, "0xffffffff"),
    "syslog": (103, 116, "10, 0, 0"),
}
COLUMN = {"x86_64": 0, "aarch64": 1}.get(os.uname().machine)
FROM_THE_FILTER = {errno.EPERM, errno.ENOSYS}

TRIES = """
    import ctypes, errno, mmap, os

    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]

    def call(number, *arguments):
        wide = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
        return ctypes.get_errno() if libc.syscall(ctypes.c_long(number), *wide) < 0 else 0

    def f(attempts):
        file = os.open(os.__file__, os.O_RDONLY)
        page = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, file, 0)
        room = ctypes.create_string_buffer(4096)
        handle = ctypes.create_string_buffer(b"\\x80" + bytes(200))
        pages = (ctypes.c_void_p * 1)(page)
        vector = (ctypes.c_size_t * 2)(ctypes.addressof(room), 64)
        here = {**globals(), **locals()}
        return {name: eval(f"call({number}, {arguments})", here) for name, (number, arguments) in attempts.items()}
"""


@pytest.mark.skipif(COLUMN is None, reason="there is no filter for this machine")
def test_what_looks_at_others_is_refused_by_the_filter(boxes: BoxRunner, submission: MakeSubmission) -> None:
    assert COLUMN is not None
    attempts = {name: [row[COLUMN], row[2]] for name, row in PROBES.items()}
    with boxes.open(submission(TRIES), Limits(), 0) as student:
        answers = student.call("work.py", "f", attempts)
    let_through = {
        name: errno.errorcode.get(code, code) for name, code in answers.items() if code not in FROM_THE_FILTER
    }
    assert let_through == {}


def _verdict(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """What the filter answers, worked out as the kernel does."""
    data = {0: number, 4: seccomp._AUDIT_ARCH[machine] if architecture is None else architecture}
    for index, argument in enumerate([*arguments, 0, 0, 0, 0, 0, 0][:6]):
        data |= {16 + 8 * index: argument & 0xFFFFFFFF, 20 + 8 * index: argument >> 32 & 0xFFFFFFFF}
    lines, at, loaded = seccomp.program(machine, own_pid=1), 0, 0
    while True:
        code, if_true, if_false, operand = lines[at]
        at += 1
        if code == seccomp._RETURN:
            return operand
        if code == seccomp._LOAD:
            loaded = data[operand]
            continue
        tests = {seccomp._EQUAL: loaded == operand, seccomp._AT_LEAST: loaded >= operand}
        at += if_true if tests.get(code, bool(loaded & operand)) else if_false


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_both_tables_refuse_the_same(machine: str) -> None:
    column = 0 if machine == "x86_64" else 1
    advice = {"madvise to merge pages": 12, "madvise to page out": 21}
    for name, row in PROBES.items():
        assert _verdict(machine, row[column], 0, 0, advice.get(name, 0)) in map(seccomp._errno, FROM_THE_FILTER), name
    for number in syscalls.numbers(syscalls.ALLOWED, machine).values():
        assert _verdict(machine, number) == seccomp._ALLOW
    madvise = syscalls.numbers(syscalls.CONDITIONAL, machine)["madvise"]
    assert _verdict(machine, madvise, 0, 0, 4) == seccomp._ALLOW, "allocators give memory back so"


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_calls_with_conditions_are_allowed_so_far_and_no_further(machine: str) -> None:
    calls = syscalls.numbers(syscalls.CONDITIONAL, machine)
    refused, unknown = seccomp._errno(errno.EPERM), seccomp._errno(errno.ENOSYS)
    thread, everything_else = 0x10000, 0xFFFEFFFF
    files = [*range(8), 36, 37, 38, 1030, 1031, 1032]  # copies, flags, locks and the size of pipes
    for name, fits, others in (
        ("kill", [(1, 9), (1, 0)], [(0, 9), (2, 9), (-1, 9), (3, 1), (0, 1)]),  # process, signal
        ("tgkill", [(1, 5, 6)], [(2, 1, 6), (0, 1, 1), (-1, 1, 1)]),  # process, thread, signal
        ("clone", [(thread,), (0x3D0F00,)], [(17,), (everything_else,), (0, thread)]),
        ("prctl", [(15,), (16,), (0x53564D41,)], [(1, 15), (22, 2), (24, 1), (38, 1), (0,)]),
        ("ioctl", [(0, 0x5401), (1, 0x5421)], [(0, 0x5412), (0x5401, 0), (0, 0x5402)]),
        ("fcntl", [(9, one) for one in files], [(0, 8), (0, 10), (0, 12), (0, 1033), (3, 1024)]),
        ("madvise", [(0, 0, 4), (0, 0, 17)], [(0, 0, 12), (4, 4, 20), (0, 0, 21), (0, 0, 100)]),
        ("prlimit64", [(0, 7, 0, 1), (0, 7)], [(0, 7, 1), (0, 7, 1 << 32), (0, 7, 0xFFFFFFFF << 32)]),
    ):
        assert [_verdict(machine, calls[name], *each) for each in fits] == len(fits) * [seccomp._ALLOW], name
        assert [_verdict(machine, calls[name], *each) for each in others] == len(others) * [refused], name
    assert _verdict(machine, calls["clone3"], thread) == unknown, "libc goes back to clone only for this answer"
    for table, answer in ((syscalls.REFUSED, refused), (syscalls.PRETENDED, seccomp._errno(0))):
        assert {_verdict(machine, number) for number in syscalls.numbers(table, machine).values()} == {answer}
    assert _verdict(machine, 9999) == unknown


def test_calls_by_another_table_end_the_box() -> None:
    """A number means another call to a 32-bit program, and x32 has the same calls by numbers of its own."""
    assert _verdict("x86_64", 0, architecture=0x40000003) == seccomp._KILL
    assert _verdict("aarch64", 63, architecture=0x40000028) == seccomp._KILL
    assert _verdict("x86_64", 0x40000000) == _verdict("x86_64", 0x40000000 + 41) == seccomp._KILL


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_no_number_means_two_calls(machine: str) -> None:
    tables = [syscalls.ALLOWED, syscalls.CONDITIONAL, syscalls.REFUSED, syscalls.PRETENDED]
    numbers = [number for table in tables for number in syscalls.numbers(table, machine).values()]
    assert sorted(set(numbers)) == sorted(numbers)


HONEST = """
    import os, shutil, tempfile, threading
    import numpy as np, torch

    def f():
        a = np.memmap("big.dat", dtype=np.float64, mode="w+", shape=(300, 300))
        a[:] = np.random.rand(300, 300); a.flush()
        np.save("a.npy", a); shutil.copy2("a.npy", "b.npy")
        b = np.load("b.npy", mmap_mode="r")
        with open("b.npy", "rb") as file:
            room = [bytearray(64)]
            read = os.preadv(file.fileno(), room, 0)
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
        values = np.linalg.svd(b, compute_uv=False)
        model = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(3):
            loss = model(torch.rand(2, 5, 16)).square().mean()
            optimizer.zero_grad(); loss.backward(); optimizer.step()
        torch.save(model.state_dict(), "model.pt")
        model.load_state_dict(torch.load("model.pt"))
        loader = torch.utils.data.DataLoader(list(range(8)), batch_size=4)
        with tempfile.TemporaryFile() as file:
            file.write(bytes(2**20))
        return [read, len(values), bool(loss > 0), len(list(loader))]
"""


@pytest.mark.slow
def test_honest_numerical_work_notices_nothing(submission: MakeSubmission) -> None:
    with BoxRunner(("numpy", "torch")) as runner, runner.open(submission(HONEST), Limits(), 0) as student:
        assert student.call("work.py", "f") == [64, 300, True, 2]


def test_a_box_need_not_compile_its_filter(boxes: BoxRunner, submission: MakeSubmission) -> None:
    counted = "sys.modules['_grader.sandbox.jail.seccomp'].compiled.cache_info().misses"
    asks = f"import sys\ndef f():\n    return {counted}\n"
    with boxes.open(submission(asks), Limits(), 0) as student:
        assert student.call("work.py", "f") == 1, "once, by the fork server"


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_number_is_answered_as_its_table_says(machine: str) -> None:
    """The filter looks numbers up by halves: none may be taken for its neighbour."""
    told = dict.fromkeys(syscalls.numbers(syscalls.PRETENDED, machine).values(), seccomp._errno(0))
    told |= dict.fromkeys(syscalls.numbers(syscalls.REFUSED, machine).values(), seccomp._errno(errno.EPERM))
    told |= dict.fromkeys(syscalls.numbers(syscalls.ALLOWED, machine).values(), seccomp._ALLOW)
    some_arguments = set(syscalls.numbers(syscalls.CONDITIONAL, machine).values())
    for number in set(range(1000)) - some_arguments:
        assert _verdict(machine, number) == told.get(number, seccomp._errno(errno.ENOSYS)), number
