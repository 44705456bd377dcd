import random
from typing import List, Tuple

import torch
from torch import Tensor
from torch.utils.data import Dataset


class CharCorruptionDataset(Dataset):
    def __init__(self, data: str, block_size: int) -> None:
        vocabulary: List[str] = ["\u25A1", "\u2047", *sorted(set(data))]
        self.stoi = {c: i for i, c in enumerate(vocabulary)}
        self.itos = {i: c for i, c in enumerate(vocabulary)}
        self.vocab_size = len(vocabulary)
        self.block_size = block_size
        self.documents = data.split("\n")

    def __len__(self) -> int:
        return len(self.documents)

    def __getitem__(self, idx: int) -> Tuple[Tensor, Tensor]:
        document = self.documents[idx]
        document = document[:random.randint(4, self.block_size * 7 // 8)]
        # each of the two cuts is one of two random places, which makes the piece between them a quarter on average
        size = len(document)
        masked = int(size * random.triangular(0, 0.5, 0.25))
        first = random.randint(0, size - masked)
        last = first + masked
        parts = [document[:first], "\u2047", document[last:], "\u2047", document[first:last]]
        text = "".join(parts).ljust(self.block_size, "\u25A1")
        ids = torch.tensor([self.stoi[c] for c in text], dtype=torch.long)
        return ids[:-1], ids[1:]
