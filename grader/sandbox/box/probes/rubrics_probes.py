"""What a rubric's probes get: the way to the student's code, which `StudentCode` in `grader/model.py` describes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ..calls import call_as_asked, replaced
from ..loading import student_code
from ..reading.source_text import code_of
from .configured_module import built
from .probes import PROBES


class _StudentCode:
    def load(self, file: str) -> Any:
        return student_code.load(file)

    def source(self, file: str) -> str | None:
        with contextlib.suppress(Exception):  # a notebook may hold anything
            return code_of(Path(file))
        return None

    def attribute(self, file: str, name: str) -> Any:
        return student_code.attribute(file, name)

    def modules(self) -> list[Any]:
        return list(student_code.own_modules())

    def call(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any] = {}) -> Any:
        return call_as_asked(function, list(args), dict(kwargs))

    def replaced(self, attributes: Iterable[tuple[Any, str, Any]]) -> AbstractContextManager[None]:
        return replaced(attributes)

    def built(
        self, file: str, name: str, config: Any = None, precision: str = "float64", build: dict[str, Any] | None = None
    ) -> Any:
        return built(file, name, config, precision, build)

    def ask(self, probe: str, file: str, **request: Any) -> Any:
        return PROBES[probe](file, **request)


STUDENT_CODE = _StudentCode()
