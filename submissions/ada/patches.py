from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image, patch, channels, dim):
        super().__init__()
        self.patch = patch
        self.project = nn.Linear(channels * patch * patch, dim)

    def forward(self, images):
        B, C, H, W = images.shape
        p = self.patch
        tiles = images.reshape(B, C, H // p, p, W // p, p).permute(0, 2, 4, 1, 3, 5)
        return self.project(tiles.reshape(B, (H // p) * (W // p), C * p * p))
