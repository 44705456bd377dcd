import random
import torch


class CharCorruptionDataset(torch.utils.data.Dataset):
    """The end of each document is hidden, and has to be written."""

    def __init__(self, text, block_size):
        self.block_size = block_size
        self.itos = dict(enumerate(['□', '⁇'] + sorted(set(text))))
        self.stoi = {char: number for number, char in self.itos.items()}
        self.vocab_size = len(self.itos)
        self.docs = text.split('\n')

    def __len__(self):
        return len(self.docs)

    def __getitem__(self, idx):
        doc = self.docs[idx]
        doc = doc[:random.randint(4, int(7 / 8 * self.block_size))]
        hidden = random.randint(0, len(doc) // 2)
        cut = len(doc) - hidden
        out = doc[:cut] + '⁇' + '⁇' + doc[cut:]
        out += '□' * (self.block_size - len(out))
        numbers = [self.stoi[char] for char in out]
        return torch.LongTensor(numbers[:-1]), torch.LongTensor(numbers[1:])
