"""Training one stage of a run: batches by step number, AdamW, a checkpoint to go on from.

Equation    rate(s) = peak · min(1, (s+1)/warmup) · (0.03 + 0.97·½(1 + cos(πs/steps)))
Convention  the batch of step s is drawn from a random source seeded by (seed, stage, s) alone. A run that was
            stopped and taken up again sees the same batches as one that was not, and ends in the same
            weights, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi
from pathlib import Path
from time import perf_counter
from zlib import crc32

import numpy as np
import torch
from torch import nn

from reference.datasets import Pair
from reference.gpt import GPT

STEPS_BETWEEN_CHECKPOINTS = 500
WARMUP_STEPS = 100
LARGEST_GRADIENT = 1.0  # norm above which a gradient is scaled down


@dataclass(frozen=True)
class Stage:
    name: str
    steps: int
    batch: int
    peak_rate: float

    def rate(self, step: int) -> float:
        warm = min(1.0, (step + 1) / min(WARMUP_STEPS, self.steps))
        return self.peak_rate * warm * (0.03 + 0.97 * 0.5 * (1 + cos(pi * step / self.steps)))


@dataclass
class Progress:
    """How far a stage has come; seconds and tokens count over all the sittings it took."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    loss: float = float("nan")


DrawBatch = Callable[[np.random.Generator, int], Pair]


def train(
    model: GPT,
    stage: Stage,
    draw_batch: DrawBatch,
    seed: int,
    checkpoint: Path,
    report: Callable[[Progress], None] = lambda progress: None,
    stop_after: int | None = None,
) -> Progress:
    """Train the model in place, from the checkpoint if there is one; `stop_after` steps, leave off early."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, betas=(0.9, 0.95), weight_decay=0.0, fused=True)
    progress = Progress()
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        progress = Progress(**saved["progress"])
    last = stage.steps if stop_after is None else min(stage.steps, progress.step + stop_after)
    model.train()
    while progress.step < last:
        started = perf_counter()
        rng = np.random.default_rng([seed, crc32(stage.name.encode()), progress.step])
        ids, targets = draw_batch(rng, stage.batch)  # 2 × (B, T)
        for group in optimizer.param_groups:
            group["lr"] = stage.rate(progress.step)
        loss = model.loss(ids, targets)  # scalar
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
        optimizer.step()
        progress.step += 1
        progress.tokens += ids.numel()
        progress.seconds += perf_counter() - started
        progress.loss = loss.item()
        report(progress)
        if progress.step % STEPS_BETWEEN_CHECKPOINTS == 0 or progress.step == last:
            save(checkpoint, model, optimizer, progress)
    model.eval()
    return progress


def save(checkpoint: Path, model: GPT, optimizer: torch.optim.Optimizer, progress: Progress) -> None:
    """Write beside the old checkpoint first: an interruption leaves one whole file, old or new."""
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    unfinished = checkpoint.with_suffix(".unfinished")
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "progress": vars(progress)}
    torch.save(state, unfinished)
    unfinished.replace(checkpoint)
