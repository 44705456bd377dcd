"""A function of another name."""


def multihead(C, W_Q, W_K, W_V, W_O, heads):
    return C
