"""The fork server: libraries loaded once, no answer anywhere in its memory, a fresh child for every box.

It reads requests from its control socket: {"open": {...}} with two descriptors (the box's wire and output), and
answers {"opened": id} with a descriptor by which the grader can kill and watch the box. When a box ends, it says
{"ended": id, ...} with how. When the grader hangs up it exits, and all boxes with it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import sys
from itertools import pairwise
from typing import Any

from . import jail, landlock, namespaces, seccomp, stand_ins, worker

_MESSAGE_BYTES = 1 << 16


def main(settings: dict[str, Any]) -> None:
    control = socket.socket(fileno=settings["control"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the grader decides what ends
    isolated = "namespaces" not in settings["without"] and namespaces.available()
    if isolated:
        namespaces.enter_as_first_process()
    for name in settings["preload"]:
        importlib.import_module(name)
    _finish_lazy_loading()
    stand_ins.offer()
    shared = None
    if landlock.abi() and "landlock" not in settings["without"]:
        rules = jail.shared_rules(settings["readable"], settings["listable"], settings["workspace"])
        shared = landlock.ruleset(rules)
    with contextlib.suppress(OSError):  # a machine without a table of calls is refused box by box
        seccomp.compiled(os.getpid())  # process 1, if isolated, and so is every box: they inherit the compiled filter
    gc.collect()
    gc.freeze()  # keeps the collector from touching, and so copying, every page in every box
    control.send(json.dumps({"isolated": isolated}).encode())
    _Server(control, settings, isolated, shared).run()


def _finish_lazy_loading() -> None:
    """Run once what libraries put off to their first use, so that no box pays for it or needs more files for it."""
    import numpy as np

    np.random.default_rng(0).normal(size=(2, 2)) @ np.eye(2)
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)
        layer = torch.nn.Linear(2, 2)
        layer(torch.ones(1, 2)).sum().backward()


class _Server:
    def __init__(self, control: socket.socket, settings: dict[str, Any], isolated: bool, shared: int | None) -> None:
        self._control = control
        self._settings = settings
        self._isolated = isolated
        self._shared = shared
        self._boxes: dict[int, tuple[int, int]] = {}  # descriptor of the process -> (box id, process id)

    def run(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is self._control:
                        message, received, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 2)
                        if not message:
                            return
                        selector.register(self._open(json.loads(message)["open"], received), selectors.EVENT_READ)
                    else:
                        selector.unregister(key.fileobj)
                        self._bury(key.fd)

    def _open(self, request: dict[str, Any], received: list[int]) -> int:
        child = namespaces.fork_into_own_process_namespace() if self._isolated else os.fork()
        if child == 0:
            self._become_box(request, *received)
        watch = os.pidfd_open(child)
        self._boxes[watch] = (request["id"], child)
        for descriptor in received:
            os.close(descriptor)
        socket.send_fds(self._control, [json.dumps({"opened": request["id"]}).encode()], [watch])
        return watch

    def _bury(self, watch: int) -> None:
        box, process = self._boxes.pop(watch)
        _, status, usage = os.wait4(process, 0)
        code = os.waitstatus_to_exitcode(status)
        spent = usage.ru_utime + usage.ru_stime
        self._control.send(json.dumps({"ended": box, "code": code, "cpu_seconds": spent}).encode())
        os.close(watch)

    def _become_box(self, request: dict[str, Any], wire: int, output: int) -> None:
        """Never returns: whatever happens, this process must not go on as a second fork server."""
        try:
            try:
                layers = self._settle_in(request, wire, output)
            except jail.NotSafe as error:
                worker.send(wire, {"refused": str(error)})
                os._exit(1)
            except Exception as error:  # no student byte has run yet, so this is the grader's fault: say so
                worker.send(wire, {"broken": f"{type(error).__name__}: {error}"})
                os._exit(1)
            worker.send(wire, {"layers": layers})
            worker.serve(wire)
        finally:
            os._exit(0)

    def _settle_in(self, request: dict[str, Any], wire: int, output: int) -> list[str]:
        _keep_only({wire} if self._shared is None else {wire, self._shared}, output)
        namespaces.die_with_parent()
        confinement = jail.Confinement(**request["confinement"])
        jail.enter_scratch(confinement, self._isolated)
        home = confinement.submission
        if request["copy"]:  # small enough to give the student a copy to write into, as at home
            home = os.path.join(confinement.scratch, "submission")
            try:
                shutil.copytree(confinement.submission, home)
            except (OSError, shutil.Error):  # it does not fit: then it can be read, but not written to
                home = confinement.submission
        os.chdir(home)
        settings = self._settings
        worn = jail.put_on(confinement, self._shared, settings["installation"], self._isolated, settings["unsafe"])
        worker.seed(request["seed"])
        return worn


def _keep_only(kept: set[int], output: int) -> None:
    """Standard streams and these descriptors; nothing else of the fork server's."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    edges = [2, *sorted(kept), resource.getrlimit(resource.RLIMIT_NOFILE)[0]]
    for before, after in pairwise(edges):
        os.closerange(before + 1, after)
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream = os.fdopen(descriptor, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)
        setattr(sys, name, stream)
