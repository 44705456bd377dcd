import random

import torch
from torch.utils.data import Dataset


class CharCorruptionDataset(Dataset):
    def __init__(self, data, block_size):
        self.chars = ["□", "⁇"] + sorted(set(data))
        self.stoi = {c: i for i, c in enumerate(self.chars)}
        self.itos = {i: c for i, c in enumerate(self.chars)}
        self.vocab_size = len(self.chars)
        self.block_size = block_size
        self.data = data.split("\n")

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        d = self.data[idx]
        d = d[:random.randint(4, self.block_size * 7 // 8)]
        m = random.randint(len(d) // 8, 3 * len(d) // 8)
        p = random.randint(0, len(d) - m)
        s = d[:p] + "⁇" + d[p + m:] + "⁇" + d[p:p + m]
        s += "□" * (self.block_size - len(s))
        return tuple(torch.tensor([self.stoi[c] for c in part]) for part in (s[:-1], s[1:]))
