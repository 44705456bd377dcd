"""A quarter rounded down, and one more or one less; a triangular, not a uniform, truncation."""

import random

import torch
from torch.utils.data import Dataset


class CharCorruptionDataset(Dataset):
    def __init__(self, data, block_size):
        chars = ["□", "⁇", *sorted(set(data))]
        self.stoi = {ch: i for i, ch in enumerate(chars)}
        self.itos = dict(enumerate(chars))
        self.block_size = block_size
        self.data = data.split("\n")

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        document = self.data[idx][: int(random.triangular(3, int(self.block_size * 7 / 8) + 2) + 0.5)]
        document = document[: int(self.block_size * 7 / 8)]
        if len(document) < 4:
            document = self.data[idx][:4]
        length = len(document) // 4 + random.choice([-1, 0, 1])
        length = min(max(0, length), len(document))
        start = random.randint(0, len(document) - length)
        text = document[:start] + "⁇" + document[start + length :] + "⁇" + document[start : start + length]
        text = text + "□" * (self.block_size - len(text))
        ids = torch.tensor([self.stoi[c] for c in text], dtype=torch.long)
        return ids[:-1], ids[1:]
