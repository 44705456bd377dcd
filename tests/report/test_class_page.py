"""A class in one page: what is counted is what is in the reports."""

from __future__ import annotations

from grader.report import class_findings, class_summary
from grader.report.class_page import class_page
from tests.report.made_reports import Data, Page, checked, problem, report


def _answer(name: str, formula: str, weight: float, status: str = "passed") -> Data:
    rows = [{"scale": scale, "a": weight, "b": weight} for scale in (1, 2)]
    check = checked("averages", status, evidence={"read_as": formula, "weights_by_scale": rows})
    return report(name, problem("1.b", check, status=status, points=int(status == "passed")))


def test_full_marks_and_zero_lie_in_the_outer_classes() -> None:
    reports = [
        report(str(n), problem("1", points=points, max_points=20)) for n, points in enumerate((0, 1.9, 2, 19, 20))
    ]
    counts, labels = class_summary.bins(reports)
    assert dict(zip(labels, counts, strict=True)) == dict.fromkeys(labels, 0) | {"0": 2, "10": 1, "90": 2}


def test_parts_are_ordered_by_difficulty_and_optional_ones_count_those_who_tried() -> None:
    reports = [
        report("a", problem("1", points=4, max_points=4), problem("2", max_points=2), problem("3", max_points=0)),
        report("b", problem("1", points=2, max_points=4), problem("2", points=1, max_points=2), problem("3", points=1)),
    ]
    reports[0]["problems"][1]["status"] = "missing"
    parts = class_summary.parts(reports)
    found = {part.id: (part.students, part.mean, part.full, part.zero, part.missing) for part in parts}
    assert list(found) == ["2", "1", "3"]
    assert found == {"1": (2, 3, 1, 0, 0), "2": (2, 0.5, 0, 1, 1), "3": (1, 1, 1, 0, 0)}


def test_a_mistake_is_the_same_whatever_its_numbers() -> None:
    def with_message(name: str, message: str, **more: object) -> Data:
        return report(name, problem("1", checked(message=message, **more)))

    reports = [
        with_message("a", "off by 0.21 at (0, 3): got 1.389, expected 1.604 (seed 7, trial 0)"),
        with_message("b", "off by 1e-3 at (2, 13): got 1, expected 2 (seed 7, trial 1)"),
        with_message("c", "q_1 is wrong"),
        with_message("d", "dev.predictions: 3 lines are empty"),
        with_message("e", "dev.predictions: 17 lines are empty"),
        with_message("f", "wrong on 3 of 8 inputs", evidence={"looks_like": "β is left out"}),
        with_message("g", "wrong on 8 of 8 inputs", evidence={"looks_like": "β is left out"}),
        with_message("h", "there is no answer to 1", status="missing"),
        with_message("i", "fine", status="passed"),
        with_message("j", "not tried", status="skipped"),
    ]
    assert {(found.what, "".join(found.students)) for found in class_summary.mistakes(reports)} == {
        ("off by … at (…, …)", "ab"),
        ("q_1 is wrong", "c"),
        ("dev.predictions: … lines are empty", "de"),
        ("it looks as if β is left out", "fg"),
    }


def test_like_answers_are_together_in_whatever_letters_they_are_written() -> None:
    reports = [
        _answer("a", "q = C(k_b + k_a)", 0.5),
        _answer("b", "q = β(k_a + k_b)", 0.5),
        _answer("c", "q = β(k_a + k_b)", 0.5),
        _answer("d", "q = k_a", 0.2, "failed"),
    ]
    first, second = class_summary.like_answers(reports)
    assert first.spellings == (("q = β(k_a + k_b)", 2), ("q = C(k_b + k_a)", 1))
    assert (first.students, first.status) == (("a", "b", "c"), "passed")
    assert (second.spellings, second.status) == ((("q = k_a", 1),), "failed")


def test_answers_that_were_not_measured_go_by_their_spelling() -> None:
    reports = [
        report(name, problem("1", checked(evidence={"read_as": read})))
        for name, read in (("a", ["q_1 = μ_a", "q_2 = μ_b"]), ("b", ["q_1 = μ_a", "q_2 = μ_b"]), ("c", "M = Aᵀ"))
    ]
    assert [(group.spellings[0], group.students) for group in class_summary.like_answers(reports)] == [
        (("q_1 = μ_a, q_2 = μ_b", 2), ("a", "b")),
        (("M = Aᵀ", 1), ("c",)),
    ]


def test_checks_that_tell_nobody_apart_are_found() -> None:
    def tried(name: str, **statuses: str) -> Data:
        return report(name, problem("1", *(checked(check, status) for check, status in statuses.items())))

    reports = [
        tried("a", always="passed", never="failed", mixed="failed", waits="review", seldom="failed", half="partial"),
        tried("b", always="passed", never="crashed", mixed="passed", waits="review", seldom="failed", half="failed"),
        tried("c", always="passed", never="failed", mixed="passed", waits="review", seldom="missing", half="partial"),
    ]
    everybody, nobody = class_findings.one_sided(reports)
    assert [(one.check, one.students) for one in everybody] == [("never", 3)]  # two that tried would say nothing
    assert [one.check for one in nobody] == ["always"]


def test_who_is_far_from_the_rest_is_found_by_total_and_by_part() -> None:
    def student(name: str, easy: float, hard: float) -> Data:
        parts = (
            problem("1", points=easy, max_points=1, status="passed" if easy else "failed"),
            problem("2", points=hard),
        )
        return report(name, *parts)

    reports = [student(f"s{n}", 1, 10 + n % 3) for n in range(19)]
    reports += [student("low", 1, 0), student("odd", 0, 14)]
    found = {one.student: one.why for one in class_findings.far_from_the_rest(reports)}
    assert found == {
        "low": "1 points; half of the class have 11 to 13",
        "odd": "nothing for 1 (failed), which 95 % have in full; 14 in all",
    }
    assert class_findings.far_from_the_rest(reports[-7:]) == []


def test_time_is_counted_by_part_and_hidden_checks_are_left_out() -> None:
    def student(name: str, seconds: float) -> Data:
        hidden = checked("later", visibility="hidden", seconds=10)
        return report(name, problem("1", checked(seconds=seconds), hidden), problem("2", checked(seconds=0.1)))

    reports = [class_summary.needed_for_class_page(student(name, seconds)) for name, seconds in (("a", 1), ("b", 4))]
    first, second = class_findings.time_spent(reports)
    assert (first.part, first.seconds, first.typical, first.longest, first.student) == ("1", 5, 2.5, 4, "b")
    assert (second.part, second.seconds) == ("2", 0.2)
    shown = Page(class_page(reports, "A class")).text
    assert "Grading took 3 s in all" in shown
    assert "1 Title of 1 5 s 2.50 s 4.00 s b" in shown


def test_the_page_says_it_all_and_leads_to_each_student() -> None:
    reports = [
        _answer("bob", "q = β(k_a + k_b)", 0.5),
        report("alice", problem("1.b", checked(status="review", points=0.5), status="review", points=0.5)),
        report("zoë", problem("1.b", checked(status="ungraded"), status="ungraded")),
    ]
    page = Page(class_page(reports, "Autumn", {"zoë": "students/zoë ?.html"}))
    assert "3 submissions. Mean 0.5, median 0.5, from 0 to 1, of 1 points." in page.text
    shown = "1 student: show names zoë Show them below"
    assert f"1.b Title of 1.b ⚠ ungraded {shown} 1.b Title of 1.b ? review" in page.text
    assert "q = β(k_a + k_b) ✓ passed" in page.text
    assert "alice 0.5 / 1 0 of 1 1.b (−0.5) provisional 1.5 bob 1 / 1 1 of 1 final 1.5 zoë 0 / 1 0 of 1" in page.text
    assert [address for address in page.values("href") if not address.startswith("#")] == [
        "./students/zo%C3%AB%20%3F.html#part-1.b",
        "./students/zo%C3%AB%20%3F.html",
    ]
