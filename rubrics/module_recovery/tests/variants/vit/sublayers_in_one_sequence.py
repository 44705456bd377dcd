import torch
from torch import nn


class Map(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.M = nn.Parameter(torch.randn(outer, inner) * inner**-0.5)
        self.c = nn.Parameter(torch.zeros(outer))

    def forward(self, t):
        return torch.einsum("oi,...i->...o", self.M, t) + self.c


class Normed(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.g = nn.Parameter(torch.ones(size))
        self.s = nn.Parameter(torch.zeros(size))

    def forward(self, t):
        return nn.functional.layer_norm(t, self.g.shape) * self.g + self.s


class Heads(nn.Module):
    """Heads are eleven wide, whatever the width of a token."""

    def __init__(self, dim, heads, wide=11):
        super().__init__()
        self.each = nn.ModuleList([nn.ModuleList([Map(dim, wide) for _ in range(3)]) for _ in range(heads)])
        self.join = Map(heads * wide, dim)

    def forward(self, t):
        seen = []
        for query, key, value in self.each:
            scores = query(t) @ key(t).mT / key(t).size(-1) ** 0.5
            seen.append(scores.softmax(-1) @ value(t))
        return self.join(torch.cat(seen, -1))


class Added(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.inner = nn.Sequential(*layers)

    def forward(self, t):
        return t + self.inner(t)


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        side = torch.arange(image).view(-1, patch)
        self.register_buffer("pixels", side)
        self.embed = Map(channels * patch * patch, dim)
        self.token = nn.Parameter(torch.zeros(1, 1, dim))
        self.places = nn.Parameter(torch.zeros(500, dim))
        parts = []
        for _ in range(depth):
            parts.append(Added(Normed(dim), Heads(dim, heads)))
            parts.append(Added(Normed(dim), Map(dim, 4 * dim), nn.GELU(), Map(4 * dim, dim)))
        self.parts = nn.Sequential(*parts, Normed(dim))
        self.head = Map(dim, classes)

    def forward(self, x):
        squares = [x[:, :, rows][..., columns].flatten(1) for rows in self.pixels for columns in self.pixels]
        t = self.embed(torch.stack(squares, 1))
        t = torch.cat([self.token.expand(len(t), -1, -1), t], 1)
        t = self.parts(t + self.places[: t.size(1)])
        return self.head(t[:, 0])
