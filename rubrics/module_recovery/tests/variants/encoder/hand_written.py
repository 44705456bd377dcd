# Everything as bare parameters: no Linear, no LayerNorm of torch's.
import torch
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        h = dim // heads
        self.W_q = nn.Parameter(torch.randn(heads, dim, h) * dim**-0.5)
        self.W_k = nn.Parameter(torch.randn(heads, dim, h) * dim**-0.5)
        self.W_v = nn.Parameter(torch.randn(heads, dim, h) * dim**-0.5)
        self.W_o = nn.Parameter(torch.randn(heads, h, dim) * dim**-0.5)
        self.W1 = nn.Parameter(torch.randn(dim, hidden) * dim**-0.5)
        self.b1 = nn.Parameter(torch.zeros(hidden))
        self.W2 = nn.Parameter(torch.randn(hidden, dim) * hidden**-0.5)
        self.b2 = nn.Parameter(torch.zeros(dim))
        self.gamma_1 = nn.Parameter(torch.ones(dim))
        self.beta_1 = nn.Parameter(torch.zeros(dim))
        self.gamma_2 = nn.Parameter(torch.ones(dim))
        self.beta_2 = nn.Parameter(torch.zeros(dim))

    @staticmethod
    def norm(x, gamma, beta):
        mean = x.mean(-1, keepdim=True)
        var = ((x - mean) ** 2).mean(-1, keepdim=True)
        return gamma * (x - mean) / (var + 1e-6).sqrt() + beta

    def forward(self, x):
        q = torch.einsum("bnd,hde->bhne", x, self.W_q)
        k = torch.einsum("bnd,hde->bhne", x, self.W_k)
        v = torch.einsum("bnd,hde->bhne", x, self.W_v)
        a = torch.einsum("bhne,bhme->bhnm", q, k) / q.shape[-1] ** 0.5
        a = a.softmax(dim=-1)
        o = torch.einsum("bhnm,bhme,hed->bnd", a, v, self.W_o)
        y = self.norm(x + o, self.gamma_1, self.beta_1)
        z = torch.clamp(y @ self.W1 + self.b1, min=0) @ self.W2 + self.b2
        return self.norm(y + z, self.gamma_2, self.beta_2)
