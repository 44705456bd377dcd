import torch
from torch import nn
from torch.nn import functional as F


def layer(dim, heads):
    """Queries, keys and values of all heads; the way out of them; both layers of the network; both LayerNorms."""
    each = dim // heads
    shapes = [(3, heads, dim, each), (3, heads, 1, each), (heads, each, dim), (dim,)]
    shapes += [(4 * dim, dim), (4 * dim,), (dim, 4 * dim), (dim,)]
    drawn = [torch.randn(shape) * 0.2 for shape in shapes]
    return nn.ParameterList([*drawn, torch.ones(dim), torch.zeros(dim), torch.ones(dim), torch.zeros(dim)])


def encoded(x, p):
    q, k, v = torch.einsum("bnd,shde->sbhne", x, p[0]) + p[1].unsqueeze(1)
    mixed = F.scaled_dot_product_attention(q, k, v)
    x = F.layer_norm(x + torch.einsum("bhne,hed->bnd", mixed, p[2]) + p[3], p[8].shape, p[8], p[9])
    return F.layer_norm(x + F.linear(F.linear(x, p[4], p[5]).relu(), p[6], p[7]), p[8].shape, p[10], p[11])


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        self.embed = nn.Conv2d(channels, dim, patch, patch)
        self.special = nn.Embedding(1, dim)
        self.places = nn.Embedding((image // patch) ** 2 + 1, dim)
        self.layers = nn.ModuleList([layer(dim, heads) for _ in range(depth)])
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.embed(x).flatten(2).mT
        x = torch.cat([self.special.weight.expand(len(x), 1, -1), x], dim=1) + self.places.weight
        for p in self.layers:
            x = encoded(x, p)
        return self.head(x[:, 0])
