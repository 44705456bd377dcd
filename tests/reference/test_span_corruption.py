"""Span corruption: nothing is lost, and the random parts have the distribution the homework asks for."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.birthplaces import Question
from reference.datasets import BirthPlaceDataset, CharCorruptionDataset, cropped_batch
from reference.span_corruption import MASK_CHARACTER, PAD_CHARACTER, Vocabulary, corrupt, padded, reassemble
from tests.conftest import examples

documents = st.text(st.characters(exclude_characters=PAD_CHARACTER + MASK_CHARACTER + "\n"), max_size=200)


@given(documents, st.integers(16, 150), st.integers(0, 2**32))
@settings(max_examples=examples(300), deadline=None)
def test_the_pieces_are_the_documents_beginning_and_fit_the_block(document, block, seed):
    corruption = corrupt(document, block, np.random.default_rng(seed))
    assert document.startswith(corruption.document)
    assert min(4, len(document)) <= len(corruption.document) <= block * 7 // 8
    assert reassemble(padded(corruption.text, block)) == corruption


def draws(document: str, block: int, count: int) -> list:
    rng = np.random.default_rng(0)
    return [corrupt(document, block, rng) for _ in range(count)]


def test_every_length_from_four_to_seven_eighths_occurs_equally_often():
    counts = np.bincount([len(c.document) for c in draws("x" * 100, 32, 20_000)], minlength=30)
    assert (counts[:4] == 0).all()
    assert (counts[29:] == 0).all()
    expected = 20_000 / 25
    assert np.abs(counts[4:29] - expected).max() < 5 * np.sqrt(expected)


@pytest.mark.parametrize("length", [4, 5, 11, 28, 200])
def test_a_quarter_is_masked_on_average(length):
    shares = np.array([len(c.masked) - len(c.document) / 4 for c in draws("x" * length, 32, 10_000)])
    assert abs(shares.mean()) < 5 * shares.std() / np.sqrt(len(shares)) + 1e-12
    if length > 5:
        assert (shares > 0).any()
        assert (shares < 0).any()


def test_the_mask_may_begin_and_end_anywhere():
    found = {(len(c.prefix), len(c.suffix)) for c in draws("abcdefgh", 128, 20_000) if len(c.document) == 8}
    assert found == {(start, 8 - start - n) for n in (1, 2, 3) for start in range(8 - n + 1)}


@pytest.mark.parametrize("document", ["", "a", "ab", "abc"])
def test_short_and_empty_documents_are_kept_whole(document):
    masked = []
    for corruption in draws(document, 32, 4000):
        assert corruption.document == document
        masked.append(len(corruption.masked))
    assert abs(np.mean(masked) - len(document) / 4) < 5 * 0.5 / np.sqrt(4000)


def test_ids_are_pad_mask_then_the_sorted_characters():
    vocabulary = Vocabulary(["banana", "cab"])
    assert vocabulary.itos == {0: "□", 1: "⁇", 2: "a", 3: "b", 4: "c", 5: "n"}
    assert vocabulary.decode(vocabulary.encode("nab⁇□")) == "nab⁇□"
    assert {vocabulary.itos[i]: i for i in vocabulary.itos} == vocabulary.stoi


def test_items_are_long_tensors_shifted_by_one_and_reassemble():
    dataset = CharCorruptionDataset("the first document\nthe second one\n", 24)
    assert len(dataset) == 3
    for index, document in enumerate(("the first document", "the second one", "")):
        for _ in range(50):
            x, y = dataset[index]
            assert x.dtype == y.dtype == torch.long
            assert x.shape == y.shape == (23,)
            assert torch.equal(x[1:], y[:-1])
            text = dataset.vocabulary.decode([*x.tolist(), int(y[-1])])
            assert document.startswith(reassemble(text).document)


def test_items_differ_from_draw_to_draw_and_repeat_with_their_random_source():
    dataset = CharCorruptionDataset("a document that is long enough to be cut in many ways", 64)
    assert len({tuple(dataset[0][0].tolist()) for _ in range(20)}) > 10
    first, again = (dataset.corrupted(0, np.random.default_rng(5))[0] for _ in range(2))
    assert torch.equal(first, again)


def test_only_the_place_and_its_end_are_learnt_in_finetuning():
    question = Question("Where was Bo born?", "Rome")
    vocabulary = Vocabulary([question.text + question.place])
    x, y = BirthPlaceDataset([question], vocabulary, 32)[0]
    assert vocabulary.decode(x.tolist()).rstrip("□") == "Where was Bo born?⁇Rome⁇"
    learnt = y != 0
    assert vocabulary.decode(y[learnt].tolist()) == "Rome⁇"
    assert vocabulary.decode(x[learnt].tolist()) == "⁇Rome"


def test_a_batch_drops_common_padding_and_nothing_else():
    pairs = [
        (torch.tensor([3, 4, 0, 0]), torch.tensor([4, 0, 0, 0])),
        (torch.tensor([5, 0, 0, 0]), torch.zeros(4).long()),
    ]
    x, y = cropped_batch(pairs)
    assert x.tolist() == [[3, 4], [5, 0]]
    assert y.tolist() == [[4, 0], [0, 0]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: corrupt("abc", 15, np.random.default_rng(0)), "block of 15"),
        (lambda: Vocabulary(["a□"]), "□"),
        (lambda: Vocabulary(["ab"]).encode("abz"), "'z'"),
        (lambda: padded("abc", 2), "3 characters"),
        (lambda: reassemble("a⁇b"), "found 1"),
    ],
)
def test_bad_input_is_refused_with_what_is_wrong(call, words):
    with pytest.raises(ValueError, match=words):
        call()
