"""A small file beside a rubric, such as release.yaml, as the pydantic model that says what may stand in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from grader.errors import RubricError
from grader.rubric.hints import misfit
from grader.rubric.yaml_source import Source, YamlError, read

_Model = TypeVar("_Model", bound=BaseModel)


def read_model(
    path: Path, model: type[_Model], known: Callable[[tuple[Any, ...]], Iterable[str]]
) -> tuple[_Model, Source]:
    """What it says, and its lines. RubricError lists what is wrong; `known` are the keys that have a meaning there."""
    try:
        source = read(path.read_text(encoding="utf-8"))
        if not isinstance(source.data or {}, dict):
            keys = ", ".join(f"'{key}'" for key in model.model_fields)
            raise RubricError([f"{path}:1: this is a mapping with {keys}"])
        return model.model_validate(source.data or {}), source
    except YamlError as error:
        raise RubricError([f"{path}:{error.line}: {error.cause}"]) from None
    except ValidationError as error:
        faults = ((source.line(one["loc"]), misfit(one, known(one["loc"]))) for one in error.errors())
        raise RubricError([f"{path}:{line}: {fault}" for line, fault in faults]) from None
