"""Hands the whole block to torch, whose layer moreover takes the batch for the tokens."""
from torch import nn


class EncoderBlock(nn.TransformerEncoderLayer):
    def __init__(self, dim, heads, hidden):
        super().__init__(dim, heads, hidden)
