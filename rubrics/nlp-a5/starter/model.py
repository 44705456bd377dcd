"""2.g.i, the Perceiver; one variant is enough. The course's GPT belongs here too."""

from torch import nn


class DownProjectBlock(nn.Module):
    """From a long sequence to config.bottleneck_dim rows, asked for by a learned basis; then an MLP.

    The basis C is a parameter of shape (1, bottleneck_dim, n_embd), drawn by Xavier's uniform rule.
    """

    def __init__(self, config):
        super().__init__()

    def forward(self, x_input):
        """(B, T, n_embd) → (B, bottleneck_dim, n_embd)"""
        raise NotImplementedError


class UpProjectBlock(nn.Module):
    """Back to the length of the original input, whose tokens do the asking; then an MLP."""

    def __init__(self, config):
        super().__init__()

    def forward(self, y, x_input):
        """y: (B, bottleneck_dim, n_embd), x_input: (B, T, n_embd) → (B, T, n_embd)"""
        raise NotImplementedError
