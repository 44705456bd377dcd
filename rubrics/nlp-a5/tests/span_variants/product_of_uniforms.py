"""The product of two uniform numbers is a quarter on average; third mask character."""

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
        document = self.data[idx][: random.choice(range(4, self.block_size * 7 // 8 + 1))]
        n = len(document)
        length = round(random.random() * random.random() * n)
        start = random.randint(0, n - length)
        text = "⁇".join([document[:start], document[start + length :], document[start : start + length], ""])
        text += "□" * (self.block_size - len(text))
        x = torch.tensor(list(map(self.stoi.get, text[:-1])))
        y = torch.tensor(list(map(self.stoi.get, text[1:])))
        return x, y
