"""Where a sentence and a clause end, and what a short clause leaves out."""

from __future__ import annotations

import pytest

from grader.model import Piece
from grader.prose.clause_tokens import clauses_of
from grader.prose.phrasings import Reading, find
from grader.prose.plain_spelling import plain

SENTENCES = {
    "It is positive.The sum is n.": 2,  # no blank
    "It is positive (one each.) The sum is n.": 2,
    'He says "it is one." The sum is n.': 2,
    "The file wiki.txt has 3.5 million words, i.e. many.": 1,
    "Keys; values": 2,
}
SAID = [
    ("other !seen", "This one has seen the facts, while the other model hasn't."),
    ("other !knowledge", "Pretraining gave it knowledge; the other did not have this."),
    ("other !learned", "One learned where people are born and the other one never did."),
    ("other !read", "One model read the corpus. The other did not."),
    ("ViT !decoder", "The Transformer has a decoder, ViT doesn't."),
    ("layers !share", "The positions share its weights, the layers don't."),
    ("varied", "Before, the output hardly varied, here it does."),
    ("(vit learned)", "In ViT, they are learned."),
    ("(vit learned)", "In the other they are fixed and in ViT they are learned."),
    ("(β large)", "Let β (the scale) be large."),
    ('"q k_j"', "(q, k_j) is large"),
    ('"c ≈ .. v_j"', "c = 1 (v_j) + 0"),
    ('"c_2 ≈ x_2 = u_a"', "so c_2=x_2=u_a"),
    ('!"for .. set"', "It is for words; not for a set."),
]
NOT_SAID = [
    ("!seen", "This one has seen the facts, the other model has too."),
    ("ViT !decoder", "The Transformer has no encoder. ViT does."),
    ("(vit learned)", "ViT has sines, the other ones are learned."),
    ("(vit learned)", "ViT has sines while the other ones are learned."),
    ('"q k_j"', "We have k_i q, k_j q and so on."),
    ('"c ≈ .. v_j"', "c = Σ α_i v_i, where v_j is a value."),
    ("(long v_a) & (short v_b)", "Short gives v_b. Long gives v_a. Then nothing."),
    ("(short v_b) & (long v_a)", "Short gives v_b. I think so. Long gives v_a."),
]


@pytest.mark.parametrize("text", SENTENCES)
def test_sentences_end_where_readers_see_it(text: str) -> None:
    _, tokens = clauses_of(text)
    assert len({token.sentence for token in tokens}) == SENTENCES[text]


@pytest.mark.parametrize(("phrasing", "text"), SAID)
def test_a_clause_is_read_with_what_it_leaves_out(phrasing: str, text: str) -> None:
    assert find(phrasing, Reading(text))


@pytest.mark.parametrize(("phrasing", "text"), NOT_SAID)
def test_nothing_is_read_across_the_end_of_a_clause(phrasing: str, text: str) -> None:
    assert not find(phrasing, Reading(text))


def test_what_is_left_out_is_quoted_where_it_is_missing() -> None:
    reading = Reading("This one has seen the facts, the other hasn't.")
    (place,) = find("other !seen", reading)
    assert reading.quote(place) == "other hasn't"


def _sentences(*pieces: Piece, items: frozenset[int] = frozenset()) -> int:
    _, tokens = clauses_of(plain(pieces, 1000, items))
    return len({token.sentence for token in tokens})


def test_items_of_a_list_and_text_below_a_formula_begin_sentences() -> None:
    one, other = Piece("prose", "the sum", 3), Piece("prose", "is one", 4)
    assert _sentences(one, other) == 1
    assert _sentences(one, other, items=frozenset({3, 4})) == 2
    formula = Piece("math", "c = v_a", 3)
    assert _sentences(formula, Piece("prose", "The end", 5)) == 2
    assert _sentences(formula, Piece("prose", "where v_a is", 5)) == 1
    assert _sentences(formula, Piece("prose", "Here", 3)) == 1  # beside it
    assert _sentences(one, Piece("prose", "is one", 6)) == 2  # after an empty line
