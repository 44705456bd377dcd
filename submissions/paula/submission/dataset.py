import random

import torch

MASK, PAD = "⁇", "□"


class CharCorruptionDataset(torch.utils.data.Dataset):
    def __init__(self, data, block_size):
        self.letters = [PAD, MASK] + sorted(set(data))
        self.stoi = {letter: i for i, letter in enumerate(self.letters)}
        self.itos = dict(enumerate(self.letters))
        self.vocab_size = len(self.letters)
        self.block_size = block_size
        self.data = data.split("\n")

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        doc = self.data[idx][:random.randint(4, self.block_size * 7 // 8)]
        n = random.randint(0, len(doc) // 2)
        i = random.randint(0, len(doc) - n)
        prefix, masked, suffix = doc[:i], doc[i:i + n], doc[i + n:]
        s = prefix + MASK + masked + MASK + suffix
        s += PAD * (self.block_size - len(s))
        t = torch.tensor([self.stoi[c] for c in s])
        return t[:-1], t[1:]
