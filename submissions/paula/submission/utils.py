def evaluate_places(filepath, predicted_places):
    with open(filepath, encoding="utf-8") as fin:
        lines = [x.strip().split("\t") for x in fin]
    return float(len(lines)), float(sum(x[1] == y for x, y in zip(lines, predicted_places)))
