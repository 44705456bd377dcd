"""What stands beside the answers is none of them: mail, signatures, tables of points, and a template's prompts."""

from __future__ import annotations

import pytest

from grader.answers import cut_into_parts
from grader.answers.besides import without_besides
from tests.answers.sheets import DL, NLP, notes, texts
from tests.answers.styles import DL_ANSWERS, NLP_ANSWERS, plain
from tests.conftest import sampled

# How labels are written in a mail: {0} the question, {1} and {2} what follows, as far as there is something.
LABELS = [
    lambda steps: f"Q{steps[0]} " + " ".join(f"({step})" if n == 0 else f"{step})" for n, step in enumerate(steps[1:])),
    lambda steps: f"Q{'.'.join(steps)}:",
    lambda steps: f"Question {steps[0]}{''.join(f'({step})' for step in steps[1:-1])} {steps[-1]})",
    lambda steps: f"Ex. {steps[0]} {' '.join(f'({step})' for step in steps[1:])}",
    lambda steps: f"q{'.'.join(steps[:-1])} {steps[-1]})",
    lambda steps: f"{'.'.join(steps)})",
]  # fmt: skip
HEADS = [
    "From: A Student\nTo: The course\nSubject: my homework\nHello,\nthe upload fails, so here is what I have.\n",
    "Dear all,\n\nhere are my answers.\n\n",
    "",
]
TAILS = [
    "Thanks for your patience!\nA. Student\n> On Monday the course wrote:\n> > hand it in as a file\n",
    "\nBest regards,\nA. Student\nStudent number 12345\n",
    "-- \nA. Student\n\n-----Original Message-----\nFrom: The course\nPlease send 1.a.i and all others by mail.\n",
    "Cheers\n\nOn Tue, 3 Nov, The Course <course@school.edu> wrote:\n> 1.a.i is due on Friday\n> so be quick\n",
    "\n________________\nFrom: The course\nSent: Monday\nTo: students\nSubject: late work\n\n1.a.i is due.\n",
]


@pytest.mark.parametrize(("answers", "parts"), [(NLP_ANSWERS, NLP), (DL_ANSWERS, DL)], ids=["nlp", "dl"])
@pytest.mark.parametrize("label", sampled(range(len(LABELS)), 3))
@pytest.mark.parametrize("between", ["", "\n"], ids=["close", "spaced"])
def test_answers_in_a_mail_land_in_their_parts(
    label: int, answers: dict[str, str], parts: list[str], between: str
) -> None:
    written = [f"{LABELS[label](part.split('.'))} {answer}\n" for part, answer in answers.items()]
    for number, tail in enumerate(TAILS):
        mail = HEADS[number % len(HEADS)] + between.join(written) + tail
        found = {part: plain(text) for part, text in texts(mail, "mail.txt", parts).items()}
        assert found == {part: plain(text) for part, text in answers.items()}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        # Quotes that are not the end, or are all there is, may be the answers.
        ("> 1.a.i why?\n\n1.a.i one\n\n> 1.a.ii when?\n\n1.a.ii two\n", {"1.a.i": "one", "1.a.ii": "two"}),
        ("see below\n\nOn Friday I wrote:\n> 1.a.i one\n>\n> 1.a.ii two\n", {"1.a.i": "one", "1.a.ii": "two"}),
        ("## 1.a.i\n\n> one\n\n## 1.a.ii\n\n> two\n", {"1.a.i": "one", "1.a.ii": "two"}),
        # An answer that only begins like a signature.
        ("1.a.i one\n\n1.a.ii thanks to exp all are > 0\n", {"1.a.i": "one", "1.a.ii": "thanks to exp all are > 0"}),
        ("1.a.i one\n\n1.a.ii Best\nis the largest score\n", {"1.a.i": "one", "1.a.ii": "Best is the largest score"}),
    ],
)  # fmt: skip
def test_what_may_be_an_answer_stays(text: str, want: dict[str, str]) -> None:
    found = texts(text, "mail.txt")
    assert {part: said.removesuffix("when?").strip() for part, said in found.items()} == want


@pytest.mark.parametrize(("lines", "words", "is_one"), [(6, 8, True), (7, 8, False), (6, 9, False), (1, 2, True)])
def test_a_signature_has_few_lines_of_few_words(lines: int, words: int, is_one: bool) -> None:
    text, _ = without_besides("1.a.i one\nCheers,\n" + "\n".join([" ".join(["name"] * words)] * lines))
    assert ("Cheers" not in text) == is_one


def test_a_quoted_mail_is_said_not_to_be_read() -> None:
    sheet = "1.a.i one\n1.a.ii two\n> The course wrote:\n> 1.b.i is hard\n"
    assert "mail.txt:3: what is quoted from another mail was not read" in notes(sheet, "mail.txt")


TO_DO = """| part | | points | hand in |
|---|---|---|---|
| 1.a.i | A = I | 1 | answers.md |
| 1.a.ii | One score is large | 1 | answers.md |
"""


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (TO_DO, {}),
        (TO_DO.replace("hand in", "status").replace("answers.md", "done"), {}),
        (TO_DO.replace(" | |", " | Title |").replace("points", "Max. points"), {}),
        (TO_DO.replace(" | |", " | File |").replace("| points | hand in |", "| who | when |"), {}),
        (TO_DO.replace("|---|---|---|---|", "|:--|--:|---|:-:|") + "\n## 3.a\n\nfacts\n", {"3.a": "facts"}),
        (TO_DO.replace("hand in", "my answer"), {"1.a.i": "A = I | 1 | answers.md |",
                                                  "1.a.ii": "One score is large | 1 | answers.md |"}),
    ],
)  # fmt: skip
def test_a_table_of_what_there_is_to_do_answers_nothing(text: str, want: dict[str, str]) -> None:
    assert texts(text, "README.md") == want


@pytest.mark.parametrize(
    ("prompt", "answers"),
    [
        ("Your answer here", False),
        ("*Write your answer here.*", False),
        ("[Type your solution below]", False),
        ("TODO", True),  # a student's own word: a person sees it, and it earns nothing
        ("...", False),
        ("**Answer:** your answer goes here", False),
        ("(Please insert your response in two sentences)", False),
        ("Your answer here is that they add up to one", True),
        ("The answer here follows from the softmax", True),
        ("to do so the keys have to be orthogonal", True),
        ("$v_j$", True),
    ],
)
@pytest.mark.parametrize("file", ["answers.md", "main.tex"])
def test_a_prompt_answers_nothing(prompt: str, answers: bool, file: str) -> None:
    heading = "## 1.a.i" if file.endswith("md") else "\\section*{1.a.i}"
    prompt = prompt if file.endswith("md") else prompt.replace("*", "")
    found = cut_into_parts(f"{heading}\n\n{prompt}\n", file, NLP)
    assert bool(found.parts) == answers
