"""`python -m benchmarks.reference_speed`: the reference against torch's own layers, and training speed.

Each pair is measured in turns in one process, and the ratio is of medians: a busy machine slows both alike.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import torch
from torch import nn

from reference.attention import multi_head_attention
from reference.corpus import make_corpus
from reference.datasets import CharCorruptionDataset, Pair, cropped_batch
from reference.gpt import GPT, GPTConfig
from reference.train import SMALL, vocabulary_of
from reference.training import DrawBatch, Stage, train
from reference.transformer import MultiHeadAttention

Call = Callable[[], object]


def medians(ours: Call, theirs: Call, rounds: int) -> tuple[float, float]:
    """Median milliseconds of both, called in turns; the first round warms up and does not count."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds + 1):
        for call, list_of_times in zip((ours, theirs), times, strict=True):
            started = perf_counter()
            call()
            list_of_times.append(1000 * (perf_counter() - started))
    return median(times[0][1:]), median(times[1][1:])


def torch_gpt(config: GPTConfig) -> nn.Module:
    """The same sizes of torch's own layers: pre-norm, GELU, causal."""
    layer = nn.TransformerEncoderLayer(
        config.width, config.heads, 4 * config.width, 0.0, "gelu", batch_first=True, norm_first=True
    )
    stack = nn.TransformerEncoder(layer, config.layers, nn.LayerNorm(config.width), enable_nested_tensor=False)
    embedding = nn.Embedding(config.vocabulary, config.width)
    head = nn.Linear(config.width, config.vocabulary, bias=False)
    return nn.ModuleDict({"embedding": embedding, "stack": stack, "head": head})


def compare_forward(rounds: int) -> list[tuple[str, float, float]]:
    config = GPTConfig(vocabulary=100)
    torch.manual_seed(0)
    x = torch.randn(8, 127, config.width)  # (8, 127, 256)
    ids = torch.randint(1, 100, (8, 127))  # (8, 127)
    hidden = torch.ones(127, 127, dtype=torch.bool).triu(1)  # (127, 127)
    ours, theirs = MultiHeadAttention(256, 8), nn.MultiheadAttention(256, 8, batch_first=True)
    gpt, theirs_gpt = GPT(config), torch_gpt(config)
    rng = np.random.default_rng(0)
    C = rng.standard_normal((256, 127))
    W_Q, W_K, W_V, W_O = rng.standard_normal((4, 256, 256))
    double, column = (
        nn.MultiheadAttention(256, 8, batch_first=True, dtype=torch.float64),
        torch.from_numpy(C.T)[None],
    )

    def their_forward() -> torch.Tensor:
        tokens = theirs_gpt["stack"](theirs_gpt["embedding"](ids), mask=hidden, is_causal=True)
        return theirs_gpt["head"](tokens)

    pairs: list[tuple[str, Call, Call]] = [
        (
            "multi-head, torch, 8×127×256, 8 heads",
            lambda: ours(x, mask=~hidden),
            lambda: theirs(x, x, x, attn_mask=hidden, need_weights=False),
        ),
        (
            "multi-head, numpy float64, 127×256, 8 heads",
            lambda: multi_head_attention(C, W_Q, W_K, W_V, W_O, heads=8),
            lambda: double(column, column, column, need_weights=False),
        ),
        ("GPT forward, 4×256, 8×127 characters", lambda: gpt(ids), their_forward),
    ]
    with torch.no_grad():
        return [(name, *medians(mine, torchs, rounds)) for name, mine, torchs in pairs]


def training_speeds(steps: int) -> list[tuple[str, float]]:
    """Documents per second of the training run's pretraining step, as it is and with one thing changed."""
    corpus = make_corpus(0, *SMALL.people)
    wiki = CharCorruptionDataset("\n".join(corpus.wiki), SMALL.block, vocabulary_of(corpus))

    def whole_block(rng: np.random.Generator, size: int) -> Pair:
        x, y = zip(*(wiki.corrupted(int(i), rng) for i in rng.integers(len(wiki), size=size)), strict=True)
        return torch.stack(x), torch.stack(y)  # 2 × (B, block − 1)

    def cropped(rng: np.random.Generator, size: int) -> Pair:
        return cropped_batch([wiki.corrupted(int(i), rng) for i in rng.integers(len(wiki), size=size)])

    def documents_per_second(draw: DrawBatch, threads: int, width: int) -> float:
        torch.set_num_threads(threads)
        config = GPTConfig(len(wiki.vocabulary), SMALL.block, SMALL.layers, SMALL.heads, width)
        with TemporaryDirectory() as folder:
            stage = Stage("measured", steps, SMALL.pretraining.batch, 1e-3)
            progress = train(GPT(config), stage, draw, 0, Path(folder) / "run.pt")
        return steps * stage.batch / progress.seconds

    return [
        (
            "cropped batches, one thread (one of the two runs at a time)",
            documents_per_second(cropped, 1, SMALL.width),
        ),
        ("cropped batches, two threads on one run", documents_per_second(cropped, 2, SMALL.width)),
        ("whole blocks of 127, one thread", documents_per_second(whole_block, 1, SMALL.width)),
        ("cropped batches, one thread, 256 wide", documents_per_second(cropped, 1, 256)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reference_speed")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, default=40)
    chosen = parser.parse_args()
    print("| forward pass | reference ms | torch ms | ratio |\n|---|---|---|---|")
    for name, ours, theirs in compare_forward(chosen.rounds):
        print(f"| {name} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} |")
    speeds = training_speeds(chosen.steps)
    print("\n| pretraining step, 2 layers | documents/s | ratio |\n|---|---|---|")
    for name, speed in speeds:
        print(f"| {name} | {speed:.0f} | {speed / speeds[0][1]:.2f} |")


if __name__ == "__main__":
    main()
