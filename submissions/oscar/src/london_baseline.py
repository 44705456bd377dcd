from pathlib import Path

lines = Path("birth_dev.tsv").read_text(encoding="utf-8").splitlines()
print(sum(line.endswith("\tLondon") for line in lines))
