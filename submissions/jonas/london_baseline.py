# writes the predictions of the baseline
with open("birth_dev.tsv", encoding="utf-8") as questions, open("london_baseline_dev.txt", "w") as out:
    for _ in questions:
        out.write("London\n")
