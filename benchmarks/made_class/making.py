"""Writes a made class to a folder: honest students, and some who copied from one of them in a known disguise."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.made_class.disguises import (
    Disguise,
    helper_inlined,
    loops_rewritten,
    renamed,
    reordered,
    steps_named,
    together,
    translated,
)
from benchmarks.made_class.honest_code import Files, honest_files
from benchmarks.made_class.honest_prose import honest_answers

_CODE = ("attention.py", "multihead.py", "encoder.py", "patches.py", "vit.py")


def half_copied(files: Files, rng: random.Random) -> Files:
    """Three of five files are another's, renamed; the rest is one's own."""
    copied = rng.sample(_CODE, 3)
    return {**honest_files(rng.randrange(10**9)), **renamed({name: files[name] for name in copied}, rng)}


PLAIN: dict[str, Disguise] = {
    "renamed": renamed,
    "reordered": reordered,
    "comments translated": translated,
    "renamed and reordered": together(renamed, reordered),
    "reordered and translated": together(reordered, translated),
    "renamed, reordered and translated": together(renamed, reordered, translated),
}
HARD: dict[str, Disguise] = {
    "loops rewritten": loops_rewritten,
    "helper inlined": helper_inlined,
    "half copied": half_copied,
    "steps named": steps_named,
    "loops rewritten, reordered and translated": together(loops_rewritten, reordered, translated),
    "half copied, helper inlined": together(half_copied, helper_inlined),
    "half copied, steps named": together(half_copied, steps_named),
}

# What the course hands out beside the rubric's own starter: everybody has it, and most leave it as it is.
STARTER = '''"""Course code: trains a model and draws its loss. Leave it as it is."""
import torch
from torch import nn


class Trainer:
    def __init__(self, model, data, config):
        self.model, self.data, self.config = model, data, config
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.rate, betas=(0.9, 0.95))
        self.losses = []

    def epoch(self):
        self.model.train()
        for step, (images, labels) in enumerate(self.data):
            logits = self.model(images.to(self.config.device))
            loss = nn.functional.cross_entropy(logits, labels.to(self.config.device))
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
            self.optimizer.step()
            self.losses.append(loss.item())
            if step % self.config.every == 0:
                smooth = sum(self.losses[-20:]) / len(self.losses[-20:])
                self.config.log.write(f"{step} {smooth:.4f}")

    @torch.no_grad()
    def accuracy(self, data):
        self.model.eval()
        right = total = 0
        for images, labels in data:
            guessed = self.model(images.to(self.config.device)).argmax(dim=-1).cpu()
            right += (guessed == labels).sum().item()
            total += len(labels)
        return right / max(total, 1)
'''


@dataclass(frozen=True)
class Made:
    submissions: Path
    starter: Path
    planted: Mapping[tuple[str, str], str]  # the pair → its disguise


def make_class(folder: Path, students: int, seed: int, disguises: Mapping[str, Disguise]) -> Made:
    """Names say nothing about who copied; copies lie anywhere in the class."""
    rng = random.Random(seed)
    names = [f"s{number:05}" for number in range(students)]
    rng.shuffle(names)
    work: dict[str, Files] = {}
    planted: dict[tuple[str, str], str] = {}
    copiers = iter(names[: 2 * len(disguises)])
    for label, disguise in disguises.items():
        one, other = next(copiers), next(copiers)
        work[one] = _honest(rng.randrange(10**9))
        copied = disguise({name: text for name, text in work[one].items() if name in _CODE}, rng)
        work[other] = {**_honest(rng.randrange(10**9)), **copied}
        planted[(min(one, other), max(one, other))] = label
    for name in names[2 * len(disguises) :]:
        work[name] = _honest(rng.randrange(10**9))
    for number, name in enumerate(names):  # some rename in the course's code, some hand in nothing of it
        if number % 7 < 5:
            work[name]["trainer.py"] = STARTER
        elif number % 7 == 5:
            work[name]["src/trainer.py"] = STARTER.replace("model", "net").replace("loss", "cost")
    for name, files in work.items():
        for file, text in files.items():
            place = folder / "submissions" / name / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    starter = folder / "course"
    starter.mkdir()
    (starter / "trainer.py").write_text(STARTER, encoding="utf-8")
    return Made(folder / "submissions", starter, planted)


def _honest(seed: int) -> Files:
    return {**honest_files(seed), "answers.md": honest_answers(seed)}
