"""Generators whose seed was hashed before: the same numbers as ever, and none shared."""

from __future__ import annotations

import pickle

import numpy as np

from grader import known_streams
from grader.known_streams import generator

SEEDS = (0, 1, 2**32, 5107490589071138803, 2**63 - 1)


def test_they_draw_what_generators_of_numpy_draw() -> None:
    for seed in (*SEEDS, *SEEDS):  # the second time from what was kept
        ours, numpys = generator(seed), np.random.default_rng(seed)
        assert ours.bit_generator.state == numpys.bit_generator.state
        assert ours.normal(size=5).tolist() == numpys.normal(size=5).tolist()


def test_nobody_gets_one_that_another_has_drawn_from() -> None:
    first = generator(7)
    drawn = first.integers(2**60, size=3).tolist()
    assert generator(7).integers(2**60, size=3).tolist() == drawn
    assert first.integers(2**60, size=3).tolist() != drawn


def test_their_children_are_those_of_numpys_in_order() -> None:
    ours, numpys = generator(7), np.random.default_rng(7)
    for _ in range(2):  # who asks twice gets others the second time
        assert [one.random() for one in ours.spawn(2)] == [one.random() for one in numpys.spawn(2)]
    assert generator(7).spawn(1)[0].random() == np.random.default_rng(7).spawn(1)[0].random()


def test_they_can_be_sent_to_another_process() -> None:
    ours = generator(7)
    ours.random()
    assert pickle.loads(pickle.dumps(ours)).random() == ours.random()


def test_what_is_kept_is_bounded_and_nobody_can_change_it() -> None:
    for seed in range(known_streams._KEPT + 10):
        generator(seed)
    assert known_streams._beginning.cache_info().currsize == known_streams._KEPT
    assert not known_streams._beginning(7).flags.writeable
