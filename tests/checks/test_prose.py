"""Which words count as saying an idea, what that earns, and that no answer can hurt or fool the check unseen."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.prose_accuracy import BANDED, GROUPS, RUBRICS, answers_of, checks_of, decisions, graded
from grader.checks.prose import gives_the_ideas
from grader.errors import Missing, RubricError
from grader.model import Answer, Check, Outcome, Piece, Status
from grader.prose import Claim, Idea, judge
from grader.rubric.loading import load_rubric
from tests.conftest import examples, sampled

SAID = [
    ("sum|add 1", "In the end they must be summing, all of them, to one."),
    ("sum|add 1", "Adding the weights we get 1.0"),
    ("normalized", "The weights are normalised."),
    ("color", "Its colours"),
    ("orthogonal", "The keys are orthoganal."),
    ("covariance", "The covarience is small."),
    ('"Σ α ≈ 1"', r"$\sum_{i=1}^{n} \alpha_i = 1$"),
    ('"Σ α ≈ 1"', "Σαᵢ = 1"),
    ('"Σ α ≈ 1"', "∑_j alpha_j == 1"),
    ('"c ≈ v_j"', r"\(c \approx v_{j}\)"),
    ('"c ≈ v_j"', "c -> vj"),
    ('"k_j q ≫ k_i q"', r"$\mathbf{k}_j^\top q \gg \mathbf{k}_i^{\top} q$"),
    ('"k_j q ≫ k_i q"', "kⱼᵀq >> kᵢᵀq"),
    ('"1/2 v_a + v_b"', r"$\frac{1}{2}(v_a + v_b)$"),
    ('"1/2 v_a + v_b"', "½(vₐ+v_b)"),
    ('"1 / √ d"', r"$\frac{1}{\sqrt{d_k}}$"),
    ('"a a ≈ i"', r"$A^\top A = I$"),
    ('"c ≈ .. v_j"', "c = 1·v_j + 0"),
    ("one-hot", "a one-hot vector"),
    ("vari*", "It varies; the variance is high."),
    ("expon*", "The exponentials decide."),
    ("distribution", "It is a distirbution over keys."),
    ("stable", "It is not only stable but also fast."),
    ("stable", "No matter what γ is, it is stable."),
    ("stable", "It never fails to be stable."),
    ("stable", "The keys do not matter, so it is stable."),
    ("stable", "It is not noisy, stable it is."),
    ("!stable", "It does not stay stable."),
    ("!stable", "It isn’t stable."),
    ("!stable", "The result can hardly be called stable."),
    ("!decoder", "It works without a decoder."),
    ("@large gap", "There is a huge gap."),
    ('"sum .. 1"', "They sum up for each and every query 1."),  # six words between them
]

NOT_SAID = [
    ("sum|add 1", "They sum to n. One of them is large."),
    ("stable", "It does not stay stable."),
    ("stable", "It fails to be stable."),
    ("stable", "It is noisy rather than stable."),
    ("!stable", "It is not only stable but also fast."),
    ("!stable", "It does not matter, it is stable."),
    ("positive", "Add the position."),
    ("stable", "It is unstable."),
    ('"c ≈ v_j"', r"$c \approx k_j$"),
    ('"c ≈ v_j"', r"$c \neq v_j$"),
    ('"v_j"', "v_i"),
    ("one-hot", "one is hot"),
    ("mean mean", "the mean"),
    ("sample", "This is simple."),
    ('"sum .. 1"', "They sum up for each and every single query 1."),
]


def _idea(*says: str, **more: Any) -> Idea:
    return Idea(**{"id": "it", "label": "what it is about", "says": list(says), **more})


def _pieces(text: str) -> tuple[Piece, ...]:
    return (Piece("prose", text, 3),)


def _found(phrasing: str, text: str) -> bool:
    return bool(judge(_pieces(text), [_idea(phrasing)]).found)


@pytest.mark.parametrize(("phrasing", "text"), SAID)
def test_a_phrasing_is_found_in_whatever_way_it_is_written(phrasing: str, text: str) -> None:
    assert _found(phrasing, text)


@pytest.mark.parametrize(("phrasing", "text"), NOT_SAID)
def test_what_is_denied_or_something_else_does_not_count(phrasing: str, text: str) -> None:
    assert not _found(phrasing, text)


def test_mathematics_in_a_piece_of_its_own_belongs_to_its_sentence() -> None:
    pieces = (Piece("prose", "The weights", 1), Piece("math", r"\alpha_i", 1), Piece("prose", "are nonnegative.", 1))
    assert judge(pieces, [_idea("α nonnegative")]).found == {"it": "α_i are nonnegative"}


def test_marks_of_alignment_in_a_formula_are_blanks() -> None:
    assert judge((Piece("math", r"c &\approx v_j \\ d &= 1", 1),), [_idea('"c ≈ v_j"')]).found


def test_the_narrowest_place_is_quoted() -> None:
    text = "The sum of these weights, taken over all keys, is 1; hence weights sum to 1."
    assert judge(_pieces(text.replace(";", ",")), [_idea("sum 1")]).found == {"it": "sum to 1"}


def test_a_wider_place_further_on_is_not_quoted_instead() -> None:
    text = "For every query and for all of its keys the weights sum to 1, and the sum over all of these is 1."
    assert judge(_pieces(text), [_idea("sum 1")]).found == {"it": "sum to 1"}


def test_a_wrong_turn_in_the_same_sentence_takes_the_idea_back() -> None:
    idea = _idea("variance small", unless=["independent"])
    assert judge(_pieces("The variance is small."), [idea]).found
    assert not judge(_pieces("The variance is small because the heads are independent."), [idea]).found


def test_an_idea_may_have_to_be_said_more_than_once() -> None:
    idea = _idea("example", times=2)
    assert not judge(_pieces("An example, and in it an example."), [idea]).found
    assert judge(_pieces("First an example. Then another example."), [idea]).found


@dataclass
class Sheet:
    """A student of whom only the answer counts."""

    answer: Answer


IDEAS = [_idea("sum|add 1", id="sums"), _idea("positive|nonnegative", id="sign", weight=3)]
PROMPT = "Why may the weights α be read as the probabilities of a categorical distribution?"


def _judged(text: str, **parameters: Any) -> Outcome:
    student: Any = Sheet(Answer("1.a.i", "answers.md", 3, _pieces(text)))
    return gives_the_ideas(student, np.random.default_rng(0), **{"ideas": IDEAS, **parameters})


def test_points_are_the_share_of_weight_and_provisional() -> None:
    outcome = _judged("They sum to one.")
    assert (outcome.status, outcome.score) == (Status.REVIEW, Fraction(1, 4))
    assert (outcome.message, outcome.code) == ("found 1 of 2 ideas", "ideas_missing")
    assert "“sum to one”" in outcome.detail
    assert outcome.revealing["not_found"] == ["what it is about"]


def test_a_rubric_may_take_the_score_as_it_is() -> None:
    texts = {
        "They sum to one and are positive.": Status.PASSED,
        "They sum to one.": Status.PARTIAL,
        "No.": Status.FAILED,
    }
    assert {text: _judged(text, review=False).status for text in texts} == texts


def test_some_of_many_ideas_can_be_enough() -> None:
    ideas = [_idea(word, id=word) for word in ("trust", "law", "harm")]
    assert _judged("It is a matter of trust and of law.", ideas=ideas, need=2).score == 1
    assert _judged("It is a matter of trust and, again, of trust.", ideas=ideas, need=2).score == Fraction(1, 2)


def test_a_wrong_claim_caps_the_score_and_is_shown() -> None:
    wrong = [Claim(id="n", label="that the total is n", says=["total n"], at_most=0.1)]
    outcome = _judged("They are positive, sum to one, and in total give n.", wrong=wrong)
    assert outcome.score == Fraction(1, 10)
    assert "looks wrong: that the total is n" in outcome.detail


def test_an_idea_does_not_count_beside_its_contrary() -> None:
    wrong = [Claim(id="n", label="what the total is", says=["total n"], against=["sums"])]
    outcome = _judged("They are positive and sum to one. The total is n.", wrong=wrong)
    assert outcome.score == Fraction(3, 4)
    assert outcome.revealing["found"].keys() == {"sign"}
    assert "looks wrong: what the total is" in outcome.detail


def test_an_effect_is_shown_and_not_asked_for_again() -> None:
    ideas = [_idea(word, id=word, label=f"of {word}") for word in ("trust", "law", "harm")]
    outcome = _judged("It does harm, so there is a law.", ideas=ideas, need=2)
    assert outcome.score == Fraction(1, 2)
    assert "a cause or an effect of it: of harm; not found: of trust" in outcome.detail
    assert _judged("It does harm, so there is a law.", ideas=ideas, need=2, distinct=False).score == 1


FORMULAS = [
    r"$\alpha_i = \frac{\exp(x_i)}{\sum_j \exp(x_j)}$, $\exp \log \max \min \exp \log \max \min \exp \log \max \min x$",
    "LayerNorm(x + Sublayer(x)) ; FFN(x) = max(0, xW1 + b1)W2 + b2 ; MultiHead = Concat(head1, head2) WO ; dm = dk",
    "Var(kaq) = beta ; softmax(kaq, kbq) = sigma(delta) ; cov(ca, cb) = zero ; kaq = kbq ; qka = qkb ; mua = mub",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_in_no_language(text: str) -> None:
    assert _judged(text, ideas=[_idea("zebra")]).message == "found 0 of 1 idea"


def test_what_is_only_asked_is_neither_an_idea_nor_a_claim() -> None:
    wrong = [Claim(id="n", label="what the total is", says=["total n"], at_most=0)]
    assert _judged("Why is the total (of all) not n? They sum to one.", wrong=wrong).score == Fraction(1, 4)
    assert _judged("Do they sum to one? They are positive.").score == Fraction(3, 4)
    assert _judged("They sum to one, I think?").score == Fraction(1, 4)


def test_numbers_in_words_are_the_questions_words_too() -> None:
    prompt = "When is it a copy of one value vector?"
    assert not judge(_pieces("It is a copy of one value vector, then."), [_idea("copy one")], prompt=prompt).found


@pytest.mark.parametrize("group", sampled(BANDED, 4))
@pytest.mark.parametrize("rubric", RUBRICS)
def test_nine_of_ten_answers_earn_what_a_fair_reader_gives(group: str, rubric: str) -> None:
    places = [one.place for one in graded(group, rubric)]
    assert places.count("in band") >= 0.9 * len(places)


@pytest.mark.parametrize("text", ["", "  \n ", "...", "—", "$$ $$"])
def test_an_empty_answer_is_missing(text: str) -> None:
    with pytest.raises(Missing, match=r"answers.md:3: ") as caught:
        _judged(text)
    assert caught.value.code == "answer_empty"


@pytest.mark.parametrize("text", [PROMPT, f"> {PROMPT.upper()}\n\n{PROMPT}", f"Question: {PROMPT}"])
def test_the_question_pasted_back_earns_nothing_without_review(text: str) -> None:
    outcome = _judged(text, ideas=[_idea("probability distribution")], prompt=PROMPT)
    assert (outcome.status, outcome.score, outcome.code) == (Status.FAILED, 0, "repeats_the_question")


def test_what_is_written_below_a_pasted_question_counts() -> None:
    assert _judged(f"{PROMPT}\n\nα > 0", ideas=[_idea('"α ≥ 0"')], prompt=PROMPT).score == 1
    assert _judged(f"{PROMPT}\nThey sum to one and are positive.", prompt=PROMPT).score == 1


def test_a_pasted_question_is_left_out_to_its_last_word() -> None:
    prompt = "Explain why weights stay positive"
    assert judge(_pieces(prompt), [_idea("positive")], prompt=prompt).copied
    below = judge(_pieces(f"{prompt}? Exponentials never vanish."), [_idea("positive")], prompt=prompt)
    assert (below.copied, below.found) == (False, {})


def test_a_pasted_question_is_left_out_from_its_first_word_on() -> None:
    question = "Explain why a positive temperature keeps the largest entry ahead of others."
    judged = judge(
        _pieces(f"{question} Dividing preserves order, monotone maps do."), [_idea("positive")], prompt=question
    )
    assert not judged.found


def test_off_topic_is_for_a_person_and_earns_nothing_yet() -> None:
    outcome = _judged("My favourite architecture is a ResNet, because of its skip connections.")
    assert (outcome.status, outcome.score) == (Status.REVIEW, 0)


def test_a_list_of_key_words_is_pointed_out_and_earns_nothing_unread() -> None:
    stuffed = (
        "sum one positive nonnegative softmax normalised exponential weights query key value probability categorical"
    )
    for review in (True, False):
        outcome = _judged(stuffed, review=review)
        assert (outcome.status, outcome.score, outcome.code) == (Status.REVIEW, 0, "suspicious_text")


@pytest.mark.parametrize(
    "text",
    [
        "Wagi są nieujemne oraz sumują się do jedynki, więc tworzą rozkład prawdopodobieństwa nad kluczami zapytania.",
        "注意力权重都是非负的，并且它们的和等于一，所以它是一个概率分布。",
    ],
)
def test_another_language_is_pointed_out(text: str) -> None:
    outcome = _judged(text)
    assert (outcome.status, outcome.score, outcome.code) == (Status.REVIEW, 0, "ideas_missing")
    assert "not seem to be in English" in outcome.message


def test_invisible_characters_neither_hide_words_nor_reach_the_report() -> None:
    outcome = _judged("They su\u200bm to \u202eone and are positive.")
    assert outcome.score == 1
    assert "invisible" in outcome.message
    assert not set(outcome.message + outcome.detail) & {"\u200b", "\u202e"}


def test_a_hidden_check_says_nothing_of_the_student_or_the_answer() -> None:
    wrong = [Claim(id="n", label="that the total is n", says=["total n"])]
    outcome = _judged("They zigzag, sum to one, and in total give n.", wrong=wrong)
    shown = f"{outcome.message} {dict(outcome.evidence)}"
    assert not any(word in shown for word in ("zigzag", "sum", "total", "what it is about"))


HOSTILE = {
    "a megabyte": "They sum to one. " * 60_000,
    "one sentence": "α k_j q ≫ sum one " * 3_000,
    "open brackets": r"\(" * 10_000,
    "open fractions": r"\frac{" * 4_000,
    "open dollars": "$" * 19_999,
    "spaces after a caret": "^" + " " * 19_998 + "x",
    "new lines": "\n \n" * 7_000,
    "subscripts": "x_" * 10_000,
    "sums": "Σ_{i}" * 4_000,
    "one word": "a" * 20_000,
    "many words": " ".join(f"orthogon{n}al" for n in range(2_000)),
    "letters that unfold": "\ufdfa" * 20_000,
    "denials": "not " * 5_000,
}


@pytest.mark.parametrize("text", sampled(HOSTILE.values(), 4), ids=list(HOSTILE))
def test_no_answer_takes_long(text: str) -> None:
    (check,) = checks_of("nlp-a5")["1.c.ii"]
    began = time.process_time()
    judge(_pieces(text), check.parameters["ideas"], check.parameters["wrong"], check.parameters["prompt"])
    assert time.process_time() - began < 3  # seconds; the slowest takes a tenth of one


SCRAPS = (r"\frac{", "}", "$", "^", "_", "'", "not", "α", "k_j", "≫", "½", "-", "|", ";", "sum", "one")


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(st.text() | st.lists(st.sampled_from([*SCRAPS, "\n"])).map(" ".join))
def test_any_text_can_be_read(text: str) -> None:
    judged = judge(_pieces(text), IDEAS, prompt=PROMPT)
    assert judged.found.keys() <= {"sums", "sign"}


def _rubric(folder: Path, checks: dict[str, list[dict[str, Any]]]) -> Path:
    problems = [
        {"id": part, "title": part, "points": str(sum(Fraction(str(c["points"])) for c in used)), "checks": used}
        for part, used in checks.items()
    ]
    total = sum(Fraction(problem["points"]) for problem in problems)
    path = folder / "prose.yaml"
    written = {"rubric": "prose", "title": "Prose", "points": str(total), "problems": problems}
    path.write_text(json.dumps(written, ensure_ascii=False))  # JSON is YAML
    return path


@pytest.mark.parametrize("rubric", RUBRICS)
def test_the_ideas_of_an_assignment_are_the_same_written_out_in_its_rubric(rubric: str, tmp_path: Path) -> None:
    checks = checks_of(rubric)
    out = {part: [{"id": one.id, **_written_out(one)} for one in several] for part, several in checks.items()}
    loaded = load_rubric(_rubric(tmp_path, out))
    assert {one.id: [check.parameters for check in one.checks] for one in loaded.problems} == {
        part: [check.parameters for check in several] for part, several in checks.items()
    }


def _written_out(check: Check) -> dict[str, Any]:
    lists = {name: check.parameters[name] for name in ("ideas", "wrong") if name in check.parameters}
    dumped = {name: [_plain(one.model_dump()) for one in several] for name, several in lists.items()}
    return {"check": "gives_the_ideas", "points": str(check.points), **check.parameters, **dumped}


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in item.items()}


@pytest.mark.parametrize(
    ("phrasing", "complaint"),
    [
        ("@huge gap", "names the group @huge, which the thesaurus does not have"),
        ('"Σ α', "has a quotation mark without its partner"),
        ("sum||add", "has an alternative that is empty"),
        ("one-", "has a hyphen without a word on both sides"),
        ("(one two", "has a bracket without its partner"),
        ("  ", "a phrasing is empty"),
    ],
)
def test_a_slip_in_a_phrasing_stops_when_the_rubric_is_read(phrasing: str, complaint: str, tmp_path: Path) -> None:
    idea = {"id": "it", "label": "it", "says": [phrasing]}
    with pytest.raises(RubricError) as caught:
        load_rubric(_rubric(tmp_path, {"1": [{"check": "gives_the_ideas", "points": 1, "ideas": [idea]}]}))
    assert complaint in str(caught.value)


@pytest.mark.parametrize("group", sampled(GROUPS, 4))
@pytest.mark.parametrize("rubric", RUBRICS)
def test_nine_of_ten_ideas_are_judged_as_a_reader_would(group: str, rubric: str) -> None:
    made = list(decisions(group, rubric))
    assert sum(decision.verdict == "right" for decision in made) >= 0.9 * len(made)


@pytest.mark.parametrize(("rubric", "at_least"), [("nlp-a5", 90), ("dl-hw3", 70)])
def test_the_answers_tried_are_many_and_every_idea_is_both_given_and_missed(rubric: str, at_least: int) -> None:
    answers = [answer for group in GROUPS for answer in answers_of(group, rubric)]
    assert len(answers) >= at_least
    for part, checks in checks_of(rubric).items():
        here = [set(answer["ideas"]) for answer in answers if str(answer["part"]) == part]
        for idea in (idea.id for check in checks for idea in check.parameters["ideas"]):
            assert {idea in given for given in here} == {True, False}, f"{part} {idea}"


@pytest.mark.parametrize("rubric", RUBRICS)
def test_empty_and_copied_answers_are_told_from_others(rubric: str) -> None:
    checks = checks_of(rubric)
    for answer in (answer for group in GROUPS for answer in answers_of(group, rubric)):
        for check in checks[str(answer["part"])]:
            judged = judge(_pieces(answer["text"]), [], prompt=check.parameters["prompt"])
            kind = "empty" if judged.empty else "copied" if judged.copied else None
            assert kind == answer.get("kind"), answer["text"]
