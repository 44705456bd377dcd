"""As most write it: randint, the document's beginning, strings."""

import argparse
import random

import torch
from torch.utils.data import Dataset


class CharCorruptionDataset(Dataset):
    def __init__(self, data, block_size):
        self.MASK_CHAR = "\u2047"
        self.PAD_CHAR = "\u25a1"
        chars = sorted(set(data))
        assert self.MASK_CHAR not in chars
        assert self.PAD_CHAR not in chars
        chars.insert(0, self.MASK_CHAR)
        chars.insert(0, self.PAD_CHAR)
        self.stoi = {ch: i for i, ch in enumerate(chars)}
        self.itos = dict(enumerate(chars))
        print(f"data has {len(data)} characters, {len(chars)} unique.")
        self.block_size = block_size
        self.vocab_size = len(chars)
        self.data = data.split("\n")

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        document = self.data[idx]
        kept = random.randint(4, int(self.block_size * 7 / 8))
        document = document[:kept]
        most = len(document) // 2
        masked_length = random.randint(min(1, most), most)
        start = random.randint(0, len(document) - masked_length)
        prefix = document[:start]
        masked = document[start : start + masked_length]
        suffix = document[start + masked_length :]
        text = prefix + self.MASK_CHAR + suffix + self.MASK_CHAR + masked
        text += self.PAD_CHAR * (self.block_size - len(text))
        x = torch.tensor([self.stoi[c] for c in text[:-1]], dtype=torch.long)
        y = torch.tensor([self.stoi[c] for c in text[1:]], dtype=torch.long)
        return x, y


if __name__ == "__main__":
    argparse.ArgumentParser().parse_args()
