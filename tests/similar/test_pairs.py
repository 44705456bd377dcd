"""Who is pointed to, and who is not."""

from __future__ import annotations

import itertools
import random

import numpy as np

from grader.model import Answer, Piece
from grader.notation.word_lists import words
from grader.similar.hand_ins import CODE, PREDICTIONS, PROSE
from grader.similar.material import Material
from grader.similar.normalised_tokens import code_material
from grader.similar.pairs import Findings, find_pairs
from grader.similar.prose_shingles import prose_material
from grader.similar.shared_by_class import index_of
from grader.similar.winnowing import Grain

NOTHING, _ = code_material({})
VERBS = sorted(words("add cut draw fold glue hold keep lift mark move pack pull push roll send sort tear turn wash"))


def program(seed: int, statements: int = 40) -> str:
    rng = random.Random(seed)
    return "\n".join(
        f"x{rng.randrange(9)} = a.{rng.choice(VERBS)}(b, c.{rng.choice(VERBS)})" for _ in range(statements)
    )


def found(*programs: str, share: float = 0.1) -> Findings:
    works = [{CODE: code_material({"a.py": one})[0], PROSE: NOTHING, PREDICTIONS: NOTHING} for one in programs]
    return find_pairs(works, most=10, share=share)


def said(*answers: str, part: str = "1.a") -> list[dict[str, Material]]:
    pieces = ([Piece("prose", one, 3), Piece("math", "q = k", 3)] for one in answers)
    prose = (prose_material([Answer(part, "answers.md", 3, tuple(those))]) for those in pieces)
    return [{CODE: NOTHING, PROSE: one, PREDICTIONS: NOTHING} for one in prose]


def test_a_pair_that_shares_a_passage_is_pointed_to_with_its_lines() -> None:
    copied = program(100, 12)
    mine, theirs = f"{program(1)}\n{copied}", f"{copied}\n{program(2)}"
    findings = found(*map(program, range(3, 30)), mine, theirs)
    first = findings.pointers[0]
    assert first.pair == (27, 28)
    passage = max(first.shared[0].passages, key=lambda one: one.tokens)
    assert abs(passage.my_lines[0] - 41) <= 1
    assert abs(passage.my_lines[1] - 52) <= 1
    assert abs(passage.their_lines[0] - 1) <= 1
    assert abs(passage.their_lines[1] - 12) <= 1


def test_what_many_have_is_left_out_and_named_apart() -> None:
    shared = program(100)
    findings = found(*(f"{shared}\n{program(seed)}" for seed in range(30)))
    assert not findings.pointers
    assert findings.left_out[CODE].fingerprints > 20
    findings = found(*[shared] * 7, *map(program, range(30)))
    assert [(one.place, one.holders) for one in findings.many] == [("a.py", tuple(range(7)))]
    assert not findings.pointers
    assert {one.pair for one in found(*[shared] * 3, *map(program, range(30))).pointers} == {(0, 1), (0, 2), (1, 2)}


def test_unrelated_and_empty_work_points_to_nobody() -> None:
    assert not found(*map(program, range(30)), "", "", "pass", "pass").pointers
    assert not found().pointers
    assert not found(program(1)).pointers


def test_a_class_of_two_that_is_one_work_is_seen() -> None:
    assert found(program(1), program(1).replace("x", "y")).pointers[0].shared[0].mine > 0.95


def test_prose_is_held_against_the_same_part_and_formulas_do_not_count() -> None:
    sentence = "because the heads look at one direction each the sum of both hardly moves when a key grows or shrinks"
    others = [" ".join(random.Random(seed).choices(VERBS, k=30)) for seed in range(20)]
    works = said(*others, f"I think that {sentence}.", f"As we know, {sentence}!")
    findings = find_pairs(works, most=10)
    assert [one.pair for one in findings.pointers] == [(20, 21)]
    assert findings.pointers[0].shared[0].tokens == len(sentence.split()) - 1  # `a` is a single letter
    elsewhere = said(f"As we know, {sentence}!", part="1.b")
    assert not find_pairs([*works[:21], *elsewhere], most=10).pointers
    assert not find_pairs(said("q = k", "q = k"), most=10).pointers


def test_the_index_counts_no_more_pairs_than_it_may_and_the_rarest_first() -> None:
    """Ten fingerprints with 1,500 holders each are eleven million pairs, as many as ten thousand students share."""
    everyone = [np.arange(10, dtype=np.uint64)] * 1_400 + [np.arange(10, 20, dtype=np.uint64)] * 1_500
    pair = [np.array([99], dtype=np.uint64)] * 2
    index = index_of([*everyone, *pair], share=0.6, most=3)
    assert index.limit < 1_400
    assert index.left_out == 20
    assert list(index.pairs) == [(2900, 2901)]


def test_equal_submissions_by_the_thousand_are_one_line_and_no_pairs() -> None:
    one = code_material({"a.py": program(1, statements=12)})[0]
    findings = find_pairs([{CODE: one, PROSE: NOTHING, PREDICTIONS: NOTHING}] * 1_000, most=50)
    assert not findings.pointers
    assert [len(many.holders) for many in findings.many] == [1_000]


def test_whatever_two_rows_share_over_the_threshold_gives_a_fingerprint() -> None:
    rng = np.random.default_rng(0)
    grain = Grain(length=5, window=4, least=5)
    for trial, length in itertools.product(range(20), (8, 12)):
        shared = rng.integers(1, 99, length).astype(np.uint32)
        rows = [
            np.concatenate([rng.integers(100, 999, size), shared, rng.integers(1000, 9999, 7)]).astype(np.uint32)
            for size in (trial, 3 * trial + 1)
        ]
        assert np.intersect1d(grain.fingerprints(rows[0])[0], grain.fingerprints(rows[1])[0]).size
