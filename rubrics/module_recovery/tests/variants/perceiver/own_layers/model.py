import torch
from torch import nn


class Affine(nn.Module):
    """Kept as (in, out), under names of its own."""

    def __init__(self, fan_in, fan_out):
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(fan_in, fan_out) * 0.05)
        self.added = nn.Parameter(torch.zeros(fan_out))

    def forward(self, x):
        return torch.tensordot(x, self.kernel, dims=1) + self.added


class Standardise(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.stretch = nn.Parameter(torch.ones(d))
        self.centre = nn.Parameter(torch.zeros(d))

    def forward(self, x):
        spread, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return (x - mean) / (spread + 1e-5).sqrt() * self.stretch + self.centre


class Asking(nn.Module):
    def __init__(self, config):
        super().__init__()
        d = config.n_embd
        self.n = config.n_head
        self.ask, self.offer, self.content, self.join = (Affine(d, d) for _ in range(4))

    def forward(self, rows, asking):
        shape = rows.size(0), -1, self.n, rows.size(-1) // self.n
        answers = []
        parts = (self.ask(asking).view(shape), self.offer(rows).view(shape), self.content(rows).view(shape))
        for q, k, v in zip(*(part.unbind(2) for part in parts)):
            s = torch.bmm(q, k.transpose(1, 2)) / shape[-1] ** 0.5
            seen = torch.ones_like(s).tril().bool()
            answers.append(torch.bmm(torch.where(seen, s, -1e9).softmax(-1), v))
        return self.join(torch.cat(answers, -1))


class Behind(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.up, self.down, self.level = Affine(d, 4 * d), Affine(4 * d, d), Standardise(d)

    def forward(self, z):
        return z + self.down(nn.functional.gelu(self.up(self.level(z))))


class DownProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.C = nn.Parameter(nn.init.xavier_uniform_(torch.empty(1, config.bottleneck_dim, config.n_embd)))
        self.level_x, self.level_c = Standardise(config.n_embd), Standardise(config.n_embd)
        self.asking, self.behind = Asking(config), Behind(config.n_embd)

    def forward(self, x):
        basis = self.C.expand(x.size(0), -1, -1)
        return self.behind(self.asking(self.level_x(x), self.level_c(basis)))


class UpProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.level_y, self.level_x = Standardise(config.n_embd), Standardise(config.n_embd)
        self.asking, self.behind = Asking(config), Behind(config.n_embd)

    def forward(self, y, x_input):
        return self.behind(x_input + self.asking(self.level_y(y), self.level_x(x_input)))
