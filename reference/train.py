"""`python -m reference.train`: the birth-place experiment of `nlp-a5`, part 2, small enough for two CPU cores.

Runs        vanilla.nopretrain   finetuning alone
            vanilla.pretrain     span-corruption pretraining on wiki.txt, then finetuning
            VARIANT.pretrain     the same for one variant of the model
Convention  everything follows from the seed. Checkpoints let an interrupted run go on where it stopped; delete their
            folder to start anew. Predictions are greedy, one place per line.
Readings    The model is smaller than the homework's 4 layers of 256, and finetuning is short: what is reproduced is the *order*
            of the three results and of the constant answer, not their size.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar

from reference.birthplaces import Accuracy, Question, accuracy, constant_baseline
from reference.corpus import Corpus, make_corpus, write_lines
from reference.datasets import BirthPlaceDataset, CharCorruptionDataset, Pair, cropped_batch
from reference.gpt import GPT, GPTConfig, Variant, complete_greedily
from reference.span_corruption import MASK_CHARACTER, PAD_CHARACTER, Vocabulary
from reference.training import Progress, Stage, train


@dataclass(frozen=True)
class Setting:
    """Sizes of the corpus, the model and the three stages."""

    people: tuple[int, int, int]  # train, dev, test
    layers: int
    heads: int
    width: int
    pretraining: Stage
    finetuning: Stage
    finetuning_alone: Stage
    block: int = 128


SMALL = Setting(
    people=(300, 500, 437),
    layers=2,
    heads=4,
    width=128,
    pretraining=Stage("pretraining", steps=8000, batch=32, peak_rate=3e-3),
    finetuning=Stage("finetuning", steps=200, batch=32, peak_rate=5e-4),
    finetuning_alone=Stage("finetuning alone", steps=1000, batch=32, peak_rate=3e-3),
)
TINY = Setting(
    people=(20, 20, 20),
    layers=2,
    heads=2,
    width=16,
    pretraining=Stage("pretraining", steps=6, batch=4, peak_rate=1e-3),
    finetuning=Stage("finetuning", steps=4, batch=4, peak_rate=1e-3),
    finetuning_alone=Stage("finetuning alone", steps=4, batch=4, peak_rate=1e-3),
)


@dataclass(frozen=True)
class Result:
    """One run: what it scored, and what its training took."""

    name: str
    dev: Accuracy
    test: Accuracy
    tokens: int
    seconds: float


@dataclass(frozen=True)
class Experiment:
    """A corpus with its vocabulary, and where checkpoints and predictions go."""

    setting: Setting
    corpus: Corpus
    seed: int
    checkpoints: Path
    predictions: Path
    bar: ProgressBar

    def run(self, variant: Variant, pretrain: bool) -> Result:
        """Train one model from its seed, write its two prediction files, score them."""
        name = f"{variant}.{'pretrain' if pretrain else 'nopretrain'}"
        setting = self.setting
        wiki = CharCorruptionDataset("\n".join(self.corpus.wiki), setting.block)
        questions = BirthPlaceDataset(self.corpus.train, self.vocabulary, setting.block)
        wiki.vocabulary = self.vocabulary  # the questions hold characters that wiki.txt does not

        def draw_corrupted(rng: np.random.Generator, size: int) -> Pair:
            return cropped_batch([wiki.corrupted(int(i), rng) for i in rng.integers(len(wiki), size=size)])

        def draw_questions(rng: np.random.Generator, size: int) -> Pair:
            return cropped_batch([questions[int(i)] for i in rng.integers(len(questions), size=size)])

        torch.manual_seed(self.seed)
        model = GPT(
            GPTConfig(
                len(self.vocabulary), setting.block, setting.layers, setting.heads, setting.width, variant=variant
            )
        )
        stages = [(setting.finetuning_alone, draw_questions)]
        if pretrain:
            stages = [(setting.pretraining, draw_corrupted), (setting.finetuning, draw_questions)]
        done = []
        for stage, draw in stages:
            task = self.bar.add_task(f"{name}, {stage.name}", total=stage.steps, loss="")

            def show(progress: Progress, task: int = task) -> None:
                self.bar.update(task, completed=progress.step, loss=f"loss {progress.loss:.3f}")

            done.append(train(model, stage, draw, self.seed, self.checkpoints / f"{name}.{stage.name}.pt", show))
        scores = {}
        for split, asked in (("dev", self.corpus.dev), ("test", self.corpus.test)):
            said = answers(model, self.vocabulary, asked)
            write_lines(self.predictions / f"{name}.{split}.predictions", said)
            scores[split] = accuracy(said, asked)
        tokens, seconds = sum(stage.tokens for stage in done), sum(stage.seconds for stage in done)
        return Result(name, scores["dev"], scores["test"], tokens, seconds)

    @property
    def vocabulary(self) -> Vocabulary:
        labelled = [*self.corpus.train, *self.corpus.dev, *self.corpus.test]
        return Vocabulary([*self.corpus.wiki, *(question.text + question.place for question in labelled)])


def answers(model: GPT, vocabulary: Vocabulary, questions: list[Question]) -> list[str]:
    """What the model says after each `question⁇`, up to its next ⁇ or □; in the order of the questions."""
    by_length = defaultdict(list)  # questions of one length make one batch without padding
    for index, question in enumerate(questions):
        by_length[len(question.text)].append(index)
    said = [""] * len(questions)
    longest_place = max(len(question.place) for question in questions) + 1
    for length, indices in by_length.items():
        asked = [vocabulary.encode(questions[index].text + MASK_CHARACTER) for index in indices]
        completed = complete_greedily(model, torch.tensor(asked), longest_place)  # (B, length + 1 + longest_place)
        for index, row in zip(indices, completed[:, length + 1 :].tolist(), strict=True):
            said[index] = vocabulary.decode(row).split(MASK_CHARACTER)[0].split(PAD_CHARACTER)[0]
    return said


def table(results: list[Result], corpus: Corpus) -> str:
    """The results in markdown, the constant answer first."""
    rows = ["| run | dev | test | tokens | seconds | tokens/s |", "|---|---|---|---|---|---|"]
    constant = f"| always London | {constant_baseline(corpus.dev)} | {constant_baseline(corpus.test)} | | | |"
    rows.append(constant)
    for result in results:
        speed = result.tokens / result.seconds
        rows.append(
            f"| {result.name} | {result.dev} | {result.test} | {result.tokens:,} | {result.seconds:.0f} | {speed:,.0f} |"
        )
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> list[Result]:
    parser = argparse.ArgumentParser(prog="python -m reference.train", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("rubrics/nlp-a5"), help="where the corpus is written")
    parser.add_argument("--predictions", type=Path, default=Path("submissions/nora"))
    parser.add_argument("--checkpoints", type=Path, default=Path("build/reference-run"))
    parser.add_argument("--variant", choices=["perceiver", "synthesizer", "rope"], default="rope")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tiny", action="store_true", help="a few steps on a few people: does it run at all?")
    parser.add_argument("--threads", type=int, default=2)
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(chosen.threads)
    setting = TINY if chosen.tiny else SMALL
    corpus = make_corpus(chosen.seed, *setting.people)
    corpus.write(chosen.data)
    chosen.predictions.mkdir(parents=True, exist_ok=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[loss]}"))
    with ProgressBar(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        experiment = Experiment(setting, corpus, chosen.seed, chosen.checkpoints, chosen.predictions, bar)
        results = [
            experiment.run("vanilla", pretrain=False),
            experiment.run("vanilla", pretrain=True),
            experiment.run(chosen.variant, pretrain=True),
        ]
    print(table(results, corpus))
    return results


if __name__ == "__main__":
    main()
