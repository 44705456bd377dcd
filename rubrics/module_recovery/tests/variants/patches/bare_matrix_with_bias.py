import math
import torch
import torch.nn.functional as F
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image, patch, channels, dim):
        super().__init__()
        self.image, self.patch, self.channels = image, patch, channels
        self.n = (image // patch) ** 2
        self.W = nn.Parameter(torch.randn(channels * patch**2, dim))
        self.b = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        B = x.shape[0]
        x = x.unfold(2, self.patch, self.patch).unfold(3, self.patch, self.patch)
        x = x.permute(0, 2, 3, 1, 4, 5).reshape(B, self.n, -1)
        return x @ self.W + self.b
