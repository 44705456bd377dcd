import torch.nn as nn


def precompute_rotary_emb(dim, max_positions):
    rope_cache = None
    # TODO
    return rope_cache


def apply_rotary_emb(x, rope_cache):
    rotated_x = None
    return rotated_x


class SynthesizerAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.value = nn.Linear(config.n_embd, config.n_embd)

    def forward(self, x):
        raise NotImplementedError
