"""numpy's old randint, a window from a random start, a third mask character, a string of block + 1."""

import numpy as np
import torch
from torch.utils.data import Dataset


class CharCorruptionDataset(Dataset):
    def __init__(self, data, block_size):
        self.MASK_CHAR, self.PAD_CHAR = "⁇", "□"
        chars = [self.PAD_CHAR, self.MASK_CHAR, *sorted(set(data))]
        self.stoi = {ch: i for i, ch in enumerate(chars)}
        self.itos = dict(enumerate(chars))
        self.vocab_size, self.block_size = len(chars), block_size
        self.data = data.splitlines()

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        document = self.data[idx]
        kept = min(len(document), np.random.randint(4, self.block_size * 7 // 8 + 1))
        begin = np.random.randint(0, len(document) - kept + 1)
        piece = document[begin : begin + kept]
        length = np.random.randint(0, kept // 2 + 1)
        at = np.random.randint(0, kept - length + 1)
        masked = piece[at : at + length]
        text = piece[:at] + self.MASK_CHAR + piece[at + length :] + self.MASK_CHAR + masked + self.MASK_CHAR
        text = text.ljust(self.block_size + 1, self.PAD_CHAR)
        ids = torch.LongTensor([self.stoi[c] for c in text])
        return ids[:-1], ids[1:]
