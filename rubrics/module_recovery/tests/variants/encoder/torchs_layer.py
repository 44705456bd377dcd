from torch import nn


class EncoderBlock(nn.TransformerEncoderLayer):
    def __init__(self, dim, heads, hidden):
        super().__init__(dim, heads, dim_feedforward=hidden, batch_first=True)
