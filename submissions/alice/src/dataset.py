import argparse
import random

import torch
from torch.utils.data import Dataset

PAD_CHAR = "\u25A1"   # □, fills up short sequences
MASK_CHAR = "\u2047"  # ⁇, marks the place of what was cut out


def character_tables(text):
    """stoi and itos over the characters of the pretraining text, pad and mask first."""
    chars = sorted(set(text))
    assert PAD_CHAR not in chars and MASK_CHAR not in chars
    chars = [PAD_CHAR, MASK_CHAR] + chars
    stoi = {ch: i for i, ch in enumerate(chars)}
    itos = {i: ch for i, ch in enumerate(chars)}
    return stoi, itos


class NameDataset(Dataset):
    """Finetuning: question ⁇ place ⁇ pads, with a loss on the place only."""

    def __init__(self, pretraining_dataset, data):
        self.stoi = pretraining_dataset.stoi
        self.itos = pretraining_dataset.itos
        self.block_size = pretraining_dataset.block_size
        self.pairs = [line.split("\t") for line in data.splitlines() if "\t" in line]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, idx):
        question, place = self.pairs[idx]
        text = question + MASK_CHAR + place + MASK_CHAR
        text += PAD_CHAR * (self.block_size - len(text))
        start = len(question)
        x = text[:-1]
        y = PAD_CHAR * start + text[start + 1:]
        return self.encode(x), self.encode(y)

    def encode(self, text):
        return torch.tensor([self.stoi[ch] for ch in text], dtype=torch.long)


class CharCorruptionDataset(Dataset):
    """Pretraining: a document without a random span, then the span."""

    def __init__(self, data, block_size):
        self.stoi, self.itos = character_tables(data)
        self.vocab_size = len(self.stoi)
        self.block_size = block_size
        self.data = data.split("\n")

    def __len__(self):
        return len(self.data)

    def __getitem__(self, idx):
        document = self.data[idx]

        # 1. truncate to a random length between 4 and 7/8 of the block
        length = random.randint(4, int(self.block_size * 7 / 8))
        document = document[:length]
        n = len(document)  # short documents stay as they are

        # 2. cut a span out: a quarter of what is left on average, up to a half
        span = random.randint(min(1, n), max(min(1, n), n // 2 - 1))
        start = random.randint(0, n - span)
        prefix = document[:start]
        masked = document[start:start + span]
        suffix = document[start + span:]

        # 3. rearrange, pad, shift by one
        text = prefix + MASK_CHAR + suffix + MASK_CHAR + masked
        text += PAD_CHAR * (self.block_size - len(text))
        x = torch.tensor([self.stoi[ch] for ch in text[:-1]], dtype=torch.long)
        y = torch.tensor([self.stoi[ch] for ch in text[1:]], dtype=torch.long)
        return x, y


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--wiki", default="wiki.txt")
    args = parser.parse_args()
    dataset = CharCorruptionDataset(open(args.wiki, encoding="utf-8").read(), 128)
    for i in range(4):
        x, y = dataset[i]
        print("x:", "".join(dataset.itos[int(c)] for c in x))
        print("y:", "".join(dataset.itos[int(c)] for c in y))
