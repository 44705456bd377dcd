"""rubrics/NAME/release.yaml → what the author lets students have. What it does not name, they do not get."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from grader.errors import RubricError
from grader.model import Rubric
from grader.rubric.hints import misfit
from grader.rubric.yaml_source import YamlError, read

FILE, STARTER = "release.yaml", "starter"


class Handout(BaseModel):
    model_config = ConfigDict(extra="forbid")
    data: list[str] = []  # files of the rubric's data that students get
    in_place_of: dict[str, str] = {}  # for a file they do not get, one of those they do
    later: list[str] = []  # checks whose code gives the answer away: they run after the deadline


def read_handout(rubric: Rubric) -> Handout:
    """RubricError if something in it has no meaning."""
    path = rubric.folder / FILE
    if not path.is_file():
        return Handout()
    try:
        source = read(path.read_text(encoding="utf-8"))
        if not isinstance(source.data or {}, dict):
            raise RubricError([f"{path}:1: this is a mapping with 'data', 'in_place_of' and 'later'"])
        handout = Handout.model_validate(source.data or {})
    except YamlError as error:
        raise RubricError([f"{path}:{error.line}: {error.cause}"]) from None
    except ValidationError as error:
        told = [f"{path}:{source.line(one['loc'])}: {misfit(one, Handout.model_fields)}" for one in error.errors()]
        raise RubricError(told) from None
    unknown = [file for file in handout.in_place_of.values() if file not in handout.data]
    if unknown:
        raise RubricError([f"{path}: '{file}' stands in for another file, but is not under 'data'" for file in unknown])
    return handout


def starter_folder(rubric: Rubric) -> Path:
    return rubric.folder / STARTER


def starter_files(rubric: Rubric) -> dict[str, bytes]:
    folder = starter_folder(rubric)
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
