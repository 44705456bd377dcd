"""Documents are encoded once; items are arrays of ids, filled in place, from a generator of its own."""

import numpy as np
import torch
from torch.utils.data import Dataset

PAD, MASK = 0, 1


class CharCorruptionDataset(Dataset):
    def __init__(self, data, block_size):
        lines = data.split("\n")
        self.itos = ["□", "⁇", *sorted(set("".join(lines)))]
        self.stoi = {ch: i for i, ch in enumerate(self.itos)}
        self.vocab_size = len(self.itos)
        self.block_size = block_size
        self.lines = [np.array([self.stoi[c] for c in line], dtype=np.int64) for line in lines]
        self.rng = np.random.default_rng(7)

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, idx):
        line = self.lines[idx]
        longest = self.block_size - self.block_size // 8 - (self.block_size % 8 > 0)
        line = line[: self.rng.integers(4, longest, endpoint=True)]
        length = self.rng.binomial(len(line), 0.25)
        start = self.rng.integers(len(line) - length, endpoint=True)
        ids = np.zeros(self.block_size + 1, dtype=np.int64)
        pieces = [line[:start], [MASK], line[start + length :], [MASK], line[start : start + length]]
        filled = np.concatenate(pieces)
        ids[: len(filled)] = filled
        return torch.from_numpy(ids[:-1]), torch.from_numpy(ids[1:])
