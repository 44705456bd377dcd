import torch
from torch import nn
from torch.nn import functional as F


def drawn(rows, columns):
    return nn.Parameter(torch.randn(rows, columns) * rows**-0.5)


def nothing(size):
    return nn.Parameter(torch.zeros(size))


class Layer(nn.Module):
    """Rows times matrices, (in, out); the numbers of both LayerNorms in one tensor each."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.ask_matrix, self.ask_offset = drawn(dim, dim), nothing(dim)
        self.tell_matrix, self.tell_offset = drawn(dim, dim), nothing(dim)
        self.give_matrix, self.give_offset = drawn(dim, dim), nothing(dim)
        self.join_matrix, self.join_offset = drawn(dim, dim), nothing(dim)
        self.wide_matrix, self.wide_offset = drawn(dim, 2 * dim), nothing(2 * dim)
        self.slim_matrix, self.slim_offset = drawn(2 * dim, dim), nothing(dim)
        self.norm_factor = nn.Parameter(torch.ones(2, dim))
        self.norm_offset = nn.Parameter(torch.zeros(2, dim))

    def norm(self, t, which):
        return F.layer_norm(t, t.shape[-1:], self.norm_factor[which], self.norm_offset[which])

    def attend(self, t):
        def split(u):
            return u.unflatten(-1, (self.heads, -1)).transpose(1, 2)

        q = split(t @ self.ask_matrix + self.ask_offset)
        k = split(t @ self.tell_matrix + self.tell_offset)
        v = split(t @ self.give_matrix + self.give_offset)
        weights = torch.softmax(q @ k.transpose(2, 3) * q.size(-1) ** -0.5, dim=3)
        return (weights @ v).transpose(1, 2).flatten(2) @ self.join_matrix + self.join_offset

    def think(self, t):
        return F.gelu(t @ self.wide_matrix + self.wide_offset) @ self.slim_matrix + self.slim_offset

    def forward(self, t):
        t = t + self.attend(self.norm(t, 0))
        return t + self.think(self.norm(t, 1))


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        self.patch = patch
        self.token = nothing(dim)
        self.places = drawn((image // patch) ** 2 + 1, dim)
        self.embed_matrix, self.embed_offset = drawn(channels * patch**2, dim), nothing(dim)
        self.layers = nn.ModuleList([Layer(dim, heads) for _ in range(depth)])
        self.head_matrix, self.head_offset = drawn(dim, classes), nothing(classes)

    def forward(self, x):
        pixels = F.unfold(x, self.patch, stride=self.patch).transpose(1, 2)
        t = pixels @ self.embed_matrix + self.embed_offset
        t = torch.cat([self.token.expand(len(t), 1, -1), t], dim=1) + self.places
        for layer in self.layers:
            t = layer(t)
        return t[:, 0] @ self.head_matrix + self.head_offset
