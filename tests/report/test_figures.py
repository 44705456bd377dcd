"""Figures: drawn from evidence as it is, with the numbers in words, and left out where the data make none."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from grader.report.drawing import drawn
from grader.report.figures import figures_in
from grader.report.scores import histogram
from grader.report.svg import WIDTH
from tests.report.made_reports import Page


def _labels(evidence: dict[str, Any]) -> list[str]:
    """What each picture says to those who cannot see it."""
    return [str(label) for figure in figures_in(evidence) for label in Page(drawn(figure)).values("aria-label")]


def test_a_heat_map_has_student_reference_and_difference() -> None:
    figure = {"kind": "heatmap", "title": "H", "student": [[1, -2.5]], "reference": [[0.5, 1]], "rows": "key"}
    assert _labels({"figure": figure}) == [
        "Yours, 1 keys by 2 columns, up to 2.5 from zero. key 0: 1, −2.5",
        "Reference, 1 keys by 2 columns, up to 2.5 from zero. key 0: 0.5, 1",
        "Yours − reference, 1 keys by 2 columns, up to 3.5 from zero. key 0: 0.5, −3.5",
    ]


def test_shapes_that_differ_have_no_difference_and_nan_is_said() -> None:
    labels = _labels({"figure": {"kind": "heatmap", "student": [[None], [1]], "reference": [[1, 2]]}})
    assert [label.split(",")[0] for label in labels] == ["Yours", "Reference"]
    assert "row 0: NaN" in labels[0]


def test_shades_grow_with_the_values_and_signs_have_their_own_colour() -> None:
    (figure,) = figures_in({"figure": {"kind": "heatmap", "student": [[0, 1, 2, -4]]}})
    shades = re.findall(r'class="cell (\w+)" fill-opacity="([\d.]+)"', drawn(figure))
    assert shades == [("one", "0"), ("one", "0.12"), ("one", "0.25"), ("two", "0.5")]


def test_where_numbers_have_no_room_a_minus_sign_tells_the_sign() -> None:
    (figure,) = figures_in({"figure": {"kind": "heatmap", "student": [[1.0] * 6 + [-1.0] * 3]}})
    (signs,) = re.findall(r'class="minus" d="([^"]*)"', drawn(figure))
    assert signs.count("M") == 3


WEIGHTS = [{"scale": scale, "a": a, "b": a, "each_other": (1 - 2 * a) / 8} for scale, a in ((1, 0.2), (20, 0.5))]


def test_weights_against_scale_are_lines_and_equal_ones_share_a_name() -> None:
    (figure,) = figures_in({"weights_by_scale": WEIGHTS})
    assert _labels({"weights_by_scale": WEIGHTS}) == [
        "weight against β: a from 0.2 to 0.5; b from 0.2 to 0.5; each other from 0.075 to 0"
    ]
    page = Page(drawn(figure))
    assert [path["class"] for path in page.every("path") if "line" in str(path["class"])] == ["line one", "line two"]
    assert "a, b" in page.words


def test_weights_at_one_scale_are_bars() -> None:
    assert _labels({"weights_by_scale": WEIGHTS[:1]}) == ["a, b: weight 0.2; each other: weight 0.075"]


def test_labels_do_not_lie_on_one_another() -> None:
    series = {name: [1.0, height] for name, height in (("p", 0.0), ("q", 0.01), ("r", 0.02))}
    (figure,) = figures_in({"figure": {"kind": "lines", "x": "x", "y": "y", "at": [1, 2], "series": series, "top": 1}})
    heights = sorted(float(y) for y in re.findall(r'y="([\d.]+)" text-anchor="start">[pqr]<', drawn(figure)))
    assert len(heights) == 3
    assert all(lower - upper >= 12.9 for upper, lower in pairwise(heights))


def test_errors_at_growing_norms_are_lines() -> None:
    (label,) = _labels({"errors": {"c_1": [1.1, 0.4, 0.0], "c_2": [0.5, 0.5, 0.5]}, "norms": [4, 8, 16]})
    assert "c_1 from 1.1 to 0; c_2 from 0.5 to 0.5" in label


def test_samples_say_mean_and_spread_and_draw_every_one() -> None:
    figure = {
        "kind": "samples",
        "x": "share of v_a",
        "samples": {"one head": [0.0, 1.0] * 100, "two heads": [0.5] * 200},
    }
    assert _labels({"figure": figure}) == [
        "Samples of share of v_a. one head: mean 0.5, spread 0.5; two heads: mean 0.5, spread 0"
    ]
    (found,) = figures_in({"figure": figure})
    assert str(drawn(found)).count("h0") == 400


ACCURACY = {
    "right": 106,
    "total": 300,
    "interval": [0.3014, 0.409],
    "baseline": {"answer": "London", "right": 15, "total": 300},
    "tiers": [{"right": 30, "score": "1"}, {"right": 15, "score": "1/2"}],
}


def test_accuracy_stands_beside_its_interval_baseline_and_tiers() -> None:
    assert _labels(ACCURACY) == [
        "yours: 106/300 = 35.3 %, 95 % interval 30.1 to 40.9 %; always London: 15/300 = 5.0 %; "
        "1/2 from 15 on; all from 30 on"
    ]
    widths = [
        float(width)
        for width in re.findall(r'class="fill \w+" x="4" y="\d+" width="([\d.]+)"', drawn(figures_in(ACCURACY)[0]))
    ]
    assert widths[0] / widths[1] == pytest.approx(106 / 15, rel=1e-3)


@pytest.mark.parametrize(
    "evidence",
    [
        {"figure": {"kind": "heatmap", "student": [[1, 2.5], [None, -1]], "reference": [[1, 2], [3, 4]]}},
        {"weights_by_scale": WEIGHTS},
        {"weights_by_scale": WEIGHTS[:1]},
        {"figure": {"kind": "samples", "x": "x", "samples": {"one": [0.1, 0.2], "two": [0.3, 0.4]}}},
        ACCURACY,
    ],
    ids=["heat map", "lines", "bars", "samples", "accuracy"],
)
def test_words_stand_inside_their_picture_and_not_on_one_another(evidence: dict[str, Any]) -> None:
    (figure,) = figures_in(evidence)
    for picture in drawn(figure).split("</svg>")[:-1]:
        width, height = (float(found) for found in re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)[0])
        places = [(float(x), float(y)) for x, y in re.findall(r'<text[^>]* x="([\d.-]+)" y="([\d.-]+)"', picture)]
        assert len(places) > 1
        assert len(set(places)) == len(places)
        assert all(0 <= x <= width and 10 <= y <= height for x, y in places)


def test_lines_that_differ_by_less_than_can_be_seen_share_a_name() -> None:
    series = {"p": [0.2, 0.5], "q": [0.2001, 0.5001], "r": [0.2, 0.51]}
    (figure,) = figures_in({"figure": {"kind": "lines", "x": "x", "y": "y", "at": [1, 2], "series": series}})
    assert {"p, q", "r"} <= set(Page(drawn(figure)).words)


@pytest.mark.parametrize(
    "evidence",
    [
        {"figure": "text"},
        {"figure": {"kind": "pie"}},
        {"figure": {"kind": "heatmap", "student": [[1], [1, 2]]}},
        {"figure": {"kind": "heatmap", "student": [["nan"]]}},
        {"figure": {"kind": "heatmap", "student": [[0.0] * 13]}},
        {"figure": {"kind": "lines", "x": "x", "y": "y", "at": [1], "series": {"a": [1, 2]}}},
        {"figure": {"kind": "samples", "x": "x", "samples": {"a": [0.1] * 401}}},
        {"weights_by_scale": [{"scale": 1, "a": "inf"}]},
        {"weights_by_scale": [{"scale": 1, "a": 1}, {"scale": 2}]},
        {"weights_by_scale": []},
        {"errors": {"c_1": ["inf"]}, "norms": [4]},
        {"errors": "many"},
        {"right": 1, "total": 0, "interval": [0, 1]},
    ],
)
def test_what_makes_no_figure_is_left_out(evidence: dict[str, Any]) -> None:
    assert figures_in(evidence) == []


def test_one_bad_figure_does_not_cost_the_others() -> None:
    assert len(figures_in({"figure": [{"kind": "pie"}, {"kind": "heatmap", "student": [[1]]}]})) == 1


def test_columns_of_a_histogram_stand_side_by_side_and_are_as_tall_as_their_counts() -> None:
    place = re.compile(r'x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"')
    columns = [tuple(map(float, found)) for found in place.findall(histogram([1, 0, 4], "abc", "x"))]
    assert [round(height / columns[2][3], 2) for _, _, _, height in columns] == [0.25, 0, 1]
    assert len({round(y + height, 1) for _, y, _, height in columns}) == 1, "they stand on one line"
    gaps = [other[0] - (one[0] + one[2]) for one, other in pairwise(columns)]
    assert gaps == pytest.approx([3, 3], abs=0.2)
    assert columns[0][0] > 0
    assert columns[2][0] + columns[2][2] < WIDTH
