"""1.1.c, 1.1.d, 1.3.c, 1.3.d and 1.3.e in code, if you would rather build the matrices than write formulas.

Tokens are columns. The grader runs attention on what you return and compares its output with the layer that is asked
for, at several sizes. β, the scale of the scores, may be left out (it is 1 then) and may be float("inf"). What you
answer in writing instead, leave here as it is.
"""

import numpy as np


def copies_one_value(K, V, j):
    """K: d×m, keys of length one, no two closer than 60°; V: t×m. Returns q, beta; the output is column j of V."""
    raise NotImplementedError


def averages(K, V):
    """K: d×m, V: t×m. Returns q, beta; the output is the mean of the columns of V."""
    raise NotImplementedError


def identity(C):
    """C: e×n with orthonormal columns. Returns W_Q, W_K, W_V, beta; the output is C."""
    raise NotImplementedError


def permutation(C, order):
    """C as in identity; order: each of 0 … n−1 once. Returns W_Q, W_K, W_V, beta; the output is C[:, order]."""
    raise NotImplementedError


def pointwise(C, W):
    """C as in identity; W: o×e. Returns W_Q, W_K, W_V, beta; the output is W C."""
    raise NotImplementedError


def convolution(C, P, kernel):
    """C: features e×n, its first and last column zeros; P: positions n×n; kernel: o×e×3.

    Returns heads, border. Heads: a list of (W_Q, W_K, W_V) whose outputs are added; each matrix multiplies
    np.vstack([C, P]). Border: what stands beyond the first and the last real token, "zero", "wrap" or "clamp".
    The output is that of a convolution whose kernel at offsets −1, 0, 1 is kernel[:, :, 0], [:, :, 1], [:, :, 2].
    """
    raise NotImplementedError
