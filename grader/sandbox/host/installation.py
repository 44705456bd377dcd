"""Which files of this Python installation a box may read, and the module path it starts with."""

from __future__ import annotations

import importlib.util
import os
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from grader.errors import BoxRefused

# Never readable in a box, wherever they are installed: the grader, the answers, and what points to them (a cache may
# hold __editable__).
_OURS = ("grader", "reference", "rubrics", "attention_grader", "__editable__", "__pycache__")
_OTHER_INSTALLATIONS = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Installation:
    path: tuple[str, ...]  # sys.path in the box
    readable: tuple[str, ...]  # the entries of those folders, less ours, and the machine's shared libraries
    folders: tuple[str, ...]  # the folders all of these are in


def find_installation(libraries: tuple[str, ...]) -> Installation:
    """The standard library and the folders that hold `libraries`."""
    paths = sysconfig.get_paths()
    folders = [paths["stdlib"], paths["platstdlib"], sysconfig.get_config_var("DESTSHARED")]
    standard = [Path(folder) for folder in folders if folder]
    packages = [Path(paths["purelib"]), Path(paths["platlib"])]
    for library in libraries:
        spec = importlib.util.find_spec(library)
        if spec is None or spec.origin is None:
            raise BoxRefused(f"the rubric needs {library}, which is not installed: pip install {library}")
        packages.append(Path(spec.origin).parent.parent)
    readable: dict[str, None] = {}
    for folder in (*standard, *packages):
        hidden = _OURS if folder in packages else _OTHER_INSTALLATIONS
        entries = sorted(folder.iterdir()) if folder.is_dir() else []
        readable.update((str(entry), None) for entry in entries if not entry.name.startswith(hidden))
    libraries_found = _shared_libraries()
    readable.update((str(library), None) for library in libraries_found)
    _refuse_to_show_ourselves(readable)
    path = tuple(dict.fromkeys(str(folder) for folder in (*standard, *packages)))
    folders_of_libraries = dict.fromkeys(str(library.parent) for library in libraries_found)
    return Installation(path, tuple(readable), (*path, *folders_of_libraries))


def _shared_libraries() -> list[Path]:
    """What an extension module may link to (torch wants libdl, libstdc++, …): the libraries beside those in use here.

    File by file: such a folder can also hold another Python's packages.
    """
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return []
    mapped = {Path(line.split()[-1]) for line in maps.read_text().splitlines() if ".so" in line}
    folders = {library.parent for library in mapped if library.name.startswith(("libc.", "libc-", "libm.", "libm-"))}
    found = [entry for folder in sorted(folders) for entry in sorted(folder.glob("*.so*")) if entry.is_file()]
    return [Path("/etc/ld.so.cache"), *found]


def _refuse_to_show_ourselves(readable: dict[str, None]) -> None:
    """By what the folders are, whatever they are called: links lead to the same ones."""
    own = Path(__file__).resolve().parents[2]
    above = {_identity(folder) for folder in (own, *own.parents)}
    for entry in readable:
        if _identity(entry) in above:
            raise BoxRefused(f"a box could read the grader itself through {entry}; install it elsewhere")


def _identity(path: str | Path) -> tuple[int, int] | None:
    """None for what is not there, such as the end of a broken link."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
