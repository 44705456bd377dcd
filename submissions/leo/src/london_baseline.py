import os

folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
answers = [line.split("\t")[1].strip() for line in open(os.path.join(folder, "birth_dev.tsv"), encoding="utf-8")]
print(f"{sum(a == 'London' for a in answers) / len(answers):.1%}")
