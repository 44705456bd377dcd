"""Functions by every name they go by, and what numpy writes around them."""

from __future__ import annotations

from grader.notation.word_lists import spelled, words

# Spelled out or with a backslash, and with numpy's, math's, scipy's or torch's name in front.
FUNCTIONS = spelled(
    {
        "exp": "exp",
        "log": "log ln",
        "sqrt": "sqrt",
        "softmax": "softmax softargmax",
        "logistic": "sigmoid logistic expit",
        "max": "max",
        "min": "min",
        "abs": "abs",
        "tanh": "tanh",
        "inverse": "inv",
        "pinv": "pinv",
        "transpose": "transpose swapaxes swapdims",
        "product": "dot matmul",
        "outer": "outer",
        "inner": "inner",
        "identity": "eye identity",
        "norm": "norm",
    }
)
# Those that a rubric has to declare for its question.
DECLARABLE = spelled(
    {
        "sin": "sin",
        "cos": "cos",
        "tan": "tan",
        "arctan": "arctan atan",
        "sinh": "sinh",
        "cosh": "cosh",
        "sign": "sign sgn",
        "relu": "relu ReLU",
        "det": "det",
        "trace": "trace tr Tr",
        "diag": "diag",
        "binomial": "binomial binom comb",
        "hadamard": "hadamard",  # a ⊙ b
        "norm1": "norm1",  # ‖w‖_1
        "norminf": "norminf",  # ‖w‖_∞
    }
)
KEYWORDS = words("axis dim keepdims")  # what numpy's and torch's softmax may be told
MODULES = words("np numpy math torch scipy special linalg la F nn functional jnp sp sympy cmath")
TRANSPOSING_METHODS = words("T mT t transpose swapaxes swapdims")
APPLYING_METHODS = words("softmax")
MULTIPLYING_METHODS = words("dot matmul mm")
NUMPY_CONSTANTS = {"e": "e", "pi": "π", "inf": "∞"}
INFINITIES = words("inf Inf infty")


def swaps_rows_and_columns(*axes: object) -> bool:
    """Whether to swap these axes is to transpose, a matrix or each of a stack of them: 0 and 1, -2 and -1, 1 and 2."""
    return set(axes) in ({0, 1}, {-2, -1}, {1, 2}, {2, 3})
