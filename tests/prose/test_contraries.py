"""Right answers that speak of the contrary too: none of them is told that it claims it."""

from __future__ import annotations

import pytest

from benchmarks.prose_accuracy import RUBRICS, checks_of, judged

ATTENTION = [
    ("1.a.ii", "q is aligned with k_j and orthogonal to all other keys."),
    ("1.a.ii", "k_j must be close to the query while k_j is (nearly) orthogonal to the other keys."),
    ("1.a.ii", "The product k_i q is small for all i except j, for which k_j q is large."),
    ("1.a.ii", "If k_i^T q is not much smaller than k_j^T q the weight is shared, so we need k_j^T q >> k_i^T q."),
    ("1.a.iii", "c is about v_j, although the weights were computed from the key k_j."),
    ("1.c.ii", "In (i) c stays at the average. Now c is either v_a or v_b, depending on the length of k_a."),
    (
        "1.c.ii",
        "c is close to v_a most of the time when k_a is long and close to v_b when it is short, so its "
        "variance is high.",
    ),
    (
        "1.c.ii",
        "The mean of c is still the average of v_a and v_b, but each sample is near one of them, so the "
        "variance is large.",
    ),
    ("1.c.ii", "c no longer stays near the average. For γ > 1 it is dominated by v_a, otherwise by v_b."),
    ("1.c.ii", "k_b stays fixed at μ_b, but k_a is random; sometimes v_a gets more weight and sometimes v_b."),
    ("1.c.ii", "The output is biased towards v_a in some draws and towards v_b in others: it varies a lot."),
    ("1.d.ii", "Even though k_a has high variance, c_1 has not, so c is stable at ½(v_a+v_b)."),
    ("1.d.ii", "The output does not vary more than in part (c)(i). c_1 = v_a, c_2 = v_b."),
    ("1.d.ii", "With a single query c had a high variance. With two heads it is gone: c_1 is v_a, c_2 is v_b."),
    ("1.d.ii", "c_1 has slightly more variance than c_2, but both are tiny. The average is ½(v_a+v_b)."),
    ("1.d.ii", "Compared to (c), where c fluctuates, here it is constant."),
    ("1.d.ii", "c would be unstable only if γ were negative, which almost never happens, so c ≈ (v_a + v_b)/2."),
    (
        "1.d.ii",
        "The variance of k_a is large, but it only makes the score of head 1 larger or smaller, and the "
        "softmax is saturated anyway. c_1 = v_a.",
    ),
    (
        "1.e.i",
        "c_2 is u_a. Adding u_d makes x_2 more similar to x_1, but its own score grows even more, so it "
        "cannot reach u_b.",
    ),
    ("1.e.i", "u_a. It is not possible: if we add u_d, then x_2 gives 2β² with itself."),
    (
        "1.e.i",
        "c_2 ≈ u_a. One could think that adding u_d brings c_2 to u_b, but this is wrong because x_1 "
        "also contains u_d.",
    ),
    ("1.a.ii", "The other keys have a small product with q compared to k_j."),
    ("1.a.ii", "Key j is the only one which is not orthogonal to q."),
    ("1.a.ii", r"$k_j^\top q$ is big, $k_i^\top q \ll k_j^\top q$ for the rest."),
    (
        "1.c.ii",
        "c was constant before. Because of the random length of k_a the weight on v_a is sometimes near "
        "1 and sometimes near 0.",
    ),
    (
        "1.c.ii",
        "On average c is in the middle, however single outputs are at v_a or at v_b, so it has a high variance.",
    ),
    ("1.c.ii", "When k_a happens to be longer, v_a gets more weight; in the opposite case v_b does. c is not stable."),
    ("1.c.ii", "Only k_a varies, k_b remains the same. The output changes between v_a and v_b."),
    ("1.c.ii", "We do not get the average any more: the output is usually close to one of v_a and v_b."),
    ("1.d.ii", "It fixes the problem that c varies a lot: each head looks at one key, c_1 is v_a, c_2 is v_b."),
    (
        "1.d.ii",
        "The large variance of k_a has no effect on c_2 and hardly any on c_1. So c is about the mean of v_a and v_b.",
    ),
    ("1.d.ii", "c is more robust than in (c): c_1 equals v_a and c_2 equals v_b nearly always."),
    ("1.d.ii", "c_1 varies only a little, c_2 does not vary, the output is ½(v_a+v_b)."),
    ("1.e.i", "c_2 = u_a. Even if we add u_d or u_c, c_2 can not be close to u_b, because then we also get u_d."),
]
TRANSFORMERS = [
    ("1.1.b", "A small β makes it flat and a large one makes it sharp."),
    ("1.1.b", "With large β the softmax is less uniform, with small β it is more uniform."),
    ("1.1.b", "β controls if the weights are sharp (large β) or flat (small β)."),
    (
        "1.1.b",
        "Without the scaling large scores make the distribution too peaked and gradients small; the "
        "scale keeps it smooth.",
    ),
    ("1.1.c", "When β → ∞ the result is one value; for β → 0 it would be the mean instead. Hard attention."),
    ("1.1.c", "If the temperature 1/β goes to 0 only one value is kept."),
    ("1.1.d", "When β is small (not large) all weights are 1/m."),
    ("1.1.d", "β → 0, in contrast to β → ∞ where one value is copied."),
    ("1.1.e", "Only the score of key i changes, but each column of H is affected by it."),
    ("1.1.e", "One row of scores changes, so all the columns of H change a bit; other values stay the same."),
    ("1.1.f", "Always if the score is positive h moves to v_i, and when it is negative it moves away."),
    (
        "1.3.b",
        "Attention itself does not see the order. With positional encoding the model knows the order. "
        "For sets it is not needed.",
    ),
    ("1.3.b", "We need it since self-attention treats the input as a set, so it is necessary for sequences."),
    ("1.3.b", "An RNN knows the order since it reads one word after the other, attention treats the words as a set."),
    ("1.4.a", "It is not recurrent: RNNs read the words one by one, the Transformer reads all of them at once."),
    (
        "1.4.a",
        "Before, models were sequential and had to go step by step. The Transformer processes tokens in "
        "parallel, only decoding is sequential.",
    ),
    (
        "1.4.d",
        "The same two linear maps with ReLU are applied to each position separately; each layer has its own weights.",
    ),
    ("1.4.d", "Different layers have different weights but within a layer all positions share the same weights."),
    (
        "1.4.d",
        "Every token goes through the network on its own, with weights shared by all tokens and "
        "different for each layer.",
    ),
    ("1.4.e", "Unlike batch norm it does not use the batch: mean and variance are per token over its features."),
    (
        "1.4.e",
        "BatchNorm normalises over the batch. LayerNorm normalises over the features of one token, with "
        "learned scale and shift.",
    ),
    ("1.5.b", "The original has an encoder and a decoder, ViT only has the encoder."),
    ("1.5.b", "ViT uses no decoder; the Transformer has both an encoder and a decoder."),
    ("1.5.b", "ViT is like the encoder of the Transformer. It has dropped the decoder since nothing is generated."),
    ("1.5.c", "ViT uses learned ones instead of the fixed sines and cosines of the original Transformer."),
    ("1.5.c", "The original Transformer uses sinusoids, the Vision Transformer learns them."),
    (
        "1.5.c",
        "In ViT the position embeddings are trained with the model. The Transformer paper tried learned "
        "ones too but took sines.",
    ),
    (
        "1.5.d",
        "For finetuning the MLP head with its hidden layer from pretraining is removed and a single "
        "linear layer is put there.",
    ),
    ("1.5.d", "The head on the class token is an MLP when pretraining but one linear layer when finetuning."),
    ("1.5.d", "Finetuning: linear. Pretraining: MLP with a hidden layer. Class token."),
    ("1.1.b", "If β is small the softmax is soft and if it is large it is hard."),
    ("1.1.b", "It sharpens the distribution if it is large. Small values give something close to uniform."),
    ("1.1.c", "β has to be large, not small. The softargmax becomes an argmax, h = v_j."),
    ("1.1.d", "This is the case of a small β. With a large β we would have hard attention."),
    ("1.1.e", "The change goes to all columns, not only to one of them, as all queries see key i."),
    ("1.1.e", "Column j of H changes by β a_ij (εᵀq_j)(v_i − h_j). This holds for every j. It is zero on average."),
    ("1.1.f", "If kᵀq > 0 it moves toward v_i. If the product is negative, a larger α moves it away."),
    (
        "1.3.b",
        "Attention on its own has no notion of order. When order matters (text), one adds encodings; "
        "unordered sets do not need them.",
    ),
    ("1.4.a", "RNN-based models are sequential. It is instead based only on attention and computed in parallel."),
    (
        "1.4.a",
        "Seq2seq models with LSTMs process one token at a time; the Transformer processes the whole "
        "sequence at once with attention.",
    ),
    (
        "1.4.d",
        "Position-wise: it is the same for all tokens in one layer, but the layers have different "
        "parameters. Linear - ReLU - linear.",
    ),
    (
        "1.4.e",
        "For each token, mean and variance over the d features, so it is independent of the batch size. "
        "After every residual.",
    ),
    ("1.5.b", "While the Transformer has encoder and decoder, ViT keeps the encoder and adds a class head for images."),
    ("1.5.c", "Learned vectors in ViT, sines and cosines in the Transformer."),
    ("1.5.c", "ViT learns its 1-D embeddings whereas Vaswani et al. used fixed sinusoidal functions."),
    (
        "1.5.d",
        "The class token goes to a head: two layers in pretraining, in finetuning a single "
        "zero-initialised linear layer.",
    ),
]


@pytest.mark.parametrize(
    ("rubric", "part", "text"),
    [(rubric, *one) for rubric, answers in zip(RUBRICS, (ATTENTION, TRANSFORMERS), strict=True) for one in answers],
)
def test_no_right_answer_is_said_to_claim_the_contrary(rubric: str, part: str, text: str) -> None:
    for check in checks_of(rubric)[part]:
        assert not judged(check, text).wrong
