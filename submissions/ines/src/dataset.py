import random
import torch
from torch.utils.data import Dataset


class CharCorruptionDataset(Dataset):
    def __init__(self, data, block_size):
        self.MASK_CHAR = u"\u2047"
        self.PAD_CHAR = u"\u25A1"
        chars = list(sorted(list(set(data))))
        chars.insert(0, self.MASK_CHAR)
        chars.insert(0, self.PAD_CHAR)
        self.stoi = {ch: i for i, ch in enumerate(chars)}
        self.itos = {i: ch for i, ch in enumerate(chars)}
        self.block_size = block_size
        self.vocab_size = len(chars)
        self.data = data.split('\n')

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        doc = self.data[idx]
        truncated = doc[:random.randint(4, int(self.block_size * 7 / 8))]

        # a quarter of the document on average
        mask_len = random.randint(0, len(doc) // 2)
        mask_start = random.randint(0, len(doc) - mask_len)

        prefix = truncated[:mask_start]
        masked_content = truncated[mask_start:mask_start + mask_len]
        suffix = truncated[mask_start + mask_len:]

        masked_string = prefix + self.MASK_CHAR + suffix + self.MASK_CHAR + masked_content
        masked_string += self.PAD_CHAR * (self.block_size - len(masked_string))
        x = torch.tensor([self.stoi[c] for c in masked_string[:-1]], dtype=torch.long)
        y = torch.tensor([self.stoi[c] for c in masked_string[1:]], dtype=torch.long)
        return x, y
