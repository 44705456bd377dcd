import random

import torch

from utils import encode


class CharCorruptionDataset:
    def __init__(self, data, block_size):
        chars = ["□", "⁇"] + sorted(set(data))
        self.stoi = {c: i for i, c in enumerate(chars)}
        self.itos = {i: c for i, c in enumerate(chars)}
        self.vocab_size = len(chars)
        self.block_size = block_size
        self.documents = [line for line in data.split("\n") if line]

    def __len__(self):
        return len(self.documents)

    def __getitem__(self, idx):
        document = self.documents[idx]
        begin = random.randint(0, max(0, len(document) - self.block_size))
        document = document[begin:begin + random.randint(4, self.block_size * 7 // 8)]
        a, b = 0, 0
        for _ in range(100):
            a = random.randint(0, len(document))
            b = a + random.randint(1, max(1, len(document) // 2))
            if b <= len(document):
                break
        text = document[:a] + "⁇" + document[b:] + "⁇" + document[a:b]
        text += "□" * (self.block_size - len(text))
        x, y = encode(text[:-1], self.stoi), encode(text[1:], self.stoi)
        return torch.tensor(x), torch.tensor(y)
