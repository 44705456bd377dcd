import torch.nn.functional as F
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image, patch, channels, dim):
        super().__init__()
        self.p = patch
        self.embed = nn.Linear(patch * patch * channels, dim, bias=False)

    def forward(self, img):
        return self.embed(F.unfold(img, self.p, stride=self.p).mT)
