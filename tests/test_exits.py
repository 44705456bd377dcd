"""Exit codes, as scripts of a course rely on them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from grader.exits import exit_code
from grader.model import Status


@pytest.mark.parametrize(
    ("statuses", "fail_under", "code"),
    [
        ([Status.PASSED, Status.FAILED], None, 0),
        ([Status.FAILED], 5, 0),
        ([Status.FAILED], 5.5, 1),
        ([Status.PASSED, Status.UNGRADED], None, 3),
        ([Status.UNGRADED], 5.5, 3),
    ],
)
def test_graded_is_zero_below_is_one_and_ungraded_three(
    statuses: list[Status], fail_under: float | None, code: int
) -> None:
    report: Any = SimpleNamespace(points=5, problems=[SimpleNamespace(status=status) for status in statuses])
    assert exit_code(report, fail_under) == code
