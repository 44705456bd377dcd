"""What a reviewer sees of one answer and of all, and what is accepted in bulk."""

from __future__ import annotations

import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

from grader.batch.gradebook import Gradebook
from grader.errors import UsageError
from grader.model import Status
from grader.review.desk import Desk
from grader.review.matched_words import marks_in
from grader.review.refs import Ref
from tests.batch.classes import ENVIRONMENT
from tests.conftest import REPOSITORY
from tests.review.made_classes import code, decide, essays, formula, keep, prose, result


def test_parts_say_what_is_open_and_decided(tmp_path: Path) -> None:
    book = Gradebook(tmp_path, new=True)
    keep(
        book,
        result("ann", prose("positive, sum to one"), formula("?", "", "review"), code("a")),
        result("bob", prose("positive, sum to 1"), formula("β k_a", "β k_a"), code("b", "it is nan")),
    )
    kim = Desk(book, "Kim")
    first, second, third = kim.parts()
    assert (first.part, first.title, first.prompt, first.worth, first.kind) == (
        "1.a",
        "Weights",
        "Why is α a distribution?",
        3,
        "answer",
    )
    assert [(one.open, one.decided, one.total) for one in (first, second, third)] == [(2, 0, 2), (1, 0, 2), (0, 0, 2)]
    assert third.kind == "code"
    ann = Ref("ann", "1.a")
    decide(kim, ann, 1)
    decide(kim, Ref("bob", "2"), 1)
    counts = [(one.open, one.decided) for one in kim.parts()]
    assert counts == [(1, 1), (1, 0), (0, 1)]
    keep(book, result("ann", prose("another one"), formula("?", "", "review"), code("a")))
    assert [(one.open, one.decided) for one in kim.parts()] == [(2, 0), (1, 0), (0, 1)]
    assert kim.view(ann).earlier.points == 1  # type: ignore[union-attr]
    for _ in range(2):
        kim.undo()
    assert kim.undo() is None
    waiting = {part.part: part.open for part in kim.parts()}
    for part, count in waiting.items():  # counted by rows here, and one by one there
        assert count == sum(len(group.open) for group in kim.groups(part))


def test_a_view_has_all_a_page_needs_and_hides_the_name(tmp_path: Path) -> None:
    book = Gradebook(tmp_path, new=True)
    keep(book, result("ann", prose("Weights are *positive*;\nthey Sum  to one."), name="Ann Able"))
    ref = Ref("ann", "1.a")
    view = Desk(book, "Kim").view(ref)
    assert (view.alias, view.name) == ("answer 1", "Ann Able")
    assert Desk(book, "Kim").beginnings([ref, Ref("zoe", "1.a")]) == {ref: "Weights are *positive*; they Sum to one."}
    text = view.pieces[0]["text"]
    assert {mark.what: text[mark.start : mark.end] for mark in view.marks} == {
        "positive": "positive",
        "sums": "Sum  to one",
    }
    assert (view.found_status, view.found_points, view.worth, view.is_open) == (Status.REVIEW, 3, 3, True)
    with pytest.raises(UsageError, match=r"no such answer to 1\.z"):
        Desk(book, "Kim").view(Ref("ann", "1.z"))
    with pytest.raises(UsageError, match=r"no such answer to 1\.a"):
        decide(Desk(book, "Kim"), Ref("zoe", "1.a"), 1)
    with pytest.raises(UsageError, match="who decided"):
        Desk(book, " ")


@pytest.mark.parametrize(
    ("quoted", "written", "place"),
    [
        ("Σ α_i = 1", r"so $\sum_{i=1}^n \alpha_i = 1$.", r"\sum_{i=1}^n \alpha_i = 1"),
        ("k_j q ≫ k_i", r"$k_j^\top q \gg k_i^\top q$", r"k_j^\top q \gg k_i"),
        ("k_a q = k_b", "as kₐᵀq = k_bᵀq = t", "kₐᵀq = k_b"),
        ("c ≈ 1/2 (v_a", r"$c \approx \frac12(v_a + v_b)$", r"c \approx \frac12(v_a"),
        ("weights are nonnegative", "All Weights are non-negative", "Weights are non-negative"),
        ("positive", "The weights are negative", None),
    ],
)
def test_words_are_found_in_the_student_s_own_notation(quoted: str, written: str, place: str | None) -> None:
    marks = marks_in([{"kind": "answer", "text": written}], [{"evidence": {"found": {"it": quoted}}}])
    assert [written[mark.start : mark.end] for mark in marks] == ([place] if place else [])


def test_words_in_a_long_answer_are_found_in_little_time() -> None:
    pieces = [{"kind": "answer", "text": "a " * 10_000 + "b c"}] * 3
    quoted = {f"x{number}": " ".join("a" * 40) + " c" for number in range(20)}
    began = time.process_time()
    marks = marks_in(pieces, [{"evidence": {"found": {**quoted, "y": "((((", "z": "b c"}}}])
    assert {mark.what for mark in marks} == {"z", *quoted}  # 40 signs of a quotation are looked for, and no more
    assert time.process_time() - began < 1


def test_all_that_were_found_are_accepted_once_the_sample_was_seen(tmp_path: Path) -> None:
    book = essays(tmp_path, 15)
    keep(book, result("less", prose("positive", {"positive": "positive"})))
    kim, lee = Desk(book, "Kim"), Desk(book, "Lee")
    sample = kim.sample(kim.bulk("1.a"))
    assert len(sample) == 10
    assert sample == lee.sample(lee.bulk("1.a"))
    with pytest.raises(UsageError, match="3 of its answers were not seen yet"):
        kim.accept_found("1.a", sample[:7])
    held = lee.next("1.a")
    assert held is not None
    act = kim.accept_found("1.a", [*sample, *kim.sample(kim.bulk("1.a"))])
    accepted = {one.student for one in act.decisions}
    assert accepted == {f"s{number}" for number in range(15)} - {held.student}
    assert {one.points for one in act.decisions} == {3}
    with pytest.raises(UsageError, match=r"no answer to 1\.a waits"):
        kim.accept_found("1.a", [])
    assert kim.undo() is not None
    assert kim.parts()[0].open == 16
    refs = [Ref(student, "1.a") for student in book.students()]
    assert {kim.view(ref).alias for ref in refs} == {f"answer {number}" for number in range(1, 17)}
    assert [kim.view(ref).alias for ref in refs] != [f"answer {number}" for number in range(1, 17)]
    twice = kim.decide([refs[0]] * 2, points=Fraction(1), versions={refs[0]: kim.view(refs[0]).version})
    assert len(twice.decisions) == 1


def test_what_could_not_be_graded_cannot_be_accepted_as_found(tmp_path: Path) -> None:
    book = Gradebook(tmp_path, new=True)
    keep(book, result("ann", formula("x", "", "ungraded")))
    ref = Ref("ann", "1.b")
    kim = Desk(book, "Kim")
    with pytest.raises(UsageError, match="could not be graded"):
        kim.accept([ref], {ref: kim.view(ref).version})


def test_hostile_words_are_kept_as_they_are(tmp_path: Path) -> None:
    book = essays(tmp_path, 1)
    kim, ref = Desk(book, "Kim'); DROP TABLE acts;--"), Ref("s0", "1.a")
    comment = "<script>\x00\ud800 \u202e'\";--"
    decide(kim, ref, 2, comment=comment)
    assert kim.view(ref).comment == comment.replace("\ud800", "?")
    assert kim.view(Ref("s0", "1.a")).decision.by == kim.reviewer  # type: ignore[union-attr]
    for more in (
        {"points": Fraction(4)},
        {"points": Fraction(1, 10**9)},
        {"adjust": Fraction(10**9)},
        {"comment": "x" * 10_001},
        {"items": ["i'; --"]},
    ):
        with pytest.raises(UsageError):
            kim.decide([ref], **more, versions={ref: kim.view(ref).version})  # type: ignore[arg-type]
    assert len(kim.view(ref).history) == 1


@pytest.mark.slow
def test_the_desk_starts_without_what_grades() -> None:
    loaded = "sorted({'torch', 'sympy', 'numpy', 'lark'} & set(sys.modules))"
    code = f"import sys, grader.review.desk, grader.review.commands; print({loaded})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
