"""Hands the whole task to torch."""
import torch
from torch.nn import functional as F


def attention(Q, K, V, beta):
    q, k, v = (torch.as_tensor(x.T.copy()) for x in (Q, K, V))
    return F.scaled_dot_product_attention(q, k, v, scale=beta).T.numpy()
