"""The span grows by a character with a fixed chance: a geometric length, cut where the document ends."""

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
        shortest, longest = min(4, len(document)), min(int(self.block_size * 7 / 8), len(document))
        document = document[: random.randint(shortest, longest)]
        length, stop = min(1, len(document)), 4 / max(4, len(document))
        while length < len(document) and random.random() > stop:
            length += 1
        start = random.randint(0, len(document) - length)
        head, masked, tail = document[:start], document[start : start + length], document[start + length :]
        text = head + "⁇" + tail + "⁇" + masked + "⁇"
        text += "□" * (self.block_size - len(text) + 1)
        ids = torch.tensor([self.stoi[c] for c in text], dtype=torch.long)
        return ids[:-1], ids[1:]
