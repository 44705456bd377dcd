"""A Poisson length, cut to what there is; empty documents are left out of the data set."""

import numpy as np
import torch
from torch.utils.data import Dataset


class CharCorruptionDataset(Dataset):
    def __init__(self, data, block_size):
        chars = ["□", "⁇", *sorted(set(data))]
        self.stoi = {ch: i for i, ch in enumerate(chars)}
        self.itos = dict(enumerate(chars))
        self.block_size = block_size
        self.data = [line for line in data.split("\n") if line]

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        document = self.data[idx]
        document = document[: np.random.randint(4, int(self.block_size * 7 / 8) + 1)]
        length = min(np.random.poisson(len(document) / 4), len(document))
        start = np.random.randint(len(document) - length + 1)
        stop = start + length
        text = document[:start] + "⁇" + document[stop:] + "⁇" + document[start:stop]
        text = text + "□" * (self.block_size - len(text))
        ids = np.array([self.stoi[c] for c in text])
        return torch.from_numpy(ids[:-1].copy()), torch.from_numpy(ids[1:].copy())
