"""The functions that students write, as they should be, and how they are usually got wrong. For staff."""

from functools import partial

from grader import reference
from reference import attention as right
from reference.mistakes import attention as wrong


def _known_mistakes(name):
    return {
        "mistakes": wrong.MISTAKES[name],
        "on_squares": wrong.ON_SQUARES[name],
        "at_extremes": wrong.AT_EXTREMES[name],
        "pairs": partial(wrong.pairs, name),
    }


@reference(**_known_mistakes("attention"))
def attention(Q, K, V, beta, mask=None):
    """H = V · softargmax_β(KᵀQ)."""
    return right.attention(Q, K, V, beta, mask)


@reference(**_known_mistakes("multi_head_attention"))
def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):
    """Self-attention of C (e×n) with `heads` heads, each at β = 1/√(d/heads), joined by W_O (e×d)."""
    return right.multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask)
