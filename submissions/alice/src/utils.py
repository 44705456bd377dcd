import torch


@torch.no_grad()
def sample(model, x, steps):
    """Append the likeliest character, `steps` times."""
    model.eval()
    for _ in range(steps):
        logits, _ = model(x[:, -model.block_size:])
        x = torch.cat([x, logits[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
    return x


def evaluate_places(filepath, predicted_places):
    """How many questions there are, and how many were answered right."""
    with open(filepath, encoding="utf-8") as file:
        true_places = [line.rstrip("\n").split("\t")[1] for line in file]
    assert len(true_places) == len(predicted_places)
    correct = sum(true == said for true, said in zip(true_places, predicted_places))
    return len(true_places), correct
