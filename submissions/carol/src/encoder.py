"""Made for one width only."""
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.attention = nn.MultiheadAttention(512, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(512), nn.LayerNorm(512)
        self.ffn = nn.Sequential(nn.Linear(512, hidden), nn.ReLU(), nn.Linear(hidden, 512))

    def forward(self, x):
        x = self.norm1(x + self.attention(x, x, x)[0])
        return self.norm2(x + self.ffn(x))
