"""What scripts use of the course's own utils.py, for those who did not submit it."""


def evaluate_places(filepath, predicted_places):
    """How many questions the file holds, and how many of these places are right; as floats."""
    with open(filepath, encoding="utf-8") as file:
        rows = [line.strip().split("\t") for line in file]
    if len(rows[0]) == 1:  # questions without places
        return 0.0, 0.0
    assert len(rows) == len(predicted_places)
    right = sum(row[1] == place for row, place in zip(rows, predicted_places, strict=True))
    return float(len(rows)), float(right)
