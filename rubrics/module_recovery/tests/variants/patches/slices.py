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
        x = torch.stack([c.flatten(1) for r in x.split(self.patch, 2) for c in r.split(self.patch, 3)], dim=1)
        return self.linear(x)
