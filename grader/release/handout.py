"""rubrics/NAME/release.yaml → what the author lets students have. What it does not name, they do not get."""

from __future__ import annotations

from pydantic import BaseModel

from grader.errors import RubricError
from grader.model import Rubric
from grader.rubric.model_file import read_model


class Handout(BaseModel, extra="forbid"):
    data: list[str] = []  # files of the rubric's data that students get
    in_place_of: dict[str, str] = {}  # for a file they do not get, one of those they do


def read_handout(rubric: Rubric) -> Handout:
    """RubricError if something in it has no meaning."""
    path = rubric.folder / "release.yaml"
    if not path.is_file():
        return Handout()
    handout, _ = read_model(path, Handout, lambda place: Handout.model_fields)
    unknown = [file for file in handout.in_place_of.values() if file not in handout.data]
    if unknown:
        raise RubricError([f"{path}: '{file}' stands in for another file, but is not under 'data'" for file in unknown])
    return handout
