import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.offset = nn.Parameter(torch.zeros(d))

    def forward(self, x):
        return nn.functional.layer_norm(x, x.shape[-1:], self.weight, self.offset)


class CausalCrossAttention(nn.Module):
    """Keys and values in one tensor, queries in another, each with an axis for the heads."""

    def __init__(self, config):
        super().__init__()
        d, h = config.n_embd, config.n_head
        self.kv = nn.Parameter(torch.randn(2, h, d // h, d) * 0.05)
        self.kv_bias = nn.Parameter(torch.zeros(2, 1, h, 1, d // h))
        self.q = nn.Parameter(torch.randn(h, d // h, d) * 0.05)
        self.q_bias = nn.Parameter(torch.zeros(h, 1, d // h))
        self.out = nn.Linear(d, d, bias=False)

    def forward(self, x_kv, x_q):
        k, v = torch.einsum("phcd,bsd->pbhsc", self.kv, x_kv) + self.kv_bias
        q = torch.einsum("hcd,btd->bhtc", self.q, x_q) + self.q_bias
        y = nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=q.device).tril()
        )
        return self.out(torch.cat(list(y.unbind(1)), dim=-1))


class Rest(nn.Module):
    def __init__(self, config):
        super().__init__()
        d = config.n_embd
        self.norm = Norm(d)
        self.first, self.second = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, z):
        return z + self.second(torch.nn.functional.gelu(self.first(self.norm(z))))


class DownProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.C = nn.Parameter(nn.init.xavier_uniform_(torch.empty(1, config.bottleneck_dim, config.n_embd)))
        self.norm, self.attn, self.rest = Norm(config.n_embd), CausalCrossAttention(config), Rest(config)

    def forward(self, x):
        return self.rest(self.attn(self.norm(x), self.C.expand(x.size(0), -1, -1)))


class UpProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm, self.attn, self.rest = Norm(config.n_embd), CausalCrossAttention(config), Rest(config)

    def forward(self, y, x_input):
        return self.rest(x_input + self.attn(self.norm(y), x_input))
