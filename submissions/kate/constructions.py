"""Each of these has one mistake."""
import numpy as np


def copies_one_value(K, V, j):
    return K[:, j - 1], 1000.0  # the key before the one asked for


def averages(K, V):
    return K.sum(axis=1), 0.05  # flat, but not flat enough


def identity(C):
    scramble = np.roll(np.eye(len(C)), 1, axis=0)
    return np.eye(len(C)), np.eye(len(C)), scramble, 1000.0  # the values are changed on their way


def permutation(C, order):
    return np.eye(len(C)), np.eye(len(C)), np.eye(len(C)), 1000.0  # order is not used


def pointwise(C, W):
    return np.eye(len(C)), np.eye(len(C)), W.T, 1000.0  # transposed


def convolution(C, P, kernel):
    e, n = C.shape
    heads = []
    for tap in (-1, 0, 1):
        target = np.clip(np.arange(n) - tap, 0, n - 1)
        W_Q = np.hstack([np.zeros((n, e)), 1000 * np.eye(n)[:, target]])
        W_K = np.hstack([np.zeros((n, e)), np.eye(n)])
        W_V = np.hstack([kernel[:, :, tap + 1], np.zeros((len(kernel), n))])
        heads.append((W_Q, W_K, W_V))
    return heads, "zero"  # the kernel is mirrored
