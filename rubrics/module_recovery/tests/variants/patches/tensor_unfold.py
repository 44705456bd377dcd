from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image, patch, channels, dim):
        super().__init__()
        self.size = patch
        self.to_tokens = nn.Sequential(nn.LazyLinear(dim), nn.Dropout(0.3))

    def forward(self, x):
        grid = x.unfold(2, self.size, self.size).unfold(3, self.size, self.size)  # B, C, rows, columns, P, P
        grid = grid.permute(0, 2, 3, 4, 5, 1).flatten(1, 2).flatten(2)
        return self.to_tokens(grid)
