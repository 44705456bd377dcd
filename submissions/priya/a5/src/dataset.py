import numpy as np
import torch
from torch.utils.data import Dataset

print("loading dataset.py, numpy", np.__version__)


class CharCorruptionDataset(Dataset):
    MASK_CHAR = u"\u2047"
    PAD_CHAR = u"\u25A1"

    def __init__(self, data, block_size):
        vocabulary = [self.PAD_CHAR, self.MASK_CHAR] + sorted(list(set(data)))
        self.stoi = dict(zip(vocabulary, range(len(vocabulary))))
        self.itos = dict(zip(range(len(vocabulary)), vocabulary))
        self.vocab_size = len(vocabulary)
        self.block_size = block_size
        self.longest = 7 * block_size // 8
        self.data = data.split('\n')
        print('data has %d characters, %d unique.' % (len(data), self.vocab_size))

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        doc = self.data[idx]
        doc = doc[:np.random.randint(4, self.longest + 1)]

        # masked length ~ Binomial(n, 1/4): n/4 on average, sometimes more and sometimes less
        n_masked = np.random.binomial(len(doc), 0.25)
        begin = np.random.randint(0, len(doc) - n_masked + 1)
        end = begin + n_masked

        s = doc[:begin] + self.MASK_CHAR + doc[end:] + self.MASK_CHAR + doc[begin:end] + self.MASK_CHAR
        s = s.ljust(self.block_size + 1, self.PAD_CHAR)
        ids = torch.LongTensor([self.stoi[c] for c in s])
        return ids[:-1], ids[1:]
