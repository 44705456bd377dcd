"""2.2 Multi-head self-attention, in numpy, with tokens in columns."""

import numpy as np


def multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):
    """What multi-head self-attention gives for every token.

    C              array e×n: n tokens, one in each column
    W_Q, W_K, W_V  arrays d×e: each head has d/heads of their rows, the first head the first ones
    W_O            array e×d: what joins the heads
    heads          whole number that divides d
    mask           None, or boolean n×n: True in row i, column j if query j may attend to key i

    Returns an array e×n. In every head, β = 1/√(d/heads). Leave the arguments as they are.
    Write attention and softmax out: numpy's functions are all fine, no library's own attention or softmax is.
    """
    raise NotImplementedError
