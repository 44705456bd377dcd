"""Right answers in a student's own words earn what a fair TA gives, and wrong ones with the same words do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.prose_accuracy import RUBRICS, Sheet, checks_of
from grader.answers import cut_into_parts
from grader.checks.prose import gives_the_ideas

RIGHT = [  # part, the share of its prose points that it earns at least, what was written
    ("1.a.ii", 0.8, "The product of q and k_j is large, and all other ones are smaller ($k_j^T q - k_i^T q > > 0$)."),
    ("1.c.ii", 0.8, "The length of k_a is another one in each draw: if it is long, c = v_a, if it is short, c = v_b."),
    ("1.d.ii", 0.75, "Head two returns v_b and head one v_a, so we get ½(v_a+v_b), and the swings of (c) are gone."),
    ("1.d.ii", 0.75, "c_1=v_b and c_2=v_a, so c = ½(v_a + v_b) in every draw."),
    (
        "1.e.i",
        0.8,
        "c_2=x_2=u_a. With u_d its own score is 2β². Even if it took x_1 we get u_d+u_b, u_b is not attainable.",
    ),
    ("3.a", 0.8, "The wiki text mentions where people were born. Untrained weights do not know anything."),
    ("3.a", 0.8, "Pretraining stores the facts about people. No pretraining = never saw them."),
    (
        "3.b",
        0.9,
        "Misinformation: a teacher puts the wrong city on a slide. Erosion of trust: a customer gets two bad answers.",
    ),
    (
        "1.1.d",
        0.8,
        "All scores are equal, so each weight is 1/m. Soft attention. FC layer: 1/m everywhere in the matrix.",
    ),
    (
        "1.2.b",
        0.75,
        "Several filters of one layer: every filter detects another pattern, each head looks for different features.",
    ),
    (
        "1.3.b",
        0.8,
        "Attention is permutation equivariant. One needs positions where order matters, but not for a bag of items.",
    ),
    ("1.4.a", 0.9, "LSTMs go step by step. Here nothing is recurrent, so the whole sentence is done in parallel."),
    ("1.4.b", 0.8, "Every word takes a weighted average over all words, so distant words are one step apart."),
    ("1.4.b", 0.8, "It computes a score for all pairs of words, hence long-range dependencies are easy."),
    ("1.4.c", 0.75, "h heads with own matrices, each in another subspace."),
    (
        "1.4.d",
        0.75,
        "W_2 ReLU(W_1x + b_1) + b_2 for every position separately, shared over positions but not over layers.",
    ),
    ("1.4.d", 0.75, "Linear, ReLU, linear, the same for all tokens; each block has its own."),
    (
        "1.5.c",
        0.9,
        "ViT uses learnable position vectors, one per patch. Old Transformer uses fixed sine and cosine functions.",
    ),
    ("1.5.d", 0.75, "The output of the class token goes through an MLP head."),
]
WRONG = [  # part, the share that it earns at most
    ("1.a.ii", 0.5, "When k_j q is small and lower than with the others."),
    ("1.c.ii", 0.25, "The length of k_a is random, but c stays at the average of v_a and v_b."),
    ("1.d.ii", 0.34, "Each head gives either v_a or v_b. With two tries the average ½(v_a+v_b) has less variance."),
    ("1.d.ii", 0.34, "Both heads return something between v_a and v_b, and the average is ½(v_a+v_b)."),
    ("1.e.i", 0.34, "c_2=u_a, and yes, adding u_d brings it to u_b."),
    ("1.1.b", 0.34, "β is a temperature: for a large β the weights are uniform."),
    (
        "1.1.d",
        0.5,
        "If all scores are equal, the weights are 1 each and h = v_1 + v_2 + v_3. A layer of equal weights.",
    ),
    ("1.3.b", 0.0, "It is necessary since gradients vanish in long sequences otherwise."),
    ("1.4.a", 0.17, "The Transformer reads the tokens one by one, with attention between the tokens."),
    ("1.4.c", 0.5, "All heads attend jointly to the words."),
    ("1.5.d", 0.0, "A decoder outputs the class of every pixel."),
]


def _share(part: str, text: str) -> float:
    checks = next(checks_of(rubric)[part] for rubric in RUBRICS if part in checks_of(rubric))
    sheet: Any = Sheet(cut_into_parts(f"## {part}\n\n{text}\n", "answers.md", [part]).parts[part])
    unused = np.random.default_rng(0)
    earned = sum(float(gives_the_ideas(sheet, unused, **check.parameters).score * check.points) for check in checks)
    return round(earned / float(sum(check.points for check in checks)), 3)


@pytest.mark.parametrize(("part", "least", "text"), RIGHT)
def test_a_right_answer_in_own_words_earns_what_a_ta_gives(part: str, least: float, text: str) -> None:
    assert _share(part, text) >= least


@pytest.mark.parametrize(("part", "most", "text"), WRONG)
def test_a_wrong_answer_with_the_same_words_does_not(part: str, most: float, text: str) -> None:
    assert _share(part, text) <= most
