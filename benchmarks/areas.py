"""The tests that speak of one file of the grader (tests/areas.yaml).

python -m benchmarks.areas grader/compare.py    # runs them, slow ones last: `make check FILE=grader/compare.py`
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).resolve().parent.parent
_NO_SUCH_TESTS = 5  # pytest's exit code


@cache
def areas() -> dict[str, list[str]]:
    return dict(yaml.safe_load((REPOSITORY / "tests" / "areas.yaml").read_text(encoding="utf-8")))


def tests_of(file: str) -> list[str]:
    """The longest path that fits counts."""
    if "tests" in Path(file).parts:
        return [file]
    fitting = [area for area in areas() if file == area or file.startswith(f"{area}/")]
    if not fitting:
        raise SystemExit(f"{file}: tests/areas.yaml names no tests for it")
    return areas()[max(fitting, key=len)]


def run(files: list[str]) -> int:
    """What is quick first: most faults show there."""
    tests = list(dict.fromkeys(test for file in files for test in tests_of(file)))
    for marked in ("not slow", "slow"):
        command = [sys.executable, "-m", "pytest", "--numprocesses", "2", "--dist", "worksteal", "-m", marked, *tests]
        code = subprocess.run(command, check=False).returncode
        if code not in (0, _NO_SUCH_TESTS):
            return code
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
