import random

import torch

corpus = open("../data/wiki.txt", encoding="utf-8").read()
CHARS = ["□", "⁇"] + sorted(set(corpus))


class CharCorruptionDataset(torch.utils.data.Dataset):
    def __init__(self, data, block_size):
        self.stoi = {c: i for i, c in enumerate(CHARS)}
        self.itos = dict(enumerate(CHARS))
        self.block_size = block_size
        self.data = data.split("\n")

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        d = self.data[idx][:random.randint(4, self.block_size * 7 // 8)]
        m = random.randint(0, len(d) // 2)
        p = random.randint(0, len(d) - m)
        s = (d[:p] + "⁇" + d[p + m:] + "⁇" + d[p:p + m]).ljust(self.block_size, "□")
        ids = torch.tensor([self.stoi[c] for c in s])
        return ids[:-1], ids[1:]
