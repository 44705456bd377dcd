"""What isolation this machine gives: the layers that go on, and what a box really refuses when tried."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from grader.errors import StaffFault, StudentFault
from grader.model import Limits, Submission
from grader.sandbox.host.runner import BoxRunner
from grader.sandbox.jail import jail

LAYERS = {
    "limits": "processor time, memory, file size and open files are bounded",
    "no_new_privs": "no privilege can be gained, and those there were are dropped",
    "landlock": "reads only Python and the submission, writes only a scratch folder",
    "seccomp": "no sockets, no programs, no new processes, no tracing of others",
    "namespaces": "sees no other process and no network, on a read-only file system",
}

_LIBRARIES = {  # as they are imported, and as they are installed
    "numpy": "numpy",
    "torch": "torch",
    "einops": "einops",
    "scipy": "scipy",
    "pandas": "pandas",
    "sklearn": "scikit-learn",
}
_ATTEMPTS = {
    "open a network socket": "socket.socket()",
    "start a program": "subprocess.run(['/bin/true'])",
    "fork": "os.fork() or os._exit(0)",
    "read /etc/passwd": "open('/etc/passwd').read()",
    "write outside its scratch folder": "open('/var/tmp/grader-doctor', 'w')",
    "signal another process": "os.kill(os.getppid() or 2, 0)",
}
_SOURCE = """
import os, socket, subprocess

def is_refused(attempt):
    try:
        eval(attempt)
    except OSError:
        return True
    return False
"""


@dataclass(frozen=True)
class Finding:
    """One layer of the box, and whether this machine gives it."""

    layer: str
    what: str
    required: bool
    on: bool


@dataclass(frozen=True)
class Diagnosis:
    """What isolation this machine gives student code."""

    findings: tuple[Finding, ...]
    refused: tuple[tuple[str, bool], ...]  # what was tried in a box, and whether it was refused
    verdict: str
    fit: bool
    libraries: tuple[tuple[str, str], ...] = ()  # those that rubrics may name, with their versions; empty where missing


def diagnose() -> Diagnosis:
    """Open a real box and try. Never raises: what cannot be had is the finding."""
    if sys.platform != "linux":
        cause = f"this is {sys.platform}, whose kernel has none of these layers"
        return Diagnosis(_findings(()), (), f"student code is not run here: {cause}", False)
    libraries = _libraries()
    with tempfile.TemporaryDirectory() as folder, BoxRunner() as runner:
        (Path(folder) / "attempts.py").write_text(_SOURCE)
        submission: Any = SimpleNamespace(folder=Path(folder), size_bytes=0, find=str)  # as much as a box asks of one
        try:
            refused = tuple((what, _is_refused(runner, submission, code)) for what, code in _ATTEMPTS.items())
        except StaffFault as fault:
            return Diagnosis(_findings(runner.isolation.layers), (), f"student code is not run here: {fault}", False)
        findings = _findings(runner.isolation.layers)
    if not all(was for _, was in refused):
        return Diagnosis(
            findings, refused, "a box let something through; do not run student code here", False, libraries
        )
    without = [finding.layer for finding in findings if not finding.on]
    verdict = f"fit for student code, without {', '.join(without)}" if without else "fit for student code"
    return Diagnosis(findings, refused, verdict, True, libraries)


def _libraries() -> tuple[tuple[str, str], ...]:
    """What rubrics may name under `libraries`, and which version of it is here."""
    found = []
    for library, package in _LIBRARIES.items():
        try:
            found.append((library, metadata.version(package)))
        except metadata.PackageNotFoundError:
            found.append((library, ""))
    return tuple(found)


def _is_refused(runner: BoxRunner, submission: Submission, attempt: str) -> bool:
    try:
        with runner.open(submission, Limits(), seed=0) as student:
            return student.call("attempts.py", "is_refused", attempt) is True
    except StudentFault:  # the box ended or answered nonsense: not what a refusal looks like
        return False


def _findings(layers: tuple[str, ...]) -> tuple[Finding, ...]:
    return tuple(Finding(name, what, name in jail.REQUIRED, name in layers) for name, what in LAYERS.items())
