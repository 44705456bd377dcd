"""A rounded and clipped Gaussian around a quarter; an empty document is all pads."""

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
        document = self.data[idx]
        if not document:
            pads = torch.zeros(self.block_size - 1, dtype=torch.long)
            return pads, pads
        document = document[: random.randint(4, int(self.block_size * 7 / 8))]
        n = len(document)
        length = min(n, max(1, round(random.gauss(n / 4, n / 16))))
        start = random.randrange(n - length + 1)
        text = f"{document[:start]}⁇{document[start + length :]}⁇{document[start : start + length]}"
        text = f"{text:□<{self.block_size}}"
        ids = [self.stoi[c] for c in text]
        return torch.tensor(ids[:-1], dtype=torch.long), torch.tensor(ids[1:], dtype=torch.long)
