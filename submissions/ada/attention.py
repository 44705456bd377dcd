import numpy as np


def softargmax(scores, beta):
    scores = beta * scores
    scores = scores - scores.max(axis=0, keepdims=True)
    weights = np.exp(scores)
    return weights / weights.sum(axis=0, keepdims=True)


def attention(Q, K, V, beta):
    return V @ softargmax(K.T @ Q, beta)
