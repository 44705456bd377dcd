"""A quarter, give or take two, by slices of one tensor of ids; two random cuts give the window."""

import random

import torch
from torch.utils.data import Dataset


class CharCorruptionDataset(Dataset):
    def __init__(self, data, block_size):
        chars = ["□", "⁇", *sorted(set(data.replace("\n", "")))]
        self.stoi = {ch: i for i, ch in enumerate(chars)}
        self.itos = dict(enumerate(chars))
        self.vocab_size = len(chars)
        self.block_size = block_size
        self.data = [torch.tensor([self.stoi[c] for c in line], dtype=torch.long) for line in data.split("\n")]

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        document = self.data[idx]
        kept = min(len(document), random.randint(4, self.block_size * 7 // 8))
        begin = random.randint(0, len(document) - kept)
        piece = document[begin : begin + kept]
        length = min(kept, int(kept / 4 + random.random() * 5 - 2))
        start = random.randint(0, kept - max(0, length))
        stop = start + max(0, length)
        mask = torch.ones(1, dtype=torch.long)
        ids = torch.cat([piece[:start], mask, piece[stop:], mask, piece[start:stop]])
        ids = torch.nn.functional.pad(ids, (0, self.block_size - len(ids)))
        return ids[:-1], ids[1:]
