"""Where rubrics lie, and what one says of itself before it is loaded: a glimpse takes a hundredth of the time."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Literal

from grader.errors import UsageError
from grader.quoting import quote
from grader.rubric.hints import did_you_mean
from grader.rubric.yaml_source import YamlError, as_written, read

RUBRIC, IDEAS, DATA = "rubric.yaml", "ideas.yaml", "data"
ENTRY_POINTS = "grader.rubrics"  # each names a package; every folder in it with a rubric.yaml is a rubric
LIBRARIES: tuple[Literal["numpy"]] = ("numpy",)  # of a problem that names none


def data_folders(folder: Path, data: Path | None = None) -> list[Path]:
    """Where files of data that a rubric names are looked for."""
    return [one for one in (data, folder / DATA, folder) if one is not None]


def rubric_choices() -> dict[str, Path]:
    """The rubrics of installed packages, by name. A rubric can bring code, so a name never means a folder that happens
    to lie in the working directory: that may be a student's."""
    found: dict[str, Path] = {}
    for entry in entry_points(group=ENTRY_POINTS):
        spec = importlib.util.find_spec(entry.value)
        for folder in spec.submodule_search_locations or () if spec else ():
            found |= {path.parent.name: path for path in Path(folder).glob(f"*/{RUBRIC}")}
    return dict(sorted(found.items()))


def find_rubric(name: str, *, by_staff: bool = True) -> Path:
    """The path of a rubric given by name. Staff may also give a path, of the file or of its folder; a submission may
    not."""
    if by_staff and (name.endswith((".yaml", ".yml")) or os.sep in name):
        path = os.path.join(name, RUBRIC) if os.path.isdir(name) else name
        if not os.path.isfile(path):  # Path's own raises where a name is too long
            raise UsageError(f"{path}: there is no such rubric file")
        return Path(path)
    choices = rubric_choices()
    if name not in choices:
        raise UsageError(f"there is no rubric '{quote(name, 60)}'{did_you_mean(name, choices)}{_path_of(name)}")
    return choices[name]


def _path_of(name: str) -> str:
    """A hint for authors who name a rubric of their own."""
    here = [path for path in (Path(name), Path("rubrics", name)) if os.path.isfile(path / RUBRIC)]
    return f"; a rubric of your own is given by its path: .{os.sep}{here[0]}" if here else ""


@dataclass(frozen=True)
class Glimpse:
    title: str = ""
    libraries: tuple[str, ...] = ()  # that its problems need


def glimpse(path: Path, parts: Sequence[str] = ()) -> Glimpse:
    """Its title and what these parts need, all of them if none is named. Nothing is checked: whatever is wrong with it
    is said when it is loaded."""
    try:
        data = read(path.read_text(encoding="utf-8")).data
        wanted = (one for one in data["problems"] if not parts or _is_among(as_written(one["id"]), parts))
        named = dict.fromkeys(str(name) for one in wanted for name in one.get("libraries", LIBRARIES))
        return Glimpse(str(data["title"]), tuple(named))
    except (OSError, UnicodeDecodeError, YamlError, LookupError, TypeError, AttributeError):
        return Glimpse()


def _is_among(part: str, wanted: Sequence[str]) -> bool:
    return any(part == one or part.startswith(f"{one}.") for one in wanted)
