"""Span corruption."""
import torch
from torch import Tensor
from torch.utils.data import Dataset

from .vocabulary import MASK, PAD, numbering


def uniform(low: int, high: int) -> int:
    """A whole number from low to high, both possible."""
    return int(torch.randint(low, high + 1, ()))


class CharCorruptionDataset(Dataset):
    def __init__(self, data: str, block_size: int):
        self.block_size = block_size
        self.stoi = numbering(data)
        self.itos = {number: character for character, number in self.stoi.items()}
        self.documents = data.splitlines()

    @property
    def vocab_size(self) -> int:
        return len(self.stoi)

    def __len__(self) -> int:
        return len(self.documents)

    def __getitem__(self, idx: int) -> tuple[Tensor, Tensor]:
        prefix, masked, suffix = self.cut(self.truncate(self.documents[idx]))
        string = f"{prefix}{MASK}{suffix}{MASK}{masked}".ljust(self.block_size, PAD)
        encoded = torch.tensor(list(map(self.stoi.__getitem__, string)))
        return encoded[:-1], encoded[1:]

    def truncate(self, document: str) -> str:
        longest = min(len(document), self.block_size * 7 // 8)
        return document[:uniform(min(4, longest), longest)]

    def cut(self, document: str) -> tuple[str, str, str]:
        """Masked length: a quarter on average, from about an eighth to about three eighths."""
        n = len(document)
        masked = round(n * (0.125 + 0.25 * torch.rand(()).item()))
        start = uniform(0, n - masked)
        return document[:start], document[start:start + masked], document[start + masked:]
