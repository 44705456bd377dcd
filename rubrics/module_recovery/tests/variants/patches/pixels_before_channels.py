import math
import torch
import torch.nn.functional as F
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image, patch, channels, dim):
        super().__init__()
        self.image, self.patch, self.channels = image, patch, channels
        self.n = (image // patch) ** 2
        self.linear = nn.Linear(channels * patch**2, dim)

    def forward(self, x):
        B = x.shape[0]
        x = x.unfold(2, self.patch, self.patch).unfold(3, self.patch, self.patch)
        x = x.permute(0, 2, 3, 4, 5, 1).reshape(B, self.n, -1)
        return self.linear(x)
