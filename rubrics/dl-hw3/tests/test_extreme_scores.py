"""Inputs whose scores are extreme: what a mask hides of them is what would have counted most."""

from __future__ import annotations

import numpy as np
from rubric_dl_hw3.checks.multi_head_extremes import multi_head_extremes


def test_a_mask_hides_the_key_that_each_query_but_the_first_scores_highest_in_the_first_head() -> None:
    seen = set()
    for extreme in multi_head_extremes(np.random.default_rng(0)):
        C, W_Q, W_K, *_, heads = extreme.args
        if not extreme.masked:
            assert not extreme.kwargs
            continue
        rows = len(W_Q) // heads
        queries, keys = (np.asarray(W[:rows], np.float64) @ C for W in (W_Q, W_K))
        mask = extreme.kwargs["mask"]
        assert mask[:, 0].all()
        for query in range(1, mask.shape[1]):
            hidden = np.flatnonzero(~mask[:, query])
            assert hidden.tolist() == [int(np.argmax(keys.T @ queries[:, query]))]
        seen.add((heads, rows))
    assert seen == {(2, 4), (3, 1), (1, 16), (1, 1)}
