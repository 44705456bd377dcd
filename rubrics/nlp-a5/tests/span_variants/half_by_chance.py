"""A random share of up to one half, rounded down; randrange; the mask is found by its end."""

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
        document = self.data[idx][: random.randrange(4, int(self.block_size * 7 / 8) + 1)]
        length = int(random.random() / 2 * len(document))
        stop = random.randrange(length, len(document) + 1)
        start = stop - length
        text = document[:start] + "⁇" + document[stop:] + "⁇" + document[start:stop]
        ids = [self.stoi[c] for c in text] + [0] * (self.block_size - len(text))
        return torch.tensor(ids[:-1]), torch.tensor(ids[1:])
