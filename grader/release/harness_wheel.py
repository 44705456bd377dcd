"""The harness as a wheel, the same in every kit: it holds no assignment, so students install what everybody does."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import grader
from grader.errors import StaffFault

_NAME = "attention-grader"
_PACKAGE = Path(grader.__file__).parent
_SOURCE = ("pyproject.toml", "README.md", "LICENSE")  # beside the package, where this is a source tree
_OF_AN_INSTALLATION = ("INSTALLER", "REQUESTED", "direct_url.json")


@cache
def harness_wheel() -> tuple[str, bytes]:
    """Its file name and its content."""
    with tempfile.TemporaryDirectory(prefix="grader-wheel-") as temporary:
        is_source = (_PACKAGE.parent / _SOURCE[0]).is_file()
        made = _built(Path(temporary)) if is_source else _packed_again(Path(temporary))
        return made.name, made.read_bytes()


def _built(folder: Path) -> Path:
    """From a copy: a build leaves files in its source, and takes up what an earlier one has left."""
    shutil.copytree(_PACKAGE, folder / _PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _SOURCE:
        shutil.copy(_PACKAGE.parent / name, folder)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise StaffFault(f"the grader's wheel could not be built: {(done.stderr.splitlines() or ['no message'])[-1]}")
    return next(folder.glob("*.whl"))


def _packed_again(folder: Path) -> Path:
    """From the files that were installed, by the list of them that came with the wheel."""
    info = f"{_NAME.replace('-', '_')}-{distribution(_NAME).version}.dist-info"
    lines = [line for line in (distribution(_NAME).read_text("RECORD") or "").splitlines() if ",sha256=" in line]
    ours = {path: line for line in lines if (path := line.split(",")[0]).startswith((f"{_PACKAGE.name}/", info))}
    kept = {path: line for path, line in ours.items() if Path(path).name not in _OF_AN_INSTALLATION}
    made = folder / f"{info.removesuffix('.dist-info')}-py3-none-any.whl"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in kept:
            archive.write(_PACKAGE.parent / path, path)
        archive.writestr(f"{info}/RECORD", "\n".join([*kept.values(), f"{info}/RECORD,,", ""]))
    return made
