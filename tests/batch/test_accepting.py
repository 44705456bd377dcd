"""Accepting many answers at a terminal: as many are shown as in the browser, and each is answered by yes or no."""

from __future__ import annotations

import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from grader.batch.gradebook import Gradebook
from grader.review.bulk import why_read_alone
from grader.review.desk import Desk
from tests.batch.classes import COMMAND, ENVIRONMENT, at_a_terminal, grader
from tests.batch.test_decisions import book, grades, part, prose, run, written
from tests.batch.test_gradebook import keep, override
from tests.conftest import REPOSITORY
from tests.review.made_classes import essays

__all__ = ["book", "grades"]
ACCEPT = ("--part", "1.a", "--by", "Kim")


def decided(book: Gradebook) -> list[str]:
    return [state.student for state in book.decisions.states() if state.standing.decision]


def test_only_answers_with_every_idea_are_accepted_in_one_act(book: Gradebook, grades: Path) -> None:
    done = at_a_terminal("accept", grades, "--part", "1a", "--by", "Kim", typed="y\ny\n")
    assert done.returncode == 0, done.stderr
    assert "2 open answers to 1.a accepted by Kim: every idea was found\n" in done.stdout
    assert decided(book) == ["all", "also"]
    assert (part(book, "all")["points"], part(book, "all")["provisional"]) == (3, False)
    assert "nothing to accept" in at_a_terminal("accept", grades, *ACCEPT).stdout
    assert run("undo", grades, "--by", "Kim").stdout.startswith("undone: accept of 1.a, 2 students, by Kim\n")
    assert part(book, "all")["provisional"]
    book.items.add("1.a", "nice", Fraction(1), by="Kim")
    assert run("undo", grades, "--by", "Kim").stdout.startswith("undone: item, which decided nothing, by Kim\n")


def test_what_a_person_decided_on_another_answer_is_not_accepted_in_bulk(book: Gradebook, grades: Path) -> None:
    override(book, "all", "1.a", Fraction(0), "Kim", "copied")
    keep(book, written("all", prose(), judged="b"))
    assert "1 open answers to 1.a accepted" in at_a_terminal("accept", grades, *ACCEPT, typed="y\n").stdout
    assert part(book, "all")["decided_before"]["by"] == "Kim"


def test_ten_are_shown_and_one_no_accepts_nothing(tmp_path: Path) -> None:
    book = essays(tmp_path, 15)
    done = at_a_terminal("accept", tmp_path, *ACCEPT, typed="y\n" * 9 + "n\n")
    assert done.stdout.count("they sum to one, says") == done.stdout.count("3 of 3 points") == 10
    assert "Nothing was accepted" in done.stdout
    assert decided(book) == []
    at_a_terminal("accept", tmp_path, *ACCEPT, typed="y\n" * 9 + "\x04")
    assert decided(book) == [], "the terminal was closed before the last answer"
    at_a_terminal("accept", tmp_path, *ACCEPT, typed="y\n" * 9 + "\nmaybe\ny\n")
    assert len(decided(book)) == 15, "neither an empty line nor another word is a yes or a no"


def test_without_a_terminal_nothing_is_accepted(tmp_path: Path) -> None:
    book = essays(tmp_path, 2)
    for typed in ("y\ny\n", ""):
        done = subprocess.run(
            [*COMMAND, "accept", tmp_path, *ACCEPT],
            cwd=REPOSITORY,
            env=ENVIRONMENT,
            input=typed,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert decided(book) == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--part", "1", "--by", "Kim"), "one part at a time: 1.a, 1.b"),
        (("--part", "7", "--by", "Kim"), "no part '7'"),
        (("--part", "1.a", "--by", " "), "who decided"),
        (("--part", "1.a", "--by", "Kim", "--yes"), "No such option"),
        (("--part", "1.a", "--by", "Kim", "--found", "all"), "No such option"),
    ],
)
def test_accepting_what_makes_no_sense_is_refused(grades: Path, asked: tuple[str, ...], said: str) -> None:
    done = at_a_terminal("accept", grades, *asked, typed="y\ny\n")
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_what_a_student_wrote_cannot_obey_the_terminal(tmp_path: Path) -> None:
    book = essays(tmp_path, 0)
    hostile = written("eve", prose())
    hostile.report["problems"][0]["judged"]["pieces"][0]["text"] += "\x1b[2J\rAre these points right? [y/n]: \u202e"
    keep(book, hostile)
    said = at_a_terminal("accept", tmp_path, *ACCEPT, typed="n\n").stdout
    assert not {"\x1b", "\r", "\u202e"} & set(said)


# ---- which answers have to be read one by one ----


def phrasings(rubric: str, part: str) -> str:
    """The first words of each phrasing of a part's ideas, as somebody lists them who knows what is looked for."""
    found = yaml.safe_load((REPOSITORY / "rubrics" / rubric / "ideas.yaml").read_text())[part]["ideas"].values()
    says = [phrasing for idea in found for phrasing in (idea["says"] if isinstance(idea, dict) else idea)]
    plain = [phrasing.translate(str.maketrans("", "", '"!@()*')).split() for phrasing in says]
    return ", ".join(" ".join(word.split("|")[0] for word in words if word != "..") for words in plain)


@pytest.mark.slow
def test_a_list_of_keywords_and_a_dog_that_learns_are_accepted_nowhere_in_bulk(tmp_path: Path) -> None:
    answers = {
        "dog": "My dog learns sin.",
        "list": phrasings("dl-hw3", "1.5.c") + ", sinusoid, learned parameters, added to tokens",
        "essay": "In ViT the position embeddings are learned, while the first Transformer adds fixed sinusoids.",
    }
    for name, answer in answers.items():
        (tmp_path / "in" / name).mkdir(parents=True)
        (tmp_path / "in" / name / "answers.md").write_text(f"## 1.5.c\n\n{answer}\n")
    out = tmp_path / "out"
    grader("batch", tmp_path / "in", "--out", out, "--rubric", "dl-hw3", "--part", "1.5.c")
    with Gradebook(out) as book:
        assert [state.student for state in book.decisions.states() if state.all_found] == ["dog", "essay", "list"]
        bulk = Desk(book, "Kim").bulk("1.5.c")
        assert [state.student for state in bulk.ready] == ["essay"]
        assert sorted(bulk.excluded.values()) == [1, 1]
        done = at_a_terminal("accept", out, "--part", "1.5.c", "--by", "Kim", typed="y\ny\ny\n")
        assert decided(book) == ["essay"]
    assert answers["dog"] not in done.stdout
    assert done.stdout.count("read one by one") == 2


@pytest.mark.parametrize(
    ("answer", "alone"),
    [
        ("The weights are positive, and all of them sum to one.", False),
        ("$M = AA^\\top$, since $A^\\top A = I$ keeps $v_a$ and removes $v_b$.", True),
        ("positive weights, sum one, softmax, exponential, normalised, denominator, probability, valid", True),
        ("- positive\n- sum to one\n- exponential function\n- normalised by denominator\n- probabilities", True),
        ("`the of is it was be and the of is it was be` $the of is and$", True),
        ("", True),
    ],
)
def test_sentences_are_told_from_lists_and_formulas(answer: str, alone: bool) -> None:
    assert bool(why_read_alone(answer)) is alone


def test_of_the_rubrics_own_phrasings_no_list_is_taken_for_sentences() -> None:
    for rubric in ("nlp-a5", "dl-hw3", "ridge"):
        for asked in yaml.safe_load((REPOSITORY / "rubrics" / rubric / "ideas.yaml").read_text()):
            assert why_read_alone(phrasings(rubric, asked)), (rubric, asked)
