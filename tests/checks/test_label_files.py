"""Files of labels, and the share of lines that are right."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.checks.predictions.label_files import Accuracy, Question, Split, read_lines


def _split(folder: Path, content: bytes) -> Split:
    path = folder / "dev.tsv"
    path.write_bytes(content)
    return Split.read(str(path))


def test_labels_are_compared_as_they_are_written_spaces_at_the_ends_aside(tmp_path: Path) -> None:
    split = _split(tmp_path, b"a\tRome\nb\tOslo\nc\tBern\n")
    assert split.right(["Rome", " Oslo ", "bern"]) == Accuracy(2, 3)
    assert split.nearly_right(["Rome", " Oslo ", "bern"]) == 3


def test_the_interval_is_wilsons() -> None:
    """25 of 500: the roots of (p − p̂)² = z²p(1−p)/n."""
    low, high = Accuracy(25, 500).interval
    for p in (low, high):
        assert (p - 0.05) ** 2 == pytest.approx(1.959964**2 * p * (1 - p) / 500, rel=1e-9)
    assert low < 0.05 < high
    assert str(Accuracy(115, 500)).startswith("115/500 = 23.0 % (95 %: 19.5–26.9 %)")


@given(st.integers(1, 1000), st.data())
def test_the_interval_holds_the_rate_and_stays_within_zero_and_one(total: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, total))
    low, high = Accuracy(right, total).interval
    assert 0 <= low <= right / total + 1e-12
    assert right / total - 1e-12 <= high <= 1
    assert low < high


def test_files_are_read_line_by_line_whatever_ends_the_lines(tmp_path: Path) -> None:
    split = _split(tmp_path, "Where was A born?\tRome\r\nWhere was B\u2028C born?\tOslo".encode())
    assert split.questions == [Question("Where was A born?", "Rome"), Question("Where was B\u2028C born?", "Oslo")]
    (tmp_path / "dev.tsv").write_text("Rome\n\nOslo\n")
    assert read_lines(tmp_path / "dev.tsv") == ["Rome", "", "Oslo"]


def test_a_line_without_a_label_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"dev.tsv:2: expected question<TAB>label"):
        _split(tmp_path, b"Where was A born?\tRome\nWhere was B born?\n")
    with pytest.raises(ValueError, match="no questions"):
        _split(tmp_path, b"")
