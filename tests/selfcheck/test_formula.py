"""`grader answer`, or `formula`: how an answer is read, where reading stops, and a verdict only where one is public."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from grader.errors import UsageError
from grader.formulas.answer.explaining import NotRead, Read
from grader.rubric.choosing import only
from grader.rubric.loading import load_rubric
from grader.selfcheck.home_rubric import at_home
from grader.selfcheck.playground import column_in, try_answer
from grader.selfcheck.showing_formulas import print_stages, print_trials
from tests.conftest import REPOSITORY, sampled, the_rubric, write_rubric
from tests.in_process import command as grader
from tests.selfcheck.kits import make_kit

RUBRIC = the_rubric("rubrics/nlp-a5/rubric.yaml")


def formula(text: str, part: str, *more: str | Path) -> list[str]:
    done = grader("formula", text, "--part", part, *(more or ("--rubric", "nlp-a5")))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_it_is_written_out_typed_and_judged() -> None:
    lines = formula(r"q = \beta(k_a+k_b) for a large \beta", "1.b.ii")
    assert lines[0] == "1.b.ii An average of two values"
    assert "read as   q = β(k_a + k_b)" in lines
    assert "shape     a vector with d entries" in lines
    assert "          β: a number of your own; you say it is large and positive" in lines
    assert lines[-1].startswith("verdict   passed  3 / 3")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (r"q = \beta(k_a+k_b", r"(k_a"),
        (r"so $q = \beta)(k_a+k_b)$ it is", r")(k_a"),
        (r"q = \beta */ (k_a + k_b)", "/ (k"),
    ],
)
def test_a_caret_stands_where_reading_stopped(text: str, at: str) -> None:
    lines = formula(text, "1.b.ii")
    shown = lines.index(f"  {text}")
    assert lines[shown + 1].index("^") - 2 == text.index(at)
    assert any(line.startswith("not read  ") for line in lines)


def test_shapes_that_do_not_fit_are_told_before_any_verdict() -> None:
    assert "shape     m×d; asked for is d×d" in formula("M = A^T", "1.b.i")
    assert "shape     none: A is d×m and B is d×p: they cannot be multiplied" in formula("M = A B", "1.b.i")


@pytest.mark.parametrize(
    ("part", "text", "read"),
    [
        ("1.d.i", r"q_1 = \beta\mu_a, q_2 = 2\beta\mu_b", ["q_1 = β μ_a", "q_2 = 2 β μ_b"]),
        ("2.g.ii", "vanilla: O(L l^2), perceiver: O(l m + L m^2)", ["O(L ℓ^2)", "O(ℓ m + L m^2)"]),
        ("1.e.ii", "K = I, Q = u_d u_a^T, V = u_b u_b^T", ["K = I", "Q = u_d u_aᵀ", "V = u_b u_bᵀ"]),
    ],
)
def test_every_formula_a_part_asks_for_is_read(part: str, text: str, read: list[str]) -> None:
    (trial,) = try_answer(text, part, RUBRIC)
    assert [reading.plain.endswith(want) for reading, want in zip(trial.readings, read, strict=True)] == [True] * len(
        read
    )


def test_a_hidden_part_is_read_without_a_verdict(tmp_path: Path) -> None:
    text = (REPOSITORY / "rubrics" / "nlp-a5" / "rubric.yaml").read_text()
    hidden = text.replace(
        "{check: extracts_one_vector_of_a_sum,", "{check: extracts_one_vector_of_a_sum, visibility: hidden,"
    )
    for path in (REPOSITORY / "rubrics" / "nlp-a5").iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "rubric.yaml").unlink()
    (tmp_path / "rubric.yaml").write_text(hidden)
    for answer in ("M = A A^T", "M = B B^T"):
        lines = formula(answer, "1.b.i", "--rubric", tmp_path / "rubric.yaml")
        assert lines[-1] == "verdict   none here: this part is judged after the deadline"
        assert any(line.startswith("read as   M = ") for line in lines)
        assert not any("right" in line or "wrong" in line or "passed" in line for line in lines)


def test_that_a_formula_can_be_read_is_no_verdict(tmp_path: Path) -> None:
    rubric = "  - id: 1.b\n    title: A cost\n    points: 0\n    later: {checks: 1, points: 2}\n    checks:\n"
    words = "words: {vanilla: [vanilla]}, variables: {L: [], n: []}, fixed: [d]"
    rubric += f"      - {{check: costs_can_be_read, gate: true, {words}}}\n"
    kit = make_kit(tmp_path)
    head, _, rest = (kit / "rubric" / "tiny" / "rubric.yaml").read_text().partition("  - id: 1.b\n")
    (kit / "rubric" / "tiny" / "rubric.yaml").write_text(
        head + rubric + "  - id: 2\n" + rest.partition("  - id: 2\n")[2]
    )
    for cost in ("L n^2", "n"):
        lines = formula(f"vanilla: O({cost})", "1.b", "--in", kit)
        assert lines[1].startswith("read as   cost of the vanilla model = O(")
        assert lines[-1] == "verdict   none here: this part is judged after the deadline"


def test_in_a_kit_a_part_without_a_check_shows_how_it_is_spelled(tmp_path: Path) -> None:
    kit = make_kit(tmp_path)
    lines = formula(r"h = \frac{1}{m} \sum_i v_i", "1.b", "--in", kit)
    assert lines[1].startswith("read as   h = ")
    assert "what its letters stand for is not known here" in " ".join(" ".join(lines).split())
    assert formula(r"q = \beta(k_a + k_b)", "1.a", "--in", kit)[-1].startswith("verdict   passed  3 / 3")


@pytest.mark.parametrize(
    "text", ["", "   ", "$", "\\", "= =", "q =", "\x1b[31mq", "q = " + "(" * 400, "## 1.b.ii", "а" * 5000]
)
def test_whatever_is_typed_is_answered_in_lines_of_text(text: str) -> None:
    try:
        trials = try_answer(text, "1.b.ii", RUBRIC)
    except UsageError:  # there is none
        trials = []
    for trial in trials:
        for reading in trial.readings:
            assert isinstance(reading, Read | NotRead)
            if isinstance(reading, NotRead):
                column = column_in(text, reading, trial.answer)
                assert column is None or 0 <= column < max(1, len(text))


def test_a_group_of_parts_is_asked_which() -> None:
    done = grader("formula", "q = k", "--part", "1.b", "--rubric", "nlp-a5")
    assert (done.returncode, done.stderr) == (2, "grader: 1.b has several parts; say which: 1.b.i, 1.b.ii\n")


def test_a_part_that_is_judged_as_a_whole_says_so() -> None:
    told = " ".join(formula("W_Q = W", "1.2.a", "--rubric", "dl-hw3"))
    assert "verdict   none for a formula alone: `grader check --part 1.2.a` judges" in told


QUIZ = """
rubric: quiz
title: A quiz
points: 5
per_student: {n: [3, 4]}
problems:
  - id: 1
    title: Why
    points: 2
    checks: [{check: gives_the_ideas, points: 2, ideas: {up: which way, far: how far}}]
  - id: 2
    title: Hidden
    points: 1
    checks: [{check: gives_the_ideas, points: 1, visibility: hidden, ideas: {up: which way}}]
  - id: 3
    title: Number
    points: 1
    checks: [{check: gives_the_number, points: 1, value: "<<n>> / 2", name: w}]
  - id: 4
    title: Choice
    points: 1
    checks: [{check: chooses_the_option, points: 1, options: {a: up, b: down}, right: b}]
"""
IDEAS = '{"1": {ideas: {up: [grow], far: [twice]}}, "2": {ideas: {up: [grow]}}}'
AFTER = "none here: this part is judged after the deadline"


@pytest.mark.parametrize(
    ("part", "text", "told"),
    [
        ("1", "It grows twice as fast", "review 2 / 2 found 2 of 2 ideas: which way (“grows”), how far (“twice”)"),
        ("1", "It grows", "review 1 / 2 found 1 of 2 ideas: which way (“grows”); not found: how far"),
        ("2", "It grows", AFTER),
        ("3", "w = 3/2", "none: its numbers are each student's own; say whose with --student NAME"),
        ("4", "(b)", "passed 1 / 1 the right choice: read as b"),
        ("4", "a", "failed 0 / 1 this is not the right choice: read as a"),
    ],
)
def test_prose_a_number_and_a_choice_are_tried_as_a_formula_is(tmp_path: Path, part: str, text: str, told: str) -> None:
    place = write_rubric(tmp_path / "quiz", QUIZ, **{"ideas.yaml": IDEAS})
    for name in ("answer", "formula"):
        done = grader(name, text, "--part", part, "--rubric", place)
        lines = done.stdout.splitlines()
        assert " ".join(" ".join(lines[1:]).split()).endswith(f"verdict {told}"), done.stdout + done.stderr


def test_a_number_of_a_students_own_is_judged_by_whose_it_is(tmp_path: Path) -> None:
    place = write_rubric(tmp_path / "quiz", QUIZ, **{"ideas.yaml": IDEAS})
    drawn = grader("parameters", "--rubric", place, "--student", "kim").stdout.partition("n = ")[2].strip()
    lines = [
        grader("answer", f"w = {n}/2", "--part", "3", "--rubric", place, "--student", "kim").stdout for n in (3, 4)
    ]
    assert ["passed  1 / 1" in one for one in lines] == [drawn == "3", drawn == "4"]


def test_in_a_kit_a_choice_is_read_and_not_judged(tmp_path: Path) -> None:
    kit = make_kit(tmp_path)
    rubric = kit / "rubric" / "tiny" / "rubric.yaml"
    asked = "      - {check: option_can_be_read, gate: true, options: {a: up, b: down}}\n"
    rubric.write_text(rubric.read_text().replace("      - {check: is_answered, gate: true}\n", asked))
    shown = formula("b", "1.b", "--in", kit)[1:]
    assert shown == ["verdict   none here: read as b; this part is judged after the deadline"]


def test_a_formula_with_words_is_tried_for_both() -> None:
    lines = " ".join(formula("M = A A^T, which keeps v_a and kills v_b", "1.b.i"))
    assert "passed  2 / 2" in lines
    assert "review  1 / 1  found 2 of 2 ideas: what M does to v_a (“keeps v_a”)" in lines
    assert "idea" not in " ".join(formula("M = A A^T", "1.b.i")), "a formula alone is not read as words"


def test_a_sheet_that_nobody_wrote_is_not_named() -> None:
    assert not [line for line in formula(r"q_1 = \mu_a", "1.d.i", "--rubric", "nlp-a5") if "answers.md" in line]


RUBRICS = {"nlp-a5": RUBRIC, "dl-hw3": load_rubric(REPOSITORY / "rubrics" / "dl-hw3" / "rubric.yaml")}


def printed(text: str, part: str, show: Callable[..., None], rubric: str = "nlp-a5") -> list[str]:
    """As the command prints it, in this process: one that starts anew takes seconds to load."""
    whole, paper = RUBRICS[rubric], StringIO()
    (problem,) = only(at_home(whole), [part]).problems
    show(text, problem, try_answer(text, part, whole), Console(file=paper, width=80))
    return paper.getvalue().splitlines()


def stages(text: str, part: str, rubric: str = "nlp-a5") -> list[tuple[str, str]]:
    return [(line[:10].strip(), line[10:]) for line in printed(text, part, print_stages, rubric)]


@pytest.mark.parametrize(
    ("rubric", "part", "text", "answers", "verdict"),
    sampled(
        [
            ("nlp-a5", "1.b.i", "M = A A^T", ["M := A Aᵀ"], "passed"),
            ("nlp-a5", "1.b.i", "M = A^T or M = A A^T", ["M := Aᵀ", "M := A Aᵀ"], "review"),
            ("nlp-a5", "1.b.ii", r"q = \beta(k_a+k_b)", ["q := β(k_a + k_b)"], "passed"),
            ("nlp-a5", "1.c.i", "q = β(μ_a - μ_b)", ["q := β(μ_a - μ_b)"], "failed"),
            ("nlp-a5", "1.d.i", "q_1 = β μ_a, q_2 = β μ_b", ["q_1 := β μ_a", "q_2 := β μ_b"], "passed"),
            ("nlp-a5", "1.e.ii", "K = I, Q = I, V = I", ["K := I", "Q := I", "V := I"], "failed"),
            (
                "nlp-a5",
                "2.g.ii",
                "vanilla: O(L l), perceiver: O(l m)",
                ["cost of the vanilla model := O(L ℓ)", "cost of the perceiver model := O(ℓ m)"],
                "failed",
            ),
            ("dl-hw3", "1.1.a", "H = V softmax(K^T Q)", ["H := V softmax(Kᵀ Q)"], "partial"),
            ("dl-hw3", "1.1.b", "β = 1/sqrt(d), for example β = 0.125", ["β := 1/sqrt(d)"], "passed"),
            ("dl-hw3", "1.1.e", r"\hat h_j = h_j + ε", ["Δ h_j := h_j + ε - h_j"], "failed"),
            ("dl-hw3", "1.1.f", "Δ h_j = 0", ["Δ h_j := 0"], "failed"),
            (
                "dl-hw3",
                "1.2.a",
                r"W_Q^i \in R^{d/h \times d}, W_Q Q",
                [r"W_Q^i ∈ d/h \times d"],
                "none for a formula alone",
            ),
            ("dl-hw3", "1.3.a", r"W_K \in R^{d \times e}", [r"W_K ∈ d \times e"], "none for a formula alone"),
            ("dl-hw3", "1.3.e", "h_j = (v_{j-1} + v_j)/2", ["h_j := (v_j-1 + v_j)/2"], "none for a formula alone"),
        ],
        3,
    ),
)
def test_the_stages_of_every_formula_part_end_in_the_verdict(
    rubric: str, part: str, text: str, answers: list[str], verdict: str
) -> None:
    shown = stages(text, part, rubric)
    assert shown[0] == ("text", text)
    assert [line for name, line in shown if name == "answer"] == answers
    assert [name for name, _ in shown].count("types") == len(answers)
    assert shown[-1][0] == "verdict"
    assert shown[-1][1].startswith(verdict)
    without = " ".join(" ".join(printed(text, part, print_trials, rubric)).split())
    assert without.endswith(" ".join(shown[-1][1].split())), "it says more than it says without --stages"


@pytest.mark.parametrize(
    ("text", "at", "last"),
    [
        (r"q = \beta(k_a+k_b", "(k_a", ("answer", "not read: the bracket '(' is never closed (column 10)")),
        (
            r"q = \foo k_a",
            r"\foo",
            ("tokens", r"not read: 'q = \foo k_a': the command '\foo' is not known here (column 5)"),
        ),
        ("so, $q = k_a)(k_b$", ")(", ("answer", "not read: the bracket ')' closes nothing, or too early (column 8)")),
        ("words", None, ("answer", "not read: no 'q = …' was found: no formula stands there")),
        ("k_a\n\nq = (k_b", None, ("answer", "not read: the bracket '(' is never closed (line 3, column 5)")),
    ],
)
def test_the_stages_stop_where_reading_does(text: str, at: str | None, last: tuple[str, str]) -> None:
    shown = stages(text, "1.b.ii")
    assert shown[-1] == last
    assert [line.index("^") for name, line in shown[1:2] if not name] == ([text.index(at)] if at else [])


def test_the_stages_of_a_hidden_part_give_no_verdict(tmp_path: Path) -> None:
    kit = make_kit(tmp_path)
    lines = formula(r"h = \frac{1}{m} \sum_i v_i", "1.b", "--in", kit, "--stages")
    shown = {line[:10].strip(): line[10:] for line in lines}
    assert shown["types"] == "not known here"
    assert shown["verdict"].startswith("none here: this part is judged after the deadline")


@pytest.mark.parametrize(
    ("text", "part", "told"),
    [
        ("", "1.b.ii", "there is no answer; write one in quotation marks"),
        ("  ", "1.b.ii", "there is no answer; write one in quotation marks"),
        ("q = k", "9.z", "nlp-a5 has no part '9.z'; it has 1.a.i,"),
        ("q = k", "1.b", "1.b has several parts; say which: 1.b.i, 1.b.ii"),
    ],
)
def test_what_has_no_stages_is_told_in_one_line(text: str, part: str, told: str) -> None:
    done = grader("formula", text, "--part", part, "--rubric", "nlp-a5", "--stages")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"grader: {told}")
    assert done.stderr.count("\n") == 1


def test_an_answer_that_is_given_in_two_ways_is_shown_for_each() -> None:
    found = stages("M = A A^T or M = A @ A.T", "1.b.i")
    assert [what for stage, what in found if stage == "answer"] == ["M := A Aᵀ", "M := A Aᵀ"]
    assert [stage for stage, _ in found].count("tokens") == 1
