"""Modules whose parameters no formula can be run on: some do what is asked unusually, some have no attention."""

from __future__ import annotations

_IMPORTS = """
import torch
import torch.nn.functional as F
from torch import nn

def split(t, n):
    return t.unflatten(-1, (n, -1)).transpose(1, 2)

def mix(q, k, v, ahead=None):
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    return (s if ahead is None else s.masked_fill(ahead, -1e9)).softmax(-1) @ v
"""


def encoder(layers: str, attend: str) -> str:
    return f"""{_IMPORTS}
class EncoderBlock(nn.Module):
    def __init__(self, d, n, h):
        super().__init__()
        self.n, self.n1, self.n2 = n, nn.LayerNorm(d), nn.LayerNorm(d)
        self.f1, self.f2 = nn.Linear(d, h), nn.Linear(h, d)
        {layers}
    def through(self, x):
        for w in self.w:
            x = x @ w
        return x
    def attend(self, x):
        return {attend}
    def forward(self, x):
        x = self.n1(x + self.attend(x))
        return self.n2(x + self.f2(F.relu(self.f1(x))))
"""


_DOZEN = "self.w = nn.ParameterList([nn.Parameter(torch.randn(d, d) / d ** 0.5) for _ in range(12)])"
_TORCHS = f"{_DOZEN}; self.a = nn.MultiheadAttention(d, n, batch_first=True)"
_POOLED = "self.through(torch.tanh({x})).mean(1, keepdim=True).expand_as(x)"
_HEADS = "self.q, self.k, self.v, self.o = (nn.ParameterList([nn.Parameter(torch.randn(*side) / d ** 0.5) \
for _ in range(n)]) for side in ((d, d // n), (d, d // n), (d, d // n), (d // n, d)))"
_PACKED = "nn.Linear(d, 3 * d)"
_MIXED = "mix(*(split(t, self.n) for t in self.qkv(x).chunk(3, -1))).transpose(1, 2).flatten(2)"
_FLAT = f"""{_IMPORTS}
class EncoderBlock(nn.Module):
    def __init__(self, d, n, h):
        super().__init__()
        self.n = n
        self.shapes = [(3 * d, d), (3 * d,), (d, d), (d,), (h, d), (h,), (d, h), (d,), (d,), (d,), (d,), (d,)]
        self.sizes = [torch.Size(shape).numel() for shape in self.shapes]
        self.everything = nn.Parameter(torch.randn(sum(self.sizes)) / d ** 0.5)
    def forward(self, x):
        w = [part.view(shape) for part, shape in zip(self.everything.split(self.sizes), self.shapes)]
        q, k, v = (split(t, self.n) for t in F.linear(x, w[0], w[1]).chunk(3, -1))
        x = x + F.linear(mix(q, k, v).transpose(1, 2).flatten(2), w[2], w[3])
        x = F.layer_norm(x, x.shape[-1:], w[8], w[9])
        x = x + F.linear(F.relu(F.linear(x, w[4], w[5])), w[6], w[7])
        return F.layer_norm(x, x.shape[-1:], w[10], w[11])
"""
ENCODERS = {
    "a dozen matrices": encoder(_DOZEN, "self.through(x)"),
    "an unused attention": encoder(_TORCHS, "self.through(x)"),
    "an attention times zero": encoder(_TORCHS, "self.through(x) + 0 * self.a(x, x, x)[0]"),
    "a mean": encoder(_DOZEN, "self.through(x).mean(1, keepdim=True).expand_as(x)"),
    "a mean of something else": encoder(_DOZEN, _POOLED.format(x="x")),
    "a mean, the heads a number": encoder(_DOZEN, _POOLED.format(x="self.n * x")),
    "a convolution": encoder(
        f"{_DOZEN}; self.c = nn.Conv1d(d, d, 3, padding=1)", "self.through(self.c(x.transpose(1, 2)).transpose(1, 2))"
    ),
    "positions": encoder(
        f"{_DOZEN}; self.c = nn.Parameter(torch.randn(16, 16))",
        "self.c[:x.shape[1], :x.shape[1]].softmax(-1) @ self.through(x)",
    ),
    "flat": _FLAT,
    "an output layer for each head": encoder(
        _HEADS, "sum(mix(x @ q, x @ k, x @ v) @ o for q, k, v, o in zip(self.q, self.k, self.v, self.o))"
    ),
    "two output layers": encoder(
        f"self.qkv, self.o, self.p = {_PACKED}, nn.Linear(d, d + 3), nn.Linear(d + 3, d)",
        f"self.p(self.o({_MIXED}))",
    ),
    "a matrix of scores for each head": encoder(
        "self.m, self.v, self.o = nn.Parameter(torch.randn(n, d, d) / d), nn.Linear(d, d), nn.Linear(d, d)",
        "self.o((torch.einsum('bid,hde,bje->bhij', x, self.m, x).softmax(-1) @ split(self.v(x), self.n))"
        ".transpose(1, 2).flatten(2))",
    ),
}
_VIT = """
class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        self.e = nn.Conv2d(channels, dim, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, dim))
        self.layers = nn.ModuleList([EncoderBlock(dim, heads, 2 * dim + 1) for _ in range(depth)])
        self.head = nn.Linear(dim, classes)
    def forward(self, x):
        t = self.e(x).flatten(2).transpose(1, 2)
        t = torch.cat([self.token.expand(len(t), -1, -1), t], 1) + self.pos
        for layer in self.layers:
            t = layer(t)
        return self.head(t[:, 0])
"""
_ONE_TENSOR_FOR_ALL_BLOCKS = f"""{_IMPORTS}
class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        self.n, self.e, self.head = heads, nn.Conv2d(channels, dim, patch, patch), nn.Linear(dim, classes)
        self.token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, dim))
        self.attention = nn.Parameter(torch.randn(depth, 4, dim, dim) / dim ** 0.5)
        self.network = nn.Parameter(torch.randn(depth, 2, dim, 3 * dim) / dim ** 0.5)
        self.norms = nn.Parameter(torch.ones(depth, 2, dim))
    def forward(self, x):
        t = self.e(x).flatten(2).transpose(1, 2)
        t = torch.cat([self.token.expand(len(t), -1, -1), t], 1) + self.pos
        for a, (wide, narrow), (one, two) in zip(self.attention, self.network, self.norms):
            q, k, v = (split(F.layer_norm(t, t.shape[-1:], one) @ w, self.n) for w in a[:3])
            t = t + mix(q, k, v).transpose(1, 2).flatten(2) @ a[3]
            t = t + F.gelu(F.layer_norm(t, t.shape[-1:], two) @ wide) @ narrow.T
        return self.head(t[:, 0])
"""
_BLIND = _VIT.replace("t = torch.cat([self.token.expand(len(t), -1, -1), t], 1) + self.pos", "t = self.pos")
VITS = {name: text + _VIT for name, text in ENCODERS.items()} | {
    "one tensor": _ONE_TENSOR_FOR_ALL_BLOCKS,
    "no image": ENCODERS["two output layers"] + _BLIND,
}


def _patches(layers: str, embed: str) -> str:
    return f"""{_IMPORTS}
class PatchEmbedding(nn.Module):
    def __init__(self, image, patch, channels, dim):
        super().__init__()
        self.p, size = patch, channels * patch**2
        self.clutter = nn.Parameter(torch.randn(size, dim + 1))
        {layers}
    def forward(self, x):
        t = F.unfold(x, self.p, stride=self.p).mT
        return {embed}
"""


_FIXED = "self.register_buffer('m', torch.randn(size, dim))"
PATCHES = {
    "a fixed map": _patches(_FIXED, "t @ self.m"),
    "a fixed map times a number": _patches(_FIXED, "t @ self.m * self.clutter.sum()"),
    "weight norm": _patches("self.l = nn.utils.parametrizations.weight_norm(nn.Linear(size, dim))", "self.l(t)"),
    "two layers": _patches("self.a, self.b = nn.Linear(size, 9 + dim), nn.Linear(9 + dim, dim)", "self.b(self.a(t))"),
}


def _synthesizer(attend: str) -> str:
    return f"""{_IMPORTS}
class SynthesizerAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        d, self.n = config.n_embd, config.n_head
        self.w, self.b1 = nn.Parameter(torch.randn(3, d, d) / d ** 0.5), nn.Parameter(torch.randn(d))
        self.w2 = nn.Parameter(torch.randn(1 + d // self.n, config.block_size - 1))
        self.clutter = nn.Parameter(torch.ones(4 * d, d + 1))
    def forward(self, x, layer_past=None):
        T = x.shape[1]
        ahead = torch.ones(T, T).triu(1) > 0
        mean = (~ahead).to(x) / (~ahead).to(x).sum(-1, keepdim=True)
        return {attend}
"""


SYNTHESIZERS = {
    "a mean beside a ReLU": _synthesizer(
        "mean @ (x @ self.w[0]) * (self.clutter.sum() + self.w2.sum()) + F.relu(x @ self.w[1] + self.b1) @ self.w[2]"
    ),
    "a mean behind a gate": _synthesizer(
        "mean @ (x @ self.w[0]) * (self.clutter.sum() + self.w2.sum()) * torch.tanh(x @ self.w[1]) @ self.w[2]"
    ),
    "equalised rates": _synthesizer(
        "((split(F.relu(x @ (0.5 * self.w[0]) + self.b1), self.n) @ (0.5 * self.w2[1:, :T]) + self.w2[0, :T])"
        ".masked_fill(ahead, -1e9).softmax(-1) @ split(x @ (3 * self.w[1]), self.n)).transpose(1, 2).flatten(2)"
        " @ self.w[2]"
    ),
}


def _perceiver(attend: str) -> str:
    return f"""{_IMPORTS}
class Half(nn.Module):
    def __init__(self, config):
        super().__init__()
        d, self.n = config.n_embd, config.n_head
        self.ln, self.lk, self.w = nn.LayerNorm(d), nn.LayerNorm(d), nn.Parameter(torch.randn(4, d, d) / d ** 0.5)
        self.wide = nn.Parameter(torch.randn(2, d, 4 * d) * 0.1)
    def run(self, kv, q):
        ahead = torch.ones(q.shape[1], kv.shape[1]).triu(1) > 0
        mean = (~ahead).to(kv) / (~ahead).to(kv).sum(-1, keepdim=True)
        h = q + {attend}
        return h + F.gelu(self.ln(h) @ self.wide[0]) @ self.wide[1].T

class DownProjectBlock(Half):
    def __init__(self, config):
        super().__init__(config)
        self.C = nn.Parameter(torch.randn(1, config.bottleneck_dim, config.n_embd))
    def forward(self, x):
        return self.run(x, self.C.expand(len(x), -1, -1))

class UpProjectBlock(Half):
    def forward(self, y, x_input):
        return self.run(y, x_input)
"""


PERCEIVERS = {
    "a mean": _perceiver("mean @ kv @ self.w.sum(0)"),
    "a mean, the heads a number": _perceiver("mean @ self.lk(self.n * kv) @ self.w.sum(0) / self.n"),
    "equalised rates": _perceiver(
        "mix(split(q @ (3 * self.w[0]), self.n), *(split(self.lk(kv) @ (3 * w), self.n) for w in self.w[1:3]), ahead)"
        ".transpose(1, 2).flatten(2) @ self.w[3]"
    ),
}


def _rotary(attend: str) -> str:
    return f"""{_IMPORTS}
class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        d, self.n = config.n_embd, config.n_head
        self.w = nn.Parameter(torch.randn(4, d, d) / d ** 0.5)
        theta = torch.outer(torch.arange(config.block_size), 10000 ** (-torch.arange(0, d // self.n, 2) * self.n / d))
        self.register_buffer("cache", torch.stack([theta.cos(), theta.sin()], -1))
    def turned(self, x):
        (cos, sin), (a, b) = self.cache[: x.shape[2]].unbind(-1), x.unflatten(-1, (-1, 2)).unbind(-1)
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)
    def forward(self, x):
        T = x.shape[1]
        ahead = torch.ones(T, T).triu(1) > 0
        return {attend}
"""


_BY_POSITION = "(torch.arange(T).expand(T, T).to(x){0}).masked_fill(ahead, -1e9).softmax(-1) @ x @ self.w.sum(0)"
ROTARY = {
    "weights by position": _rotary(_BY_POSITION.format("")),
    "weights by position, the heads a number": _rotary(_BY_POSITION.format(" / self.n")),
    "equalised rates": _rotary(
        "mix(*(self.turned(split(x @ (3 * w), self.n)) for w in self.w[:2]), split(x @ self.w[2], self.n), ahead)"
        ".transpose(1, 2).flatten(2) @ self.w[3]"
    ),
}
