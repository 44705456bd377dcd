# Accuracy on dev of a "model" that answers London whatever the question is.
import utils

DEV = "birth_dev.tsv"


def main():
    with open(DEV, encoding="utf-8") as file:
        predictions = ["London"] * len(file.readlines())
    total, correct = utils.evaluate_places(DEV, predictions)
    print(f"Correct: {correct} out of {total}: {100 * correct / total:.1f}%")


if __name__ == "__main__":
    main()
