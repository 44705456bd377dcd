"""Inputs whose scores are extreme: what a mask hides of them is what would have counted most."""

from __future__ import annotations

import numpy as np

from grader.checks.functions.extreme_scores import EXTREMES


def test_a_mask_hides_the_key_that_each_query_but_the_first_scores_highest_in_the_first_head() -> None:
    seen = set()
    for extreme in EXTREMES["multi_head"](np.random.default_rng(0)):
        C, W_Q, W_K, *_, heads = extreme.case.args
        if not extreme.masked:
            assert not extreme.case.kwargs
            continue
        rows = len(W_Q) // heads
        queries, keys = (np.asarray(W[:rows], np.float64) @ C for W in (W_Q, W_K))
        mask = extreme.case.kwargs["mask"]
        assert mask[:, 0].all()
        for query in range(1, mask.shape[1]):
            hidden = np.flatnonzero(~mask[:, query])
            assert hidden.tolist() == [int(np.argmax(keys.T @ queries[:, query]))]
        seen.add((heads, rows))
    assert seen == {(2, 4), (3, 1), (1, 16), (1, 1)}
