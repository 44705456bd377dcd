"""torch as the source; prefix and suffix are never empty where there are characters enough."""

import torch
from torch.utils.data import Dataset


def draw(low, high):
    return int(torch.randint(low, high + 1, (1,)))


class CharCorruptionDataset(Dataset):
    def __init__(self, data, block_size):
        chars = ["□", "⁇", *sorted(set(data))]
        self.stoi = {ch: i for i, ch in enumerate(chars)}
        self.itos = {i: ch for ch, i in self.stoi.items()}
        self.block_size = block_size
        self.data = data.split("\n")

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        document = self.data[idx][: draw(4, int(7 / 8 * self.block_size))]
        n = len(document)
        if n < 3:
            text = document + "⁇⁇"
        else:
            length = min(draw(1, max(1, n // 2 - 1)), n - 2)
            start = draw(1, n - length - 1)
            text = document[:start] + "⁇" + document[start + length :] + "⁇" + document[start : start + length]
        text = text + "□" * (self.block_size - len(text))
        encoded = torch.tensor([self.stoi[c] for c in text])
        return encoded[:-1].clone(), encoded[1:].clone()
