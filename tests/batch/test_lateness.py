"""Days late are counted from what was said, across changes of the clock, and cost exactly what the rule says."""

from __future__ import annotations

from fractions import Fraction

import pytest

from grader.batch.course.lateness import LatenessRule, Of, Span, moment, rule_from, share, span
from grader.errors import UsageError

RULE = LatenessRule("2026-11-20T23:59+01:00", Span(0, 60), Fraction(1, 10), Fraction(3, 10))


@pytest.mark.parametrize(
    ("handed_in", "extension", "days"),
    [
        ("2026-11-20T23:59+01:00", "0", 0),
        ("2026-11-21T00:59+01:00", "0", 0),
        ("2026-11-21T01:00+01:00", "0", 1),
        ("2026-11-20T23:59:01Z", "0", 1),
        ("2026-11-21T23:59+01:00", "0", 1),
        ("2026-11-21T23:59:01+01:00", "0", 2),
        ("2026-12-20T23:59+01:00", "0", 30),
        ("2999-12-20T23:59+01:00", "999d999h", 354371),
        ("2026-11-22T23:59+01:00", "2d", 0),
        ("2026-11-23T01:00+01:00", "2d", 1),
        ("2026-11-21T02:58+01:00", "2h", 0),
        ("2020-01-01T00:00Z", "0", 0),
    ],
)
def test_days_begun_after_the_grace_count_from_the_deadline(handed_in: str, extension: str, days: int) -> None:
    assert RULE.days_late(moment(handed_in), span(extension)) == days


@pytest.mark.parametrize(
    ("deadline", "handed_in", "days"),
    [
        # The clocks go back on 25 October: that day has 25 hours where the deadline names the zone, else 24.
        ("2026-10-24T23:59 Europe/Berlin", "2026-10-25T22:59Z", 1),
        ("2026-10-24T23:59 Europe/Berlin", "2026-10-25T23:00Z", 2),
        ("2026-10-24T23:59+02:00", "2026-10-25T22:59Z", 2),
        # And forward on 29 March: it has 23.
        ("2026-03-28T23:59 Europe/Berlin", "2026-03-29T21:59Z", 1),
        ("2026-03-28T23:59 Europe/Berlin", "2026-03-29T22:00Z", 2),
        # Half past two comes twice, or never: the later reading counts.
        ("2026-10-25T02:30 Europe/Berlin", "2026-10-25T01:30Z", 0),
        ("2026-03-29T02:30 Europe/Berlin", "2026-03-29T01:30Z", 0),
    ],
)
def test_a_day_ends_at_the_same_time_of_day_when_clocks_change(deadline: str, handed_in: str, days: int) -> None:
    assert LatenessRule(deadline).days_late(moment(handed_in)) == days


def test_what_is_taken_off_is_exact_and_never_more_than_was_earned() -> None:
    earned, maximum = Fraction(100, 3), Fraction(60)
    assert [RULE.deduction(days, earned, maximum) for days in (0, 1, 2, 9)] == [0, Fraction(10, 3), Fraction(20, 3), 10]
    of_maximum = LatenessRule(RULE.deadline, per_day=Fraction(1, 4), of=Of.MAXIMUM)
    assert [of_maximum.deduction(days, earned, maximum) for days in (1, 2, 3)] == [15, 30, earned]
    assert LatenessRule(RULE.deadline).deduction(5, earned, maximum) == 0, "without a share, lateness is only shown"


def test_a_rule_is_kept_as_it_was_given() -> None:
    assert rule_from(RULE.as_data()) == RULE
    assert str(RULE) == "10% of the points earned for each day begun, at most 30%"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2026-11-20T23:59", "does not say in which time zone"),
        ("2026-11-20", "is a day"),
        ("20.11.2026 23:59", "is no time"),
        ("2026-11-20T23:59 Europe/Berln", "'Europe/Berln' is no time zone"),
        ("2026-11-20T23:59 Europe", "'Europe' is no time zone"),
        ("2026-02-30T23:59Z", "is no time"),
        ("9999-12-31T23:59Z", "is no time"),
        ("", "is no time"),
    ],
)
def test_a_time_that_may_mean_several_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        moment(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-20 22:59:00.000000000 Z",
        "2026-11-20 22:59:00 UTC",
        "2026-11-20 14:59:00 -0800",
        "2026-11-20T22:59Z",
        "2026-11-20T22:59 Etc/UTC",
    ],
)
def test_times_are_read_as_platforms_write_them(text: str) -> None:
    assert moment(text) == moment("2026-11-20T23:59 Europe/Berlin")


@pytest.mark.parametrize("text", ["10", "-10%", "110%", "1e9", "nan", "", "1/0", "½"])
def test_no_share_of_the_points(text: str) -> None:
    with pytest.raises(UsageError, match=r"share of the points|more than all"):
        share(text)
    assert [share(good) for good in ("10%", "12.5 %", "0.1", "1/3", "0", "100%")] == [
        *(Fraction(1, 10), Fraction(1, 8), Fraction(1, 10), Fraction(1, 3), 0, 1)
    ]


@pytest.mark.parametrize("text", ["1", "h", "-1h", "1w", "", "1h 1h"])
def test_no_length_of_time(text: str) -> None:
    with pytest.raises(UsageError, match="no length of time"):
        span(text)
    assert [str(span(good)) for good in ("90min", "1d12h", "2d", "0")] == ["1h30m", "1d12h", "2d", "0"]
