"""Encoder blocks and ViTs put together from everything the assignment leaves open: none of them may fail."""

from __future__ import annotations

import random
from itertools import cycle, product

import pytest

from grader.model import Status
from grader.sandbox import BoxRunner
from rubrics.module_recovery.tests.variant_grading import outcomes
from tests.conftest import EVERY_CASE, MakeSubmission

# What is defined, and what forward() makes of x.
ATTENTIONS = {
    "four layers": (
        "self.p1, self.p2, self.p3, self.p4 = (nn.Linear(d, d, bias=b) for b in (True, False, True, True))",
        "self.p4(mix(*(f(x).unflatten(-1, (self.n, -1)).transpose(1, 2) for f in (self.p3, self.p1, self.p2))))",
    ),
    "packed in blocks": (
        "self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d, bias=False)",
        "self.o(mix(*(t.unflatten(-1, (self.n, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))))",
    ),
    "packed for each head, values first": (
        "self.all, self.o = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d)",
        "self.o((lambda v, q, k: mix(q, k, v))(*self.all(x).unflatten(-1, (self.n, 3, -1)).permute(3, 0, 2, 1, 4)))",
    ),
    "keys and values in one": (
        "self.kv, self.q, self.o = nn.Linear(d, 2 * d), nn.Linear(d, d), nn.Linear(d, d)",
        "self.o(mix(*(t.unflatten(-1, (self.n, -1)).transpose(1, 2) for t in (self.q(x), *self.kv(x).chunk(2, -1)))))",
    ),
    "torch's own": (
        "self.m = nn.MultiheadAttention(d, n, batch_first=True, dropout=0.1)",
        "self.m(x, x, x, need_weights=False)[0]",
    ),
    "torch's own, without bias, tokens first": (
        "self.m = nn.MultiheadAttention(d, n, bias=False)",
        "self.m(*[x.transpose(0, 1)] * 3)[0].transpose(0, 1)",
    ),
    "torch's function": (
        "self.w = nn.ModuleList(nn.Linear(d, d) for _ in range(4))",
        "self.w[0](F.scaled_dot_product_attention(*(f(x).unflatten(-1, (self.n, -1)).transpose(1, 2) "
        "for f in self.w[1:])).transpose(1, 2).flatten(2))",
    ),
    "a layer for each head": (
        "self.hs = nn.ModuleList(nn.ModuleList(nn.Linear(d, d // n) for _ in range(3)) for _ in range(n)); "
        "self.o = nn.Linear(d, d)",
        "self.o(torch.cat([mix(*(f(x)[:, None] for f in h)) for h in self.hs], -1))",
    ),
    "bare matrices": (
        "self.w0, self.w1, self.w2, self.w3 = (nn.Parameter(torch.randn(d, d) / d**0.5) for _ in range(4))",
        "torch.einsum('btd,ed->bte', mix(*((x @ w).unflatten(-1, (self.n, -1)).transpose(1, 2) "
        "for w in (self.w0, self.w1, self.w2))), self.w3)",
    ),
    "an axis for each head": (
        "self.a = nn.Parameter(torch.randn(3, n, d, d // n)); self.b = nn.Parameter(torch.randn(n, d // n, d))",
        "torch.einsum('bthe,hed->btd', mix(*torch.einsum('btd,phde->pbhte', x, self.a)).unflatten(-1, (self.n, -1)), "
        "self.b)",
    ),
    "heads take turns": (
        "self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))",
        "self.o(mix(*(f(x).unflatten(-1, (-1, self.n)).movedim(-1, 1) for f in (self.q, self.k, self.v))))",
    ),
}
NORMS = {
    "torch's": "nn.LayerNorm(d)",
    "with another epsilon": "nn.LayerNorm(d, eps=1e-6)",
    "written out": "Norm(d)",
}
NETWORKS = {
    "a sequence": ("self.f = nn.Sequential(nn.Linear(d, h), {act}, nn.Dropout(0.1), nn.Linear(h, d))", "self.f(x)"),
    "two layers": (
        "self.f1, self.f2, self.act = nn.Linear(d, h), nn.Linear(h, d), {act}",
        "self.f2(self.act(self.f1(x)))",
    ),
    "without bias": (
        "self.f = nn.Sequential(nn.Linear(d, h, bias=False), {act}, nn.Linear(h, d, bias=False))",
        "self.f(x)",
    ),
    "convolutions": (
        "self.f = nn.Sequential(nn.Conv1d(d, h, 1), {act}, nn.Conv1d(h, d, 1))",
        "self.f(x.transpose(1, 2)).transpose(1, 2)",
    ),
    "lazy": ("self.f = nn.Sequential(nn.LazyLinear(h), {act}, nn.LazyLinear(d))", "self.f(x)"),
}
BLOCK = """
import torch
import torch.nn.functional as F
from torch import nn

def mix(q, k, v):
    s = torch.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
    return (s.softmax(-1) @ v).transpose(1, 2).flatten(2)

class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))
    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * self.scale + self.shift

class EncoderBlock(nn.Module):
    def __init__(self, d, n, h):
        super().__init__()
        self.n = n
        {layers}
        {network}
        self.before, self.behind = {norm}, {norm}
    def attend(self, x):
        return {attend}
    def think(self, x):
        return {think}
    def forward(self, x):
        {order}
"""
POST = "x = self.before(x + self.attend(x)); return self.behind(x + self.think(x))"
PRE = "x = x + self.attend(self.before(x)); return x + self.think(self.behind(x))"


def _block(attention: str, norm: str, network: str, order: str = POST, act: str = "nn.ReLU()") -> str:
    layers, attend = ATTENTIONS[attention]
    define, think = NETWORKS[network]
    norm, network = NORMS[norm], define.format(act=act)
    return BLOCK.format(layers=layers, attend=attend, norm=norm, network=network, think=think, order=order)


PATCHES = {
    "convolution": (
        "self.e = nn.Conv2d(channels, dim, patch, patch)",
        "self.e(x).flatten(2).transpose(1, 2)",
    ),
    "unfold": (
        "self.e = nn.Linear(channels * patch**2, dim, bias=False)",
        "self.e(F.unfold(x, self.p, stride=self.p).mT)",
    ),
    "pixels before channels": (
        "self.e = nn.Linear(channels * patch**2, dim)",
        "self.e(x.unflatten(3, (-1, self.p)).unflatten(2, (-1, self.p)).permute(0, 2, 4, 3, 5, 1).flatten(3)"
        ".flatten(1, 2))",
    ),
}
POSITIONS = {  # the table, and the tokens with it and the class token
    "for all": ("nn.Parameter(torch.zeros(1, count + 1, dim))", "torch.cat([c, t], 1) + self.pos"),
    "class token last": ("nn.Parameter(torch.randn(count + 1, dim))", "torch.cat([t, c], 1) + self.pos"),
    "for the patches": ("nn.Parameter(torch.randn(count, dim))", "torch.cat([c, t + self.pos], 1)"),
    "an embedding": ("nn.Embedding(count + 1, dim)", "torch.cat([c, t], 1) + self.pos.weight"),
}
HEADS = {
    "linear": "nn.Linear(dim, classes)",
    "norm and linear": "nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, classes))",
    "hidden layer": "nn.Sequential(nn.Linear(dim, 2 * dim + 1), nn.Tanh(), nn.Linear(2 * dim + 1, classes))",
}
VIT = """
class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        self.p, count = patch, (image // patch) ** 2
        {patches}
        self.token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = {table}
        self.layers = nn.ModuleList([EncoderBlock(dim, heads, {wide}) for _ in range(depth)])
        self.head = {head}
    def forward(self, x):
        t = {embed}
        c = self.token.expand(len(t), -1, -1)
        t = {tokens}
        for layer in self.layers:
            t = layer(t)
        return self.head(t[:, {place}])
"""


def _vit(patches: str, positions: str, head: str, wide: str, block: str) -> str:
    define, embed = PATCHES[patches]
    table, tokens = POSITIONS[positions]
    place = -1 if positions == "class token last" else 0
    return block + VIT.format(
        patches=define, embed=embed, table=table, tokens=tokens, head=HEADS[head], wide=wide, place=place
    )


def _not_accepted(
    variant: str, file: str, texts: dict[str, str], boxes: BoxRunner, submission: MakeSubmission
) -> list[str]:
    found = []
    for seed, (choice, text) in enumerate(texts.items()):
        judged = outcomes(variant, {file: text}, boxes, submission, seed)
        found += [f"{choice}: {name} {o.message}" for name, o in judged.items() if o.status is not Status.PASSED]
    return found


@pytest.mark.slow
def test_every_encoder_block_left_open_is_accepted_by_its_values(
    torch_boxes: BoxRunner, submission: MakeSubmission
) -> None:
    """Each attention with a network; more are in test_encoder_styles.py."""
    others = cycle(product(NORMS, NETWORKS))
    choices = [(attention, *next(others)) for _ in range(2 if EVERY_CASE else 1) for attention in ATTENTIONS]
    texts = {str(choice): _block(*choice) for choice in choices}
    assert _not_accepted("encoder", "encoder.py", texts, torch_boxes, submission) == []


@pytest.mark.slow
def test_every_vit_left_open_is_accepted_by_its_values(torch_boxes: BoxRunner, submission: MakeSubmission) -> None:
    bodies = product(ATTENTIONS, ["torch's", "with another epsilon"], NETWORKS, [PRE, POST], ["nn.ReLU()", "nn.GELU()"])
    ways_in = product(PATCHES, POSITIONS, HEADS, ["4 * dim", "2 * dim", "dim + 3"])
    draw = random.Random(1)
    count = 24 if EVERY_CASE else 10
    choices = list(zip(draw.sample(list(ways_in), count), draw.sample(list(bodies), count), strict=True))
    texts = {f"{way_in} {body}": _vit(*way_in, _block(*body)) for way_in, body in choices}
    assert _not_accepted("vit", "vit.py", texts, torch_boxes, submission) == []
