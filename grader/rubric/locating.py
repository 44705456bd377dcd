"""Where rubrics lie, and what one says of itself before it is loaded: a glimpse takes a hundredth of the time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.errors import UsageError
from grader.quoting import quote
from grader.rubric.hints import did_you_mean
from grader.rubric.yaml_source import YamlError, as_written, read

_OWN = Path(__file__).resolve().parents[2] / "rubrics"
CHECKS = "checks.py"
LIBRARIES: tuple[Literal["numpy"]] = ("numpy",)  # of a problem that names none


def own_checks(rubric: Path) -> Path | None:
    """The file of checks that a rubric brings: `NAME/checks.py`, else the `checks.py` beside `NAME.yaml`, which several
    rubrics may share."""
    places = (rubric.parent / rubric.stem / CHECKS, rubric.parent / CHECKS)
    return next((path for path in places if path.exists()), None)


def rubric_choices() -> dict[str, Path]:
    """The grader's own rubrics by name. A rubric can bring code (its `checks.py`), so a name never means a file that
    happens to lie in the working directory: that may be a student's folder."""
    return {path.stem: path for path in sorted(_OWN.glob("*.yaml"))}


def find_rubric(name: str, *, by_staff: bool = True) -> Path:
    """The path of a rubric given by name. Staff may also give a path; a submission may not."""
    if by_staff and (name.endswith((".yaml", ".yml")) or os.sep in name):
        if not os.path.isfile(name):  # Path's own raises where a name is too long
            raise UsageError(f"{name}: there is no such rubric file")
        return Path(name)
    choices = rubric_choices()
    if name not in choices:
        raise UsageError(f"there is no rubric '{quote(name, 60)}'{did_you_mean(name, choices)}{_path_of(name)}")
    return choices[name]


def _path_of(name: str) -> str:
    """A hint for authors who name a rubric of their own."""
    here = [path for path in (Path(f"{name}.yaml"), Path("rubrics", f"{name}.yaml")) if os.path.isfile(path)]
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
