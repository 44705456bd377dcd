"""Lists of letters instead of strings; an eighth to three eighths, rounded down; never longer than the document."""

import random

import torch
from torch.utils.data import Dataset


class CharCorruptionDataset(Dataset):
    def __init__(self, data, block_size):
        chars = sorted(set(data))
        chars = ["□", "⁇", *chars]
        self.stoi, self.itos = {}, {}
        for i, ch in enumerate(chars):
            self.stoi[ch] = i
            self.itos[i] = ch
        self.block_size = block_size
        self.data = [list(line) for line in data.split("\n")][:-1]

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        letters = self.data[idx]
        longest = min(len(letters), int(self.block_size * 7 / 8))
        if longest > 4:
            letters = letters[: random.randint(4, longest)]
        length = int(random.uniform(1 / 8, 3 / 8) * len(letters))
        start = random.randint(0, len(letters) - length)
        masked = letters[start : start + length]
        result = [*letters[:start], self.itos[1], *letters[start + length :], self.itos[1], *masked]
        while len(result) < self.block_size:
            result.append(self.itos[0])
        x = torch.tensor([self.stoi[c] for c in result[:-1]], dtype=torch.int64)
        y = torch.tensor([self.stoi[c] for c in result[1:]], dtype=torch.int64)
        return [x, y]
