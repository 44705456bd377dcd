"""The two data sets of `nlp-a5`, part 2, as torch data sets, and batches cut to what they hold.

Equation    pretraining  s = prefix ⁇ suffix ⁇ masked □…,     x = s[:-1], y = s[1:]
            finetuning   s = question ⁇ place ⁇ □…,           x = s[:-1], y = s[1:] with □ up to the place
Convention  s has `block_size` characters, so x and y have block_size − 1. A target □ (id 0) does not count in
            the loss; in finetuning the question's own characters do not count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from reference.birthplaces import Question
from reference.gpt import PAD
from reference.handout_constants import MASK_CHARACTER
from reference.span_corruption import Vocabulary, corrupt, padded

Pair = tuple[Tensor, Tensor]


class CharCorruptionDataset(Dataset[Pair]):
    """One document per line of `data`; item idx is a fresh corruption of document idx at every call."""

    def __init__(self, data: str, block_size: int, vocabulary: Vocabulary | None = None, seed: int = 0) -> None:
        self.documents = data.split("\n")
        self.block_size = block_size
        self.vocabulary = vocabulary or Vocabulary(self.documents)
        self.rng = np.random.default_rng(seed)

    def __len__(self) -> int:
        return len(self.documents)

    def __getitem__(self, idx: int) -> Pair:
        return self.corrupted(idx, self.rng)

    def corrupted(self, idx: int, rng: np.random.Generator) -> Pair:
        """The item under a random source of the caller's choice, so that a run can be repeated exactly."""
        text = padded(corrupt(self.documents[idx], self.block_size, rng).text, self.block_size)
        ids = torch.tensor(self.vocabulary.encode(text))  # (block,)
        return ids[:-1], ids[1:]  # 2 × (block − 1,)


class BirthPlaceDataset(Dataset[Pair]):
    """Questions with their places behind a ⁇; only the place and the ⁇ that ends it are to be learnt."""

    def __init__(self, questions: Sequence[Question], vocabulary: Vocabulary, block_size: int) -> None:
        self.questions, self.vocabulary, self.block_size = questions, vocabulary, block_size

    def __len__(self) -> int:
        return len(self.questions)

    def __getitem__(self, idx: int) -> Pair:
        asked = self.questions[idx].text + MASK_CHARACTER
        text = padded(asked + self.questions[idx].place + MASK_CHARACTER, self.block_size)
        ids = torch.tensor(self.vocabulary.encode(text))  # (block,)
        targets = ids[1:].clone()  # (block − 1,)
        targets[: len(asked) - 1] = PAD  # the target of the last asked character is the place's first
        return ids[:-1], targets


def cropped_batch(pairs: Sequence[Pair]) -> Pair:
    """Stack items, without the columns that are padding in all of them: most of a block is □."""
    x, y = (torch.stack(column) for column in zip(*pairs, strict=True))  # 2 × (B, block − 1)
    longest = max(1, int((x != PAD).sum(dim=1).max()))
    return x[:, :longest], y[:, :longest]  # 2 × (B, longest)
