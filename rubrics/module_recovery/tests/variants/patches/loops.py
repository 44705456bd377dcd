import torch
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image, patch, channels, dim):
        super().__init__()
        self.W = nn.Parameter(torch.randn(patch, patch, channels, dim))
        self.b = nn.Parameter(torch.zeros(dim))
        self.image, self.patch = image, patch

    def forward(self, x):
        tokens = []
        for top in range(0, self.image, self.patch):
            for left in range(0, self.image, self.patch):
                piece = x[:, :, top : top + self.patch, left : left + self.patch]
                tokens.append(torch.einsum("bchw,hwcd->bd", piece, self.W) + self.b)
        return torch.stack(tokens, dim=1)
