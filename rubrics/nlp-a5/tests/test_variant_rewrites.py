"""Perceivers put together from everything the assignment leaves open: none of them may fail."""

from __future__ import annotations

import random
from itertools import product

import pytest

from grader.model import Status
from grader.sandbox import BoxRunner
from rubrics.module_recovery.tests.variant_grading import outcomes
from tests.conftest import EVERY_CASE, MakeSubmission

_HEADS = """
    def split(self, t):
        return t.unflatten(-1, (self.n, -1)).transpose(1, 2)

    def mix(self, q, k, v):
        s = q @ k.transpose(-1, -2) / q.size(-1) ** 0.5
        s = s.masked_fill(torch.ones(s.shape[-2:]).tril() == 0, float("-inf"))
        return (s.softmax(-1) @ v).transpose(1, 2).flatten(2)
"""
ATTENTIONS = {
    "four layers": (
        "self.p1, self.p2, self.p3, self.p4 = (nn.Linear(d, d, bias=b) for b in (True, False, True, True))",
        "return self.p4(self.mix(self.split(self.p3(q)), self.split(self.p1(kv)), self.split(self.p2(kv))))",
    ),
    "keys and values in one": (
        "self.kv, self.q, self.o = nn.Linear(d, 2 * d), nn.Linear(d, d), nn.Linear(d, d, bias=False)",
        "k, v = self.kv(kv).chunk(2, -1); return self.o(self.mix(self.split(self.q(q)), self.split(k), self.split(v)))",
    ),
    "torch's own": (
        "self.m = nn.MultiheadAttention(d, n, batch_first=True)",
        "ahead = torch.ones(q.size(1), kv.size(1)).triu(1) > 0; return self.m(q, kv, kv, attn_mask=ahead)[0]",
    ),
    "a layer for each head": (
        "self.hs = nn.ModuleList(nn.ModuleList(nn.Linear(d, d // n) for _ in range(3)) for _ in range(n)); "
        "self.o = nn.Linear(d, d)",
        "return self.o(torch.cat([self.mix(*(f(t)[:, None] for f, t in zip(h, (q, kv, kv)))) for h in self.hs], -1))",
    ),
    "bare matrices": (
        "self.w0, self.w1, self.w2, self.w3 = (nn.Parameter(torch.randn(d, d) / d ** 0.5) for _ in range(4))",
        "return torch.einsum('btd,ed->bte', self.mix(self.split(q @ self.w0), self.split(kv @ self.w1), "
        "self.split(kv @ self.w2)), self.w3)",
    ),
}
NORMS = {  # what is asked, who asks, and how many LayerNorms that takes
    "on x alone": ("self.norms[0](kv)", "q", 1),
    "one for both": ("self.norms[0](kv)", "self.norms[0](q)", 1),
    "one each": ("self.norms[0](kv)", "self.norms[1](q)", 2),
    "on neither": ("kv", "q", 0),
}
RESIDUALS = {"none": "h", "plain": "q0 + h", "normed": "q + h"}
ENDS = {
    "before the MLP": ("h + self.mlp(self.norms[-1](h))", 1),
    "behind it": ("self.norms[-1](h + self.mlp(h))", 1),
    "before its residual": ("(lambda s: s + self.mlp(s))(self.norms[-1](h))", 1),
    "behind attention and MLP": ("(lambda s: self.norms[-1](s + self.mlp(s)))(self.norms[-2](h))", 2),
}
MLPS = {
    "wide": "nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d), nn.Dropout(config.resid_pdrop))",
    "ReLU": "nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Dropout(config.resid_pdrop), nn.Linear(2 * d, d))",
    "SiLU": "nn.Sequential(nn.Linear(d, 3 * d, bias=False), nn.SiLU(), nn.Linear(3 * d, d))",
    "lazy": "nn.Sequential(nn.LazyLinear(4 * d), nn.GELU('tanh'), nn.LazyLinear(d))",
}
BASES = {
    "as asked": ("nn.Parameter(nn.init.xavier_uniform_(torch.empty(1, config.bottleneck_dim, d)))", "self.C"),
    "without the batch": ("nn.Parameter(torch.randn(config.bottleneck_dim, d))", "self.C[None]"),
    "an embedding": ("nn.Embedding(config.bottleneck_dim, d)", "self.C.weight.unsqueeze(0)"),
}
TEMPLATE = """
import torch
from torch import nn

class Cross(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.n = n
        {layers}
{heads}
    def forward(self, kv, q):
        {attend}

class Half(nn.Module):
    def __init__(self, config):
        super().__init__()
        d = config.n_embd
        self.cross = Cross(d, config.n_head)
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range({norms}))
        self.mlp = {mlp}
    def run(self, kv, q0):
        q = q0
        kv, q = {asked}, {asking}
        h = self.cross(kv, q)
        h = {residual}
        return {end}

class DownProjectBlock(Half):
    def __init__(self, config):
        super().__init__(config)
        d = config.n_embd
        self.C = {basis}
    def forward(self, x):
        return self.run(x, {rows}.expand(len(x), -1, -1))

class UpProjectBlock(Half):
    def forward(self, y, x_input):
        return self.run(y, x_input)
"""
CHOICES = list(product(ATTENTIONS, NORMS, RESIDUALS, ENDS, MLPS, BASES))


def _written(attention: str, norm: str, residual: str, end: str, mlp: str, basis: str) -> str:
    asked, asking, before = NORMS[norm]
    finish, behind = ENDS[end]
    return TEMPLATE.format(
        layers=ATTENTIONS[attention][0],
        heads=_HEADS,
        attend=ATTENTIONS[attention][1],
        norms=before + behind,
        mlp=MLPS[mlp],
        asked=asked,
        asking=asking,
        residual=RESIDUALS[residual],
        end=finish,
        basis=BASES[basis][0],
        rows=BASES[basis][1],
    )


@pytest.mark.slow
def test_whatever_is_left_open_is_accepted_by_its_values(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    failures = []
    for seed, choice in enumerate(random.Random(0).sample(CHOICES, 60 if EVERY_CASE else 8)):
        judged = outcomes("perceiver", {"model.py": _written(*choice)}, torch_boxes, submission, seed)
        failures += [(choice, name, o.message) for name, o in judged.items() if o.status is not Status.PASSED]
    assert failures == []
