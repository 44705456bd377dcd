"""Parts are found however people name them, and lists within answers are not taken for parts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.answers import cut_into_parts
from grader.answers.labels import read_label
from tests.answers.sheets import DL, NLP, notes, texts
from tests.conftest import examples

TO_B_II = [
    "## b.ii",
    "### Problem (b.ii)",
    "## 1(b) ii.",
    "**(b) ii.**",
    "**Problem 1.b.ii**",
    "# Question 1\n## (b)\n### ii",
    "## 1. b) ii)",
    "## Part 1.b.ii",
    "## Answer to (b.ii)",
    "## Solution to question 1(b)(ii)",
    "## Q1(b)(ii)",
    "## 1b ii",
    "## 1 b ii",
    "## 1bii",
    "## 1-b-ii",
    "## 1.b.II",
    "## 1.b.2",
    "## (B)(II)",
    "## `b.ii`",
    "## Question 1, part b, ii",
    "## Problem 1b(ii) [4 points]",
    "## Problem 1.b.ii (averages)",
    "### 1.b (ii) An average of two",
    "## 1.b An average of two\n\nii.",
    "## (b) An average of two\n\n- ii.",
    "## (b) An average of two\n\n(ii)",
    "## (b) An average of two\n\n1. One.\n2.",
    "# 1\n\n## b\n\n- ii.",
    "(b) ii.",
    "b)\n\nii)",
    "Problem 1(b)(ii)",
    "1.b.ii",
    "b.ii\n----",
    "## 1.b.ii\n\nSolution.",
    "## 1.b.ii\n\n**Answer:**",
]


@pytest.mark.parametrize("heading", TO_B_II)
def test_a_heading_as_people_write_it_leads_to_its_part(heading: str) -> None:
    assert texts(f"{heading}\n\nTake $q = t(k_a + k_b)$.\n")["1.b.ii"] == "Take q = t(k_a + k_b) ."


@pytest.mark.parametrize(
    ("line", "steps"),
    [
        ("Problem 2.1 b Which key wins?", ("2", "1", "b")),
        ("Question 3 c The cost of it", ("3", "c")),
        ("Exercise 1.4 e LayerNorm.", ("1", "4", "e")),
        ("Task 2 a", ("2", "a")),
        ("Problem 1.1 I think that", ("1", "1")),
        ("Problem 1.1 a key wins if", None),
        ("1.1 a Transformer has", None),
        ("Part 2 of Theorem", None),
        ("Figure 2.1 b Weights", None),
    ],
)
def test_a_letter_after_the_number_of_a_problem_needs_no_mark(line: str, steps: tuple[str, ...] | None) -> None:
    label = read_label(line)
    assert (label.steps if label else None) == steps


WORDS = st.lists(
    st.sampled_from(["the", "weights", "sum", "$x_1$", "`code`", "because", "βk", "α=½", "A*B"]), min_size=1
)


@settings(deadline=None, max_examples=examples(60))
@given(st.sampled_from(TO_B_II), st.lists(WORDS.map(" ".join), min_size=1, max_size=4).map("\n\n".join))
def test_whatever_the_heading_the_same_body_lands_in_the_same_part(heading: str, body: str) -> None:
    body = f"Then {body}"
    assert texts(f"{heading}\n\n{body}\n")["1.b.ii"] == texts(f"## 1.b.ii\n\n{body}\n")["1.b.ii"]


@pytest.mark.parametrize(
    ("sheet", "want"),
    [
        ("## 1.1 Attention\n### Answer to (a)\nx y\n## 1.2 Heads\n(b)\n\nz w\n", {"1.1.a": "x y", "1.2.b": "z w"}),
        ("## Question 1.5\n\n**(d)**\n\nhead\n\n# 2 Code\n\n## 1\n\ndone\n", {"1.5.d": "head", "2.1": "done"}),
        ("# 1 Theory\n## 1.3\n### (d)\none\n### 0.1 (e)\ntwo\n", {"1.3.d": "one", "1.3.e": "two"}),
        ("## 1.4\n\n1. fast\n2. far\n", {"1.4.a": "fast", "1.4.b": "far"}),
        ("## 1.1\n(a) one\n(b) two\n(c) three\n", {"1.1.a": "one", "1.1.b": "two", "1.1.c": "three"}),
        ("(d) Two:\n(a) speed.\n\n(b) 1. memory\n", {"1.1.d": "Two: (a) speed. (b) 1. memory"}),
        ("## 2 Code\n\n2. heads\n\n1. attention\n", {"2.2": "heads", "2.1": "attention"}),
        ("(e) one\n\n(f) two\n\n(e) three\n", {"1.1.e": "one", "1.1.f": "two", "1.3.e": "three"}),
    ],
)
def test_labels_are_read_in_their_context_of_sections(sheet: str, want: dict[str, str]) -> None:
    assert texts(sheet, parts=DL) == want


@pytest.mark.parametrize(
    ("sheet", "want"),
    [
        ("## c) Drawbacks\n\n1.\n\n$$q=s$$\n\nmore\n\n2. sways\n", {"1.c.i": "q=s more", "1.c.ii": "sways"}),
        ("# 1\n## d\nii. calm\n# 2\n## d\nfive\n", {"1.d.ii": "calm", "2.d": "five"}),
        ("# Attention\n## (a)\n### i\nx\n# Outlook\n## (a)\nfacts\n", {"1.a.i": "x", "3.a": "facts"}),
        (
            "1. Attention\n\n   (a) i. one\n\n   ii. two\n2. Training\n\n   (d) five\n3. Outlook\n   (a) facts\n",
            {"1.a.i": "one", "1.a.ii": "two", "2.d": "five", "3.a": "facts"},
        ),
        ("(c) ii. it sways\n\n(d) i. two heads\n", {"1.c.ii": "it sways", "1.d.i": "two heads"}),
        ("- (a) Copying\n  - i. one\n  - ii. two\n\niv. four\n", {"1.a.i": "one", "1.a.ii": "two", "1.a.iv": "four"}),
        ("# 2 Attention\n## c)\ni. q\n# 3 Training\n## d)\nfive\n", {"1.c.i": "q", "2.d": "five"}),
        ("# 2 Attention\n## c\n### i\nq\n## d\n### ii\ncalm\n", {"1.c.i": "q", "1.d.ii": "calm"}),
        ("## 1.b\n\nIt is $M = AA^T$.\n\nii. $q=k$\n", {"1.b.i": "It is M = AA^T .", "1.b.ii": "q=k"}),
        ("## 1.a.i\none\n## 1.a.ii\ntwo\n## 1.a.i (continued)\nmore\n", {"1.a.i": "one more", "1.a.ii": "two"}),
        ("i. they sum to one\n\n## a\n\nii. one key leads\n", {"1.a.i": "they sum to one", "1.a.ii": "one key leads"}),
        ("## b) ii\n\nhalf of each\n", {"1.b.ii": "half of each"}),  # and not of all of b
        ("## b.ii: $q = tk$\n## c.i Title\ntext\n", {"1.b.ii": "q = tk", "1.c.i": "text"}),
        ("## 1.b.i\nM\n### Proof\nsteps\n## 2.d\nfive\n", {"1.b.i": "M Proof steps", "2.d": "five"}),
    ],
)
def test_labels_are_read_in_their_context_of_questions(sheet: str, want: dict[str, str]) -> None:
    assert texts(sheet) == want


@pytest.mark.parametrize(
    ("sheet", "want"),
    [
        ("## 3.b\n\n1. Trust x\n2. Law y\n\n3. More\n", {"3.b": "1. Trust x 2. Law y 3. More"}),
        ("## 3.c\n\n(a) one\n\n(b) two\n", {"3.c": "(a) one (b) two"}),
        ("## 3\n\n(b) 1. Trust\n\n2. Law\n", {"3.b": "1. Trust 2. Law"}),
        ("## 1.a.i\n(i) not negative\n(ii) sum one\n", {"1.a.i": "(i) not negative (ii) sum one"}),
        ("## 1.a.ii\nUnder the condition in\n(iii) we have\n", {"1.a.ii": "Under the condition in (iii) we have"}),
        ("## 1.a.iii\n(iv) holds because\n", {"1.a.iii": "(iv) holds because"}),
        ("## 1.c.ii\ni.e. it sways\n\ne.g. thus\n", {"1.c.ii": "i.e. it sways e.g. thus"}),
        ("## 1.c.ii\nPart (d) shows more\n", {"1.c.ii": "Part (d) shows more"}),
        ("## 1.c.i\nd = 3 here\n\nc (say) is so\n", {"1.c.i": "d = 3 here c (say) is so"}),
        ("## 1.a.i\nI think so\n\nA weight is positive\n", {"1.a.i": "I think so A weight is positive"}),
        ("## 3.b.1\nfirst\n## 3.b.2\nsecond\n", {"3.b": "first second"}),
        ("## 1.c.ii\n2.5 is the spread\n\n1.5 too\n", {"1.c.ii": "2.5 is the spread 1.5 too"}),
    ],
)
def test_content_is_not_taken_for_a_label(sheet: str, want: dict[str, str]) -> None:
    assert texts(sheet) == want


@pytest.mark.parametrize(
    ("sheet", "said"),
    [
        ("x\n\n## 1.f\nfoo\n", "answers.md:3: '1.f' is no part of this assignment; did you mean '2.f'?"),
        ("## 1.c.iii\nfoo\n", "answers.md:1: '1.c.iii' is no part of this assignment; did you mean '1.c.ii'?"),
        ("## 1.a.i\n\n## 3.a\nx\n", "answers.md:1: 1.a.i is empty"),
        ("## 3.a\nx\n## 3.a\ny\n", "answers.md:3: 3.a was answered in line 1 already; this later answer counts"),
        ("## (a)\n### i\nx\n", "answers.md:1: '(a)' may mean 1.a or 3.a; it is taken for 1.a"),
        ("## 2.b.ii\nx\n", "answers.md:1: '2.b.ii' is taken for 1.b.ii"),
        ("## 1.b\n\n$M=1$, $q=2$\n", "answers.md:1: what stands under 1.b is taken for 1.b.i and 1.b.ii"),
        ("## 1.b\n\n$M=1$\n\nii. x\n", "answers.md:1: what stands under 1.b is taken for 1.b.i"),
        ("word " * 30 + "\n\n## 3.a\nx\n", "answers.md:1: the text before the first part belongs to no part"),
        ("some words\n", "answers.md:1: no heading names a part; write one above each answer, such as '## 1.a.i'"),
    ],
)
def test_what_could_not_be_placed_is_said_with_its_line(sheet: str, said: str) -> None:
    assert any(note.startswith(said) for note in notes(sheet)), notes(sheet)


def test_an_unknown_part_far_from_all_lists_the_parts() -> None:
    (note,) = [note for note in notes("## 9.z\nx\n## 3.a\ny\n") if "no part" in note]
    assert all(part in note for part in NLP)


def test_name_and_date_above_the_first_part_need_no_note() -> None:
    assert notes("Homework\n\nA. Student\n\n1 May\n\n## 3.a\nfacts\n") == ()


@pytest.mark.parametrize(
    ("sheet", "file", "line"),
    [
        ("## 3.a\nfirst\n## 3.b\nx\n## 3.a\nlast\n", "answers.md", 5),
        ("\\section*{3.a}\nfirst\n\\section*{3.b}\nx\n\\section*{3.a}\nlast\n", "answers.tex", 5),
        ("3.a: first\n3.b: x\n3: {a: last}\n", "answers.yaml", 3),
    ],
)
def test_of_two_answers_the_later_counts_and_both_lines_are_said(sheet: str, file: str, line: int) -> None:
    assert texts(sheet, file) == {"3.a": "last", "3.b": "x"}
    assert cut_into_parts(sheet, file, NLP).parts["3.a"].line == line
    assert notes(sheet, file) == (f"{file}:{line}: 3.a was answered in line 1 already; this later answer counts",)


def test_an_answer_that_is_there_twice_alike_or_goes_on_needs_no_note() -> None:
    alike = "## 3.a\nfacts\n## 3.b\nx\n## 3.a\nfacts\n"
    going_on = "## 3.a\nfacts\n## 3.b\nx\n## 3.a (continued)\nand more\n"
    assert (texts(alike)["3.a"], notes(alike)) == ("facts", ())
    assert (texts(going_on), notes(going_on)) == ({"3.a": "facts and more", "3.b": "x"}, ())


def test_of_two_answers_an_empty_one_never_counts() -> None:
    sheet = "## 3.a\nfacts\n## 3.a\n\n## 3.b\nreasons\n"
    assert texts(sheet) == {"3.a": "facts", "3.b": "reasons"}
    assert notes(sheet) == ()


def test_empty_parts_are_absent() -> None:
    assert cut_into_parts("## 3.a\n\nSolution.\n\n## 3.b\nx\n", "answers.md", NLP).parts.keys() == {"3.b"}


def test_pasted_questions_are_left_out_and_said() -> None:
    sheet = (
        "Problem (a.i)\n\nExplain why the weights form a distribution.\n\nSolution. They sum to one.\n\n"
        "ii. (2 points) Describe in one sentence when a single weight is nearly one.\n\nOne key fits.\n"
    )
    assert texts(sheet) == {"1.a.i": "They sum to one.", "1.a.ii": "One key fits."}
    assert notes(sheet)[0].startswith("answers.md:3: this looks like the question's own words")


@pytest.mark.parametrize(
    "reasoning", ["The keys are orthonormal.", "What we need is a large scale, as you see.", "We show that it works."]
)
def test_reasoning_before_the_word_answer_is_kept(reasoning: str) -> None:
    sheet = f"## 1.b.ii\n\n{reasoning}\n\nAnswer: $q = t(k_a+k_b)$\n"
    assert texts(sheet)["1.b.ii"] == f"{reasoning} q = t(k_a+k_b)"


def test_an_answer_after_its_points_is_kept() -> None:
    sheet = "## b\n\nii. (4 points) We show how a large scale gives the average of the two values we want.\n"
    assert texts(sheet)["1.b.ii"].startswith("We show how a large scale")


def test_few_words_after_the_points_are_an_answer_and_more_the_question() -> None:
    sheet = "## b\n\nii. (4 points) {}\n\nThe keys.\n"
    short, long = "As you scale up, both of them tie.", "As you scale up, do both of them tie?"
    assert texts(sheet.format(short))["1.b.ii"] == f"{short} The keys."
    assert texts(sheet.format(long))["1.b.ii"] == "The keys."


def test_text_of_a_question_without_labels_is_read_for_each_of_its_parts() -> None:
    answers = cut_into_parts("## 1.b\n\n$M = AA^T$, $q = 9(k_a + k_b)$\n\n## 1.c\n\nii. flips\n", "answers.md", NLP)
    assert answers.parts["1.b.i"].pieces == answers.parts["1.b.ii"].pieces
    assert "1.c.i" not in answers.parts


def test_text_far_above_the_parts_is_only_noted() -> None:
    answers = cut_into_parts("# 1\n\n$M = AA^T$ and more, but of what?\n", "answers.md", NLP)
    assert answers.parts == {}
    assert any("under none of its parts" in note for note in answers.notes)
