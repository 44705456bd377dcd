import torch
from torch import nn


class Scaled(nn.Module):
    """A normalisation over the features of each token."""

    def __init__(self, size):
        super().__init__()
        self.slope = nn.Parameter(torch.ones(size))
        self.start = nn.Parameter(torch.zeros(size))

    def forward(self, t):
        centred = t - t.mean(-1, keepdim=True)
        return self.start + self.slope * centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.look = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.up, self.down = nn.Linear(dim, 3 * dim), nn.Linear(3 * dim, dim)
        self.first, self.second = Scaled(dim), Scaled(dim)

    def forward(self, t):
        t = self.first(t + self.look(t, t, t)[0])
        return self.second(t + self.down(self.up(t).relu()))


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        self.cut = nn.Unfold(patch, stride=patch)
        self.embed = nn.Linear(channels * patch * patch, dim)
        self.summary = nn.Parameter(torch.randn(dim))
        self.places = nn.ParameterList([torch.randn(1, dim) for _ in range((image // patch) ** 2)])
        self.layers = nn.ModuleList([Layer(dim, heads) for _ in range(depth)])
        self.out = nn.Linear(dim, classes)

    def forward(self, x):
        t = self.embed(self.cut(x).transpose(1, 2)) + torch.cat(tuple(self.places))
        t = torch.cat([self.summary.expand(len(t), 1, -1), t], dim=1)
        for layer in self.layers:
            t = layer(t)
        return self.out(t[:, 0])
