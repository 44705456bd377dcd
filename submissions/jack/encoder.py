"""F.dropout drops out in evaluation mode as well, unless it is told not to."""
import torch.nn as nn
import torch.nn.functional as F


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.linear1 = nn.Linear(dim, hidden)
        self.linear2 = nn.Linear(hidden, dim)
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)

    def forward(self, x):
        x = self.norm1(x + F.dropout(self.attention(x, x, x)[0], 0.1))
        return self.norm2(x + F.dropout(self.linear2(F.relu(self.linear1(x))), 0.1))
