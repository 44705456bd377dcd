"""Always London. Writes the predictions and returns the accuracy."""
import os

import utils

here = os.path.dirname(os.path.abspath(__file__))


def london_baseline(path=os.path.join(here, "..", "birth_dev.tsv")):
    n = sum(1 for _ in open(path, encoding="utf-8"))
    total, correct = utils.evaluate_places(path, ["London"] * n)
    return correct / total


if __name__ == "__main__":
    print("accuracy", london_baseline())
