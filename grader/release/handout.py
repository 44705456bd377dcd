"""rubrics/NAME/release.yaml → what the author lets students have. What it does not name, they do not get."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError

from grader.errors import RubricError
from grader.model import Rubric
from grader.rubric.hints import misfit
from grader.rubric.yaml_source import YamlError, read


class Handout(BaseModel):
    model_config = ConfigDict(extra="forbid")
    data: list[str] = []  # files of the rubric's data that students get
    in_place_of: dict[str, str] = {}  # for a file they do not get, one of those they do


def read_handout(rubric: Rubric) -> Handout:
    """RubricError if something in it has no meaning."""
    path = rubric.folder / "release.yaml"
    if not path.is_file():
        return Handout()
    try:
        source = read(path.read_text(encoding="utf-8"))
        if not isinstance(source.data or {}, dict):
            raise RubricError([f"{path}:1: this is a mapping with 'data', 'in_place_of'"])
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
