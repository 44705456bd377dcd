"""The tests that speak of one file of the grader (tests/areas.yaml).

python -m benchmarks.areas grader/compare.py    # runs them: `make check FILE=grader/compare.py`
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).resolve().parent.parent


@cache
def areas() -> dict[str, list[str]]:
    return dict(yaml.safe_load((REPOSITORY / "tests" / "areas.yaml").read_text(encoding="utf-8")))


def tests_of(file: str) -> list[str]:
    """The longest path that fits counts."""
    if file.startswith("tests/"):
        return [file]
    fitting = [area for area in areas() if file == area or file.startswith(f"{area}/")]
    if not fitting:
        raise SystemExit(f"{file}: tests/areas.yaml names no tests for it")
    return areas()[max(fitting, key=len)]


if __name__ == "__main__":
    tests = list(dict.fromkeys(test for file in sys.argv[1:] for test in tests_of(file)))
    sys.exit(subprocess.run([sys.executable, "-m", "pytest", "--numprocesses", "2", *tests], check=False).returncode)
