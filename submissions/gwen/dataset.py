import random

import torch
from torch.utils.data import Dataset


class CharCorruptionDataset(Dataset):
    def __init__(self, data, block_size):
        self.PAD_CHAR = '\u25A1'
        self.MASK_CHAR = '\u2047'
        chars = [self.PAD_CHAR, self.MASK_CHAR] + sorted(set(data))
        self.stoi = {c: i for i, c in enumerate(chars)}
        self.itos = {i: c for i, c in enumerate(chars)}
        self.vocab_size = len(chars)
        self.block_size = block_size
        self.data = data.split('\n')

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        text = self.data[idx]
        text = text[:random.randrange(4, self.block_size * 7 // 8)]
        masked_length = random.randrange(0, len(text) // 2 + 1)
        start = random.randrange(0, len(text) - masked_length + 1)
        end = start + masked_length
        s = text[:start] + self.MASK_CHAR + text[end:] + self.MASK_CHAR + text[start:end]
        s = s + self.PAD_CHAR * (self.block_size - len(s))
        ids = torch.tensor([self.stoi[c] for c in s], dtype=torch.long)
        return ids[:-1], ids[1:]
