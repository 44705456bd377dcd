"""The fork server: libraries loaded once, no answer anywhere in its memory, a fresh child for every box.

It reads requests from its control socket: {"open": {...}} with two descriptors (the box's wire and output), and
answers {"opened": id} with a descriptor by which the grader can kill and watch the box. When a box ends, it says
{"ended": id, ...} with how. When the grader hangs up it exits, and all boxes with it.

Boxes that need no heavy library are forked ten times as quickly from a server without. Where there is one to load, two
come from the one process that was begun: they part when all else has been loaded.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from functools import lru_cache
from typing import Any, NamedTuple, TextIO

import numpy as np

from ..jail import jail, landlock, namespaces, seccomp, syscalls
from . import warm_start, wire, worker
from .loading import later_modules, stand_ins

_MESSAGE_BYTES = 1 << 16
_WIRE, _SHARED = 3, 4  # descriptors in a box: its channel to the grader; the rules of Landlock, until they are enforced
_ASIDE = 64  # above those
_PRINTED = (1, 2)  # standard output and error
_streams: list[TextIO] = []  # on these, for every box
_COPIED_BYTES = 1 << 16  # at a time


def main(settings: dict[str, Any]) -> None:
    control, light_control = (socket.socket(fileno=settings[name]) for name in ("control", "light_control"))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the grader decides what ends
    gc.disable()  # nothing that is being loaded is garbage, and looking for it takes torch a fifth longer
    np.random.default_rng(0).normal(size=(2, 2)) @ np.eye(2)  # numpy puts some of its loading off to the first use
    importlib.import_module("unicodedata")  # Python itself loads it for a name such as β, which a box may not any more
    settings = _told(control)
    sys.path[:] = settings["path"]
    isolated = "namespaces" not in settings["without"] and namespaces.available()
    libraries = settings["light"]
    for name in libraries:
        importlib.import_module(name)
    if settings["heavy"] and os.fork():
        light_control.close()
        libraries = [*libraries, *settings["heavy"]]
    elif settings["heavy"]:  # the other one, which is ready long before
        control.close()
        control, settings["warm_up"] = light_control, settings["light_warm_up"]
    else:
        light_control.close()
    if isolated:
        namespaces.enter_as_first_process()
    for name in libraries:
        importlib.import_module(name)
    if "torch" in libraries:
        _finish_loading_torch()
    stand_ins.offer(libraries)
    warm_start.run(settings["warm_up"])
    later_modules.begin()
    shared = None
    if landlock.abi() and "landlock" not in settings["without"]:
        rules = jail.shared_rules(settings["readable"], settings["listable"], settings["workspace"])
        shared = landlock.ruleset(rules)
        settings["installation"] = jail.outermost(settings["installation"])
    with contextlib.suppress(OSError):  # a machine without a table of calls is refused box by box
        # Process 1, if isolated, and so is every box: they inherit the compiled filter.
        seccomp.compiled(os.getpid(), syscalls.ALLOWED)
    _make_streams()
    jail.address_space_in_use()
    _greeting((*(jail.OPTIONAL if isolated else ()), *jail.REQUIRED))  # of most boxes
    # Keeps the collector from touching, and so copying, every page in every box. What is garbage by now stays: to look
    # for it takes a twentieth of the time that torch takes to load.
    gc.freeze()
    gc.collect()  # nothing, but it also gives back what Python keeps for reuse, which every box would have to do
    gc.enable()
    control.send(json.dumps({"isolated": isolated}).encode())
    asked, received = _Server(control).run(isolated)
    if asked is None:
        os._exit(0)  # there is nothing to put away, and taking torch apart takes half a second
    control.detach()
    _keep_only(*received, *(() if shared is None else (shared,)))
    received.clear()
    _become_box(asked, settings, isolated, shared is not None)


def _told(control: socket.socket) -> dict[str, Any]:
    """What is to be loaded, and what boxes may open: by then all that every box needs has been loaded."""
    written = control.recv(_MESSAGE_BYTES)
    if not written:
        os._exit(0)  # the grader was asked for something that needs no box
    with open(written, encoding="utf-8") as file:
        settings: dict[str, Any] = json.load(file)
    return settings


def _finish_loading_torch() -> None:
    """Run once what torch puts off to its first use, so that no box pays for it or needs more files for it."""
    import torch

    torch.set_num_threads(1)
    layer = torch.nn.Linear(2, 2)
    layer(torch.ones(1, 2)).sum().backward()


class _Asked(NamedTuple):
    """What a box is to be."""

    seed: int
    copy: bool  # whether its code gets a copy of the submission to write into
    confinement: jail.Confinement


class _Server:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._boxes: dict[int, tuple[int, int]] = {}  # descriptor of the process -> (box id, process id)

    def run(self, isolated: bool) -> tuple[_Asked | None, list[int]]:
        """Fork boxes until the grader hangs up. In a new box, returns what it is to be, and its descriptors.

        It returns, so that nothing of all this is left where the box could look: how many boxes there were before it
        would tell which check it is for.
        """
        poll = select.poll()  # `selectors` would leave something to be closed in every box
        poll.register(self._control, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor in self._boxes:
                    poll.unregister(descriptor)
                    self._bury(descriptor)
                    continue
                message, received, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 2)
                if not message:
                    return None, []
                request = json.loads(message)["open"]
                number = request.pop("id")
                asked = _Asked(**{**request, "confinement": jail.Confinement(**request["confinement"])})
                if isolated:  # all boxes have the same
                    jail.tell_of_scratch(asked.confinement.scratch)
                child = namespaces.fork_into_own_process_namespace() if isolated else os.fork()
                if child == 0:
                    return asked, received
                poll.register(self._watch(number, child, received), select.POLLIN)

    def _watch(self, number: int, child: int, received: list[int]) -> int:
        watch = os.pidfd_open(child)
        self._boxes[watch] = (number, child)
        for descriptor in received:
            os.close(descriptor)
        socket.send_fds(self._control, [json.dumps({"opened": number}).encode()], [watch])
        return watch

    def _bury(self, watch: int) -> None:
        box, process = self._boxes.pop(watch)
        _, status, usage = os.wait4(process, 0)
        code = os.waitstatus_to_exitcode(status)
        spent = usage.ru_utime + usage.ru_stime
        self._control.send(json.dumps({"ended": box, "code": code, "cpu_seconds": spent}).encode())
        os.close(watch)


def _become_box(asked: _Asked, settings: dict[str, Any], isolated: bool, guarded: bool) -> None:
    """Never returns: whatever happens, this process must not go on as a second fork server."""
    try:
        try:
            layers = _settle_in(asked, settings, isolated, guarded)
        except jail.NotSafe as error:
            worker.send(_WIRE, {"refused": str(error)})
            os._exit(1)
        except Exception as error:  # no student byte has run yet, so this is the grader's fault: say so
            worker.send(_WIRE, {"broken": f"{type(error).__name__}: {error}"})
            os._exit(1)
        os.write(_WIRE, _greeting(tuple(layers)))
        worker.serve(_WIRE)
    finally:
        os._exit(0)


@lru_cache(maxsize=4)
def _greeting(layers: tuple[str, ...]) -> bytes:
    return b"".join(wire.pack({"layers": list(layers)}))


def _settle_in(asked: _Asked, settings: dict[str, Any], isolated: bool, guarded: bool) -> list[str]:
    """Put the jail on, at the place where the student's code is."""
    namespaces.die_with_parent()
    confinement = asked.confinement
    if not isolated:  # not before: libc never forgets, and names of folders would tell how many boxes there were
        jail.tell_of_scratch(confinement.scratch)
    else:
        jail.mount_scratch(confinement)
    home = confinement.submission
    if asked.copy:  # small enough to give the student a copy to write into, as at home
        home = os.path.join(confinement.scratch, "submission")
        try:
            _copy(confinement.submission, home)
        except OSError:  # it does not fit: then it can be read, but not written to
            home = confinement.submission
    os.chdir(home)
    reach = jail.Reach(_SHARED if guarded else None, settings["installation"])
    worn = jail.put_on(confinement, reach, isolated, settings["unsafe"])
    worker.settle(asked.seed)
    if (logging := sys.modules.get("logging")) is not None:
        vars(logging)["_startTime"] = time.time()  # not the fork server's
    gc.collect()  # its counters begin alike in every box
    return worn


def _copy(folder: str, to: str) -> None:
    """Folders and contents; all dates are new, as they are in every box."""
    os.mkdir(to)
    with os.scandir(folder) as listing:
        for entry in listing:
            target = os.path.join(to, entry.name)
            if entry.is_dir():
                _copy(entry.path, target)
            else:
                _copy_file(entry.path, target)


def _copy_file(path: str, to: str) -> None:
    """Without Python's streams, which ask the kernel nine times more for each file."""
    source = os.open(path, os.O_RDONLY)
    try:
        copied = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            while content := os.read(source, _COPIED_BYTES):
                while content:
                    content = content[os.write(copied, content) :]
        finally:
            os.close(copied)
    finally:
        os.close(source)


def _make_streams() -> None:
    """What a box prints by. They are made once, on a pipe that stands where the pipe of each box will: a stream asks
    what it is on when it is made, and to make one touches much memory."""
    reading, writing = os.pipe()
    for descriptor in _PRINTED:
        own = os.dup(descriptor)
        os.dup2(writing, descriptor)
        _streams.append(os.fdopen(descriptor, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False))
        os.dup2(own, descriptor)
        os.close(own)
    os.close(reading)
    os.close(writing)


def _keep_only(wire: int, output: int, *shared: int) -> None:
    """Standard streams, and these descriptors by the same numbers in every box; nothing else of the fork server's."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # its own: boxes that share one could set flags for each other
    for descriptor in _PRINTED:
        os.dup2(output, descriptor)
    aside = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _ASIDE) for descriptor in (wire, *shared)]
    for place, descriptor in enumerate(aside, start=_WIRE):
        os.dup2(descriptor, place, inheritable=False)
    os.closerange(_WIRE + len(aside), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    sys.stdout, sys.stderr = _streams
