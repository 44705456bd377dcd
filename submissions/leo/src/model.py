import torch.nn as nn


class DownProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        pass

    def forward(self, x_input):
        pass


class UpProjectBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        pass

    def forward(self, y, x_input):
        pass
