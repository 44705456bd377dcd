"""What a worker is: versions of everything that judges, and whether it has the course's secret. Grades must not depend
on the machine, so workers that differ get no work.
"""

from __future__ import annotations

import hashlib
import os
import platform
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import metadata
from typing import Any, Self

from grader import __version__
from grader.batch.source_hash import of_own_source
from grader.errors import StaffFault
from grader.grading.secret import read_secret

# Whatever computes, parses or compares: of these every worker has the same.
_PACKAGES = (
    *("torch", "numpy", "sympy", "einops", "scipy", "pandas", "scikit-learn", "mpmath"),
    *("lark", "markdown-it-py", "pydantic", "pypdfium2", "PyYAML", "snowballstemmer", "distributed"),
)
_ABSENT = "none"


@dataclass(frozen=True)
class Survey:
    versions: dict[str, str]
    host: str = ""
    cores: int = 0
    secret: str = ""  # the fingerprint of the one that is set there
    isolation: dict[str, Any] = field(default_factory=dict)  # asked for by the doctor alone

    def differences(self, ours: Mapping[str, str]) -> list[str]:
        """In words: `numpy 2.4.5 (here 2.4.6)`."""
        names = dict.fromkeys((*ours, *self.versions))
        there, here = self.versions, ours
        found = [name for name in names if there.get(name, _ABSENT) != here.get(name, _ABSENT)]
        return [f"{name} {there.get(name, _ABSENT)} (here {here.get(name, _ABSENT)})" for name in found]

    def as_data(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        return cls(**data)


@cache
def versions() -> dict[str, str]:
    found = {"grader": f"{__version__}+{of_own_source()[:8]}", "Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = _ABSENT
    return found


def survey() -> dict[str, Any]:
    """Of the machine it runs on."""
    try:
        secret = read_secret()
    except StaffFault:  # set, and of no use
        secret = None
    cores = len(os.sched_getaffinity(0))
    return Survey(versions(), socket.gethostname(), cores, secret.fingerprint if secret else "").as_data()


def survey_with_isolation() -> dict[str, Any]:
    """The same, with what boxes are like there, by trying."""
    from grader.sandbox.host.doctor import diagnose

    found = diagnose()
    layers = [one.layer for one in found.findings if one.on]
    missing = [one.layer for one in found.findings if not one.on]
    return survey() | {"isolation": {"layers": layers, "missing": missing, "fit": found.fit, "verdict": found.verdict}}


def names_in(folder: str) -> str:
    """A hash of what a folder lists, empty where there is none: tells whether two machines see the same one."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ""
    return hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()
