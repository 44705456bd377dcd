import math
import torch
import torch.nn.functional as F
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image, patch, channels, dim):
        super().__init__()
        self.image, self.patch, self.channels = image, patch, channels
        self.n = (image // patch) ** 2
        self.linear = nn.Parameter(torch.randn(dim, channels, patch, patch))

    def forward(self, x):
        B = x.shape[0]
        x = x.unfold(2, self.patch, self.patch).unfold(3, self.patch, self.patch)
        return torch.einsum("bcijpq,dcpq->bijd", x, self.linear).flatten(1, 2)
