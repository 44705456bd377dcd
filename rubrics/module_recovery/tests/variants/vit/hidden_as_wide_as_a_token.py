import math
import torch
import torch.nn.functional as F
from torch import nn


class MSA(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.h, self.d = heads, dim // heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, dim)
        self.drop = nn.Dropout(0.1)

    def split(self, t):
        return t.reshape(t.shape[0], t.shape[1], self.h, self.d).permute(0, 2, 1, 3)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        w = torch.matmul(q, k.permute(0, 1, 3, 2)) / math.sqrt(self.d)
        w = self.drop(F.softmax(w, dim=-1))
        y = torch.matmul(w, v).permute(0, 2, 1, 3).contiguous().view(x.shape)
        return self.out(y)


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.attention = MSA(dim, heads)
        self.ln1 = nn.LayerNorm(dim)
        self.ln2 = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, dim)

    def forward(self, x):
        x = self.ln1(x + self.attention(x))
        return self.ln2(x + self.fc2(F.relu(self.fc1(x))))


class PatchEmbedding(nn.Module):
    def __init__(self, image, patch, channels, dim):
        super().__init__()
        self.p = patch
        self.n = (image // patch) ** 2
        self.lin = nn.Linear(channels * patch * patch, dim)

    def forward(self, x):
        rows = []
        for i in range(0, x.shape[2], self.p):
            for j in range(0, x.shape[3], self.p):
                rows.append(x[:, :, i : i + self.p, j : j + self.p].flatten(1))
        return self.lin(torch.stack(rows, 1))


class ViT(nn.Module):
    def __init__(self, image, patch, channels, dim, depth, heads, classes):
        super().__init__()
        self.patches = PatchEmbedding(image, patch, channels, dim)
        n = self.patches.n
        self.token = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.position = nn.Embedding(n + 1, dim)
        self.register_buffer("ids", torch.arange(n + 1))
        self.blocks = nn.Sequential(*[EncoderBlock(dim, heads, dim) for _ in range(depth)])
        self.classifier = nn.Linear(dim, classes)

    def forward(self, img):
        x = self.patches(img)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), dim=1)
        x = x + self.position(self.ids)
        x = self.blocks(x)
        return self.classifier(x[:, 0])
