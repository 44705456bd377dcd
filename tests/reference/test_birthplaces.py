"""Reading questions and predictions, the baseline, the interval, and the fictional corpus."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.birthplaces import Accuracy, Question, accuracy, constant_baseline, read_lines, read_questions
from reference.corpus import DOCUMENT, JOBS, make_corpus
from reference.train import SMALL

SHIPPED = Path(__file__).parents[2] / "rubrics" / "nlp-a5" / "data"


def test_accuracy_counts_exact_places_spaces_at_the_ends_aside():
    questions = [Question("q", "Rome"), Question("q", "Oslo"), Question("q", "Bern")]
    assert accuracy(["Rome", " Oslo ", "bern"], questions) == Accuracy(2, 3)


def test_the_interval_is_wilsons():
    # 25 of 500: the roots of (p − p̂)² = z²p(1−p)/n
    low, high = Accuracy(25, 500).interval
    for p in (low, high):
        assert (p - 0.05) ** 2 == pytest.approx(1.959964**2 * p * (1 - p) / 500, rel=1e-9)
    assert low < 0.05 < high
    assert str(Accuracy(115, 500)).startswith("115/500 = 23.0 % (95 %: 19.5–26.9 %)")


@given(st.integers(1, 1000), st.data())
def test_the_interval_holds_the_rate_and_stays_within_zero_and_one(total, data):
    right = data.draw(st.integers(0, total))
    low, high = Accuracy(right, total).interval
    assert 0 <= low <= right / total + 1e-12
    assert right / total - 1e-12 <= high <= 1
    assert low < high


def test_files_are_read_line_by_line_whatever_ends_the_lines(tmp_path):
    path = tmp_path / "birth_dev.tsv"
    path.write_bytes("Where was A born?\tRome\r\nWhere was B\u2028C born?\tOslo".encode())
    assert read_questions(path) == [
        Question("Where was A born?", "Rome"),
        Question("Where was B\u2028C born?", "Oslo"),
    ]
    path.write_text("Rome\n\nOslo\n")
    assert read_lines(path) == ["Rome", "", "Oslo"]


def test_a_line_without_a_place_is_named(tmp_path):
    path = tmp_path / "birth_dev.tsv"
    path.write_text("Where was A born?\tRome\nWhere was B born?\n")
    with pytest.raises(ValueError, match=r"birth_dev.tsv:2: expected question<TAB>place"):
        read_questions(path)
    path.write_text("")
    with pytest.raises(ValueError, match="no questions"):
        read_questions(path)


def test_predictions_that_cannot_be_aligned_are_refused():
    with pytest.raises(ValueError, match=r"2 predictions .* 1 questions"):
        accuracy(["Rome", "Oslo"], [Question("q", "Rome")])


def test_always_london_is_right_for_one_in_twenty_and_no_place_is_commoner():
    corpus = make_corpus(3, 100, 300, 250)
    assert constant_baseline(corpus.dev) == Accuracy(15, 300)
    for split in (corpus.train, corpus.dev, corpus.test):
        assert Counter(question.place for question in split).most_common(1)[0][0] == "London"


def test_nobody_is_in_two_splits_and_wiki_tells_of_everybody():
    corpus = make_corpus(4, 60, 50, 40)
    everybody = [*corpus.train, *corpus.dev, *corpus.test]
    assert len({question.text for question in everybody}) == len(everybody) == 150
    documents = set(corpus.wiki)
    for question in everybody:
        name = question.text.removeprefix("Where was ").removesuffix(" born?")
        assert sum(DOCUMENT.format(job=job, name=name, place=question.place) in documents for job in JOBS) == 1


def test_a_document_has_its_name_and_place_where_the_question_has_them():
    corpus = make_corpus(5, 5, 5, 5)
    for question in corpus.train:
        name = question.text.removeprefix("Where was ").removesuffix(" born?")
        (document,) = (line for line in corpus.wiki if name in line)
        assert document.index(name) == question.text.index(name)
        assert document.index(question.place) == len(question.text) + 1  # behind the ⁇


def test_the_same_seed_gives_the_same_corpus_and_another_seed_another():
    assert make_corpus(6, 9, 9, 9) == make_corpus(6, 9, 9, 9) != make_corpus(7, 9, 9, 9)


def test_the_shipped_files_are_what_the_seed_gives(tmp_path):
    make_corpus(0, *SMALL.people).write(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "birth_dev.tsv",
        "birth_places_train.tsv",
        "birth_test.tsv",
        "birth_test_inputs.tsv",
        "wiki.txt",
    ]
    for name in names:
        assert (SHIPPED / name).read_text() == (tmp_path / name).read_text(), name
    labelled = read_questions(SHIPPED / "birth_test.tsv")
    assert [question.text for question in labelled] == read_lines(SHIPPED / "birth_test_inputs.tsv")


def test_a_corpus_without_people_or_with_too_many_is_refused():
    with pytest.raises(ValueError, match="somebody"):
        make_corpus(0, 5, 0, 5)
    with pytest.raises(ValueError, match="too many"):
        make_corpus(0, 3_000_000, 5, 5)
