import sys

from model import GPT, GPTConfig

if __name__ == "__main__":
    config = GPTConfig(256, 128, n_layer=4, n_head=8, n_embd=256)
    if "synthesizer" in sys.argv:
        config.synthesizer = True
    print(sum(parameter.numel() for parameter in GPT(config).parameters()))
