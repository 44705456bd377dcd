import torch
import torch.nn.functional as F
from torch import nn


class ViT(nn.Module):
    """Positions for the patches only, torch's encoder, ReLU and post-norm, patches by unfold."""

    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        self.p = patch
        self.to_token = nn.Linear(channels * patch**2, dim, bias=False)
        self.where = nn.Parameter(torch.zeros((image // patch) ** 2, dim))
        self.cls = nn.Parameter(torch.zeros(dim))
        layer = nn.TransformerEncoderLayer(dim, heads, 3 * dim, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth)
        self.out = nn.Linear(dim, classes)

    def forward(self, x):
        t = self.to_token(F.unfold(x, self.p, stride=self.p).transpose(1, 2)) + self.where
        t = torch.cat([self.cls.expand(len(t), 1, -1), t], dim=1)
        return self.out(self.encoder(t)[:, 0])
