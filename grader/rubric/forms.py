"""What a rubric may hold: its fields as they are written, each of its type."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from grader.model import Limits, Visibility
from grader.rubric.editions import as_list
from grader.rubric.locating import LIBRARIES
from grader.rubric.per_student import choices
from grader.rubric.yaml_source import as_written
from grader.submission.file_choice import names_of_folders


def _as_points(value: Any) -> Fraction:
    try:
        points = Fraction(as_written(value))
    except (ValueError, TypeError, ZeroDivisionError):
        raise ValueError("should be a number of points, such as 3, 2.5 or 1/3") from None
    if points < 0:
        raise ValueError("should not be negative")
    return points


_Id = Annotated[str, Field(pattern=r"^[\w.\-]+$"), BeforeValidator(as_written)]
_Points = Annotated[Fraction, BeforeValidator(_as_points)]
_PerStudent = BeforeValidator(choices)
_Library = Literal["numpy", "torch", "einops", "scipy", "pandas", "sklearn"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


class LimitsForm(_Strict):
    cpu_seconds: int = Field(Limits.cpu_seconds, ge=1, le=3600)
    wall_seconds: int = Field(Limits.wall_seconds, ge=1, le=7200)
    memory_mb: int = Field(Limits.memory_mb, ge=64, le=65536)
    scratch_mb: int = Field(Limits.scratch_mb, ge=1, le=4096)
    patience_seconds: int = Field(Limits.patience_seconds, ge=1, le=7200)
    hurried_wall_seconds: int = Field(Limits.hurried_wall_seconds, ge=1, le=7200)


class CheckForm(BaseModel):
    """Everything that is not named here is a parameter of the check."""

    model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)
    check: str
    id: _Id | None = None
    points: _Points = Fraction(0)
    visibility: Visibility | None = None
    needs: list[str] = []
    review_unless: dict[str, Annotated[list[str], Field(min_length=1)]] = {}
    gate: bool = False
    asks: str | None = None


ABOUT_A_CHECK = tuple(CheckForm.model_fields)


class AlternativeForm(_Strict):
    name: _Id
    files: list[str] = []
    defines: list[str] = []
    beside: list[str] = []
    shared: dict[str, Any] = Field({}, alias="with")
    checks: list[CheckForm] = Field(min_length=1)


class LaterForm(_Strict):
    checks: int = Field(ge=1)
    points: _Points
    files: list[str] = []


class ProblemForm(_Strict):
    id: _Id
    title: str
    points: _Points
    optional: bool = False
    visibility: Visibility = "public"
    limits: LimitsForm | None = None
    libraries: list[_Library] = list(LIBRARIES)
    shared: dict[str, Any] = Field({}, alias="with")
    alternatives: list[AlternativeForm] = []
    best_counts: bool = False
    checks: list[CheckForm] = []
    later: LaterForm | None = None


class RubricForm(_Strict):
    rubric: _Id
    title: str
    points: _Points
    limits: LimitsForm = Field(default_factory=lambda: LimitsForm.model_validate({}))
    course_material: Annotated[list[str], AfterValidator(names_of_folders)] = []
    editions: dict[str, dict[_Id, Annotated[list[_Id], BeforeValidator(as_list)]]] = {}
    per_student: dict[Annotated[str, Field(pattern=r"^[A-Za-z]\w*$")], Annotated[tuple[str, ...], _PerStudent]] = {}
    per_student_key: str = ""
    problems: list[ProblemForm] = Field(min_length=1)
