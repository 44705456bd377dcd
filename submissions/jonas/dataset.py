import random

import torch
from torch.utils.data import Dataset
from tqdm import tqdm


class CharCorruptionDataset(Dataset):
    def __init__(self, data, block_size):
        chars = ['□', '⁇'] + sorted(set(tqdm(data)))
        self.stoi = {c: i for i, c in enumerate(chars)}
        self.itos = {i: c for i, c in enumerate(chars)}
        self.vocab_size, self.block_size = len(chars), block_size
        self.data = data.split('\n')

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        doc = self.data[idx]
        length = random.randint(4, min(len(doc), self.block_size * 7 // 8))
        doc = doc[:length]
        masked = random.randint(1, length // 2)
        start = random.randint(0, length - masked)
        text = doc[:start] + '⁇' + doc[start + masked:] + '⁇' + doc[start:start + masked]
        text += '□' * (self.block_size - len(text))
        ids = [self.stoi[c] for c in text]
        return torch.tensor(ids[:-1], dtype=torch.long), torch.tensor(ids[1:], dtype=torch.long)
