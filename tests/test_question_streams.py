"""Generators that are set back begin as new ones do."""

from __future__ import annotations

import threading

import numpy as np

from grader.question_streams import begun_at

_MANY = 300  # more than are kept


def test_a_stream_that_is_asked_for_again_begins_as_a_new_one() -> None:
    wanted = np.random.default_rng(2**70 + 3).normal(size=5)
    for _ in range(3):
        assert np.array_equal(begun_at(2**70 + 3).normal(size=5), wanted)
    begun_at(2**70 + 3).integers(7, dtype=np.uint32)  # half of a number is left over
    assert np.array_equal(begun_at(2**70 + 3).integers(9, size=5), np.random.default_rng(2**70 + 3).integers(9, size=5))


def test_many_streams_and_each_is_its_own() -> None:
    for _ in range(2):
        for number in range(_MANY):
            assert begun_at(number).random() == np.random.default_rng(number).random()


def test_threads_do_not_draw_from_each_others_streams() -> None:
    here, there = begun_at(5), []
    thread = threading.Thread(target=lambda: there.append(begun_at(5)))
    thread.start()
    thread.join()
    assert there[0] is not here
