import torch

class Trainer
    def __init__(self, model, train_dataset, config)
        self.model = model   # not used any more, see run.py
