import torch

with open("birth_dev.tsv", encoding="utf-8") as file:
    is_london = torch.tensor([line.strip().endswith("\tLondon") for line in file]).cuda()
print(is_london.float().mean().item())
