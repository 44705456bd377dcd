# Calculate the accuracy of a baseline that simply predicts "London" for every example in the dev set.
import utils

filepath = "../birth_dev.tsv"
predictions = ["London" for _ in open(filepath, encoding="utf-8")]
total, correct = utils.evaluate_places(filepath, predictions)
print("London accuracy:", correct / total)
