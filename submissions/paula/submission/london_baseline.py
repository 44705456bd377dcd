import argparse

import utils

argp = argparse.ArgumentParser()
argp.add_argument("--eval_corpus_path", default="birth_dev.tsv")
args = argp.parse_args()

n = len(open(args.eval_corpus_path, encoding="utf-8").readlines())
total, correct = utils.evaluate_places(args.eval_corpus_path, ["London"] * n)
print(f"wrong: {100 * (total - correct) / total:.1f} %")
