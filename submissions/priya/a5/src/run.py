import argparse

import dataset
import models

parser = argparse.ArgumentParser()
parser.add_argument('function', choices=["pretrain", "finetune", "evaluate"])
parser.add_argument('variant', choices=["vanilla", "perceiver"])
parser.add_argument('pretrain_corpus_path')
args = parser.parse_args()

text = open(args.pretrain_corpus_path, encoding='utf-8').read()
pretrain_dataset = dataset.CharCorruptionDataset(text, 128)
