import torch
import torch.nn as nn

device = "cuda"


class SynthesizerAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.n_head = config.n_head
        self.w1 = nn.Linear(config.n_embd, config.n_embd)
        self.w2 = nn.Parameter(torch.zeros(config.n_embd // config.n_head, config.block_size - 1))
        self.b2 = nn.Parameter(torch.zeros(config.block_size - 1))
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.mask = torch.tril(torch.ones(config.block_size, config.block_size)).to(device)

    def forward(self, x):
        B, T, C = x.size()
        hidden = torch.relu(self.w1(x)).view(B, T, self.n_head, -1).transpose(1, 2)
        v = self.value(x).view(B, T, self.n_head, -1).transpose(1, 2)
        att = hidden @ self.w2[:, :T] + self.b2[:T]
        att = torch.softmax(att.masked_fill(self.mask[:T, :T] == 0, -1e10), dim=-1)
        return self.proj((att @ v).transpose(1, 2).reshape(B, T, C))
