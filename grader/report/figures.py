"""What can be drawn of a check's evidence. A check says what is to be seen; how it looks is decided in `drawing`.

A check puts `evidence["figure"]` (one of the kinds below as a dictionary, or a list of them) into its outcome; what
shows inputs or expected values belongs in `revealing`, as ever. Some evidence is drawn without being asked: see
`_understood`. A figure that does not fit its kind is left out: a stored report is never lost for a picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

_Number = Annotated[float, Field(allow_inf_nan=False)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Row = Annotated[list[_Number | None], Field(min_length=1, max_length=12)]  # None: NaN or infinity
_Matrix = Annotated[list[_Row], Field(min_length=1, max_length=12)]
_Numbers = Annotated[list[_Number], Field(min_length=1, max_length=400)]
_MOST_FIGURES = 4  # of one check: more would bury its message


class _Kind(BaseModel):
    model_config = ConfigDict(frozen=True)
    title: str = ""


class HeatMap(_Kind):
    """A student's matrix beside the reference's; their difference is drawn if they have the same shape."""

    kind: Literal["heatmap"]
    student: _Matrix
    reference: _Matrix | None = None
    rows: str = "row"
    columns: str = "column"

    @model_validator(mode="after")
    def _rectangular(self) -> HeatMap:
        for matrix in (self.student, self.reference or self.student):
            if len({len(row) for row in matrix}) != 1:
                raise ValueError("rows of different lengths")
        return self


class Lines(_Kind):
    """Named series over the same places, such as weights against β."""

    kind: Literal["lines"]
    x: str
    y: str
    at: _Numbers
    series: Annotated[dict[str, _Numbers], Field(min_length=1, max_length=6)]
    top: _Number | None = None  # of the y axis; the largest value otherwise

    @model_validator(mode="after")
    def _as_long_as_its_places(self) -> Lines:
        if any(len(values) != len(self.at) for values in self.series.values()):
            raise ValueError("a series and its places differ in length")
        return self


class Samples(_Kind):
    """Draws of one number under several names, such as the share of v_a in c for one head and for two."""

    kind: Literal["samples"]
    x: str
    samples: Annotated[dict[str, _Numbers], Field(min_length=1, max_length=4)]


class Baseline(BaseModel):
    answer: str
    right: Annotated[int, Field(ge=0)]
    total: Annotated[int, Field(ge=1)]


class Bar(BaseModel):
    """A tier: how many right answers it asks for, and the score it gives."""

    right: Annotated[int, Field(ge=0)]
    score: str


class Accuracy(_Kind):
    """How many answers are right, with an interval, beside a baseline and the tiers of the rubric."""

    kind: Literal["accuracy"]
    right: Annotated[int, Field(ge=0)]
    total: Annotated[int, Field(ge=1)]
    interval: tuple[_Share, _Share]
    baseline: Baseline | None = None
    tiers: Annotated[list[Bar], Field(max_length=8)] = []


Figure = Annotated[HeatMap | Lines | Samples | Accuracy, Field(discriminator="kind")]
_READER: TypeAdapter[HeatMap | Lines | Samples | Accuracy] = TypeAdapter(Figure)

# Evidence that a figure says better: the page does not repeat these in words.
DRAWN_KEYS = frozenset(
    {"figure", "weights_by_scale", "errors", "norms", "right", "total", "interval", "baseline", "tiers"}
)


def figures_in(evidence: Mapping[str, Any]) -> list[HeatMap | Lines | Samples | Accuracy]:
    asked = evidence.get("figure", [])
    found = []
    for one in [*(asked if isinstance(asked, list) else [asked]), *_understood(evidence)][:_MOST_FIGURES]:
        try:
            found.append(_READER.validate_python(one))
        except ValidationError:
            continue
    return found


def _understood(evidence: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Figures for the evidence of checks that are older than figures."""
    match evidence:
        case {"weights_by_scale": [{"scale": _}, *_] as rows}:
            names = [name for name in rows[0] if name != "scale"]
            yield {
                "kind": "lines",
                "title": "Attention weights as the scale β grows" if len(rows) > 1 else "Attention weights",
                "x": "β",
                "y": "weight",
                "at": [row.get("scale") for row in rows],
                "series": {name.replace("_", " "): [row.get(name) for row in rows] for name in names},
                "top": 1,
            }
    match evidence:
        case {"errors": {**errors}, "norms": [*norms]} if errors:
            yield {
                "kind": "lines",
                "title": "Distance from the targets, relative to β, as β grows",
                "x": "β",
                "y": "distance",
                "at": norms,
                "series": errors,
            }
    match evidence:
        case {"right": int(), "total": int(), "interval": [_, _]}:
            yield {"kind": "accuracy", "title": "Right answers", **evidence}
