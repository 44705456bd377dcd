"""A command in the tests' own process: what it prints and how it ends, without a second of loading it anew.

Where the process itself is the question (what it imports, which signals it heeds, what runs outside the box), tests
start one: `grader` in test_cli.py.
"""

from __future__ import annotations

import io
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess

from grader.cli import app
from tests.conftest import REPOSITORY


def command(*arguments: str | Path, cwd: Path = REPOSITORY) -> CompletedProcess[str]:
    said, complained = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    given, code = list(map(str, arguments)), 0
    with chdir(cwd), redirect_stdout(said), redirect_stderr(complained):
        try:
            app(given)
        except SystemExit as ending:
            code = int(ending.code or 0)
    return CompletedProcess(given, code, _text(said), _text(complained))


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
