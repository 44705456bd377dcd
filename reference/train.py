"""`python -m reference.train`: the birth-place experiment of `nlp-a5`, part 2, on two CPU cores.

Runs        vanilla.nopretrain   finetuning alone
            vanilla.pretrain     span-corruption pretraining on wiki.txt, then finetuning
            VARIANT.pretrain     the same for one variant of the model
Convention  everything follows from the seed. Checkpoints let an interrupted run go on where it stopped;
            delete their folder to start anew. Predictions are greedy, one place per line.
            Each run has a process and a thread of its own, two at a time: two threads on one small model are
            1.6 times as fast as one, and far slower than one when another program wants a core.
Readings    The model is smaller than the homework's 4 layers of 256, and finetuning is short: what is
            reproduced is the *order* of the three results and of the constant answer, not their size.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections import defaultdict
from collections.abc import Callable, MutableMapping
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from zlib import crc32

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar

from reference.birthplaces import Accuracy, Question, accuracy, constant_baseline
from reference.corpus import Corpus, make_corpus, write_lines
from reference.datasets import BirthPlaceDataset, CharCorruptionDataset, Pair, cropped_batch
from reference.gpt import GPT, GPTConfig, Variant, complete_greedily
from reference.gpt_variants import gpt
from reference.handout_constants import MASK_CHARACTER, PAD_CHARACTER
from reference.span_corruption import Vocabulary
from reference.training import Progress, Stage, train

SECONDS_BETWEEN_LOOKS = 0.5  # at the progress of the runs
LONGEST_ANSWER = 16  # characters asked of the model; the longest place has 7, and a ⁇ ends it


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
    people=(200, 300, 250),
    layers=2,
    heads=4,
    width=128,
    pretraining=Stage("pretraining", steps=8000, batch=32, peak_rate=4e-3),
    finetuning=Stage("finetuning", steps=63, batch=32, peak_rate=1e-3),  # ten rounds of 200 questions
    finetuning_alone=Stage("finetuning alone", steps=470, batch=32, peak_rate=3e-3),  # seventy-five rounds
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
    """What the runs share: sizes, seed, and where checkpoints and predictions go."""

    setting: Setting
    seed: int
    checkpoints: Path
    predictions: Path

    @property
    def corpus(self) -> Corpus:
        return make_corpus(self.seed, *self.setting.people)

    def checkpoint(self, run: str, stage: Stage) -> Path:
        """Named for all that decides its weights, so that no run goes on from another setting or seed."""
        fingerprint = crc32(repr((self.setting, self.seed)).encode())
        return self.checkpoints / f"{run}.{stage.name.replace(' ', '-')}.{fingerprint:08x}.pt"

    def run(self, variant: Variant, pretrain: bool, report: Callable[[Stage, Progress], None]) -> Result:
        """Train one model from its seed, write its two prediction files, score them."""
        name, setting, corpus = run_name(variant, pretrain), self.setting, self.corpus
        vocabulary = vocabulary_of(corpus)
        wiki = CharCorruptionDataset("\n".join(corpus.wiki), setting.block, vocabulary)
        questions = BirthPlaceDataset(corpus.train, vocabulary, setting.block)

        def draw_corrupted(rng: np.random.Generator, size: int) -> Pair:
            return cropped_batch([wiki.corrupted(int(i), rng) for i in rng.integers(len(wiki), size=size)])

        def draw_questions(rng: np.random.Generator, size: int) -> Pair:
            return cropped_batch([questions[int(i)] for i in rng.integers(len(questions), size=size)])

        torch.manual_seed(self.seed)
        sizes = (setting.block, setting.layers, setting.heads, setting.width)
        model = gpt(GPTConfig(len(vocabulary), *sizes, variant=variant))
        stages = [(setting.finetuning_alone, draw_questions)]
        if pretrain:
            stages = [(setting.pretraining, draw_corrupted), (setting.finetuning, draw_questions)]
        done = []
        for stage, draw in stages:
            checkpoint = self.checkpoint(name, stage)
            done.append(train(model, stage, draw, self.seed, checkpoint, partial(report, stage)))
        scores = {}
        for split, asked in (("dev", corpus.dev), ("test", corpus.test)):
            said = answers(model, vocabulary, asked)
            write_lines(self.predictions / f"{name}.{split}.predictions", said)
            scores[split] = accuracy(said, asked)
        tokens, seconds = sum(stage.tokens for stage in done), sum(stage.seconds for stage in done)
        return Result(name, scores["dev"], scores["test"], tokens, seconds)


def run_name(variant: Variant, pretrain: bool) -> str:
    return f"{variant}.{'pretrain' if pretrain else 'nopretrain'}"


def vocabulary_of(corpus: Corpus) -> Vocabulary:
    """All characters of all files: the questions hold some that wiki.txt does not."""
    labelled = [*corpus.train, *corpus.dev, *corpus.test]
    return Vocabulary([*corpus.wiki, *(question.text + question.place for question in labelled)])


Shown = MutableMapping[str, tuple[int, int, float]]  # step, steps and loss of each stage that has begun


def run_alone(experiment: Experiment, variant: Variant, pretrain: bool, shown: Shown) -> Result:
    """One run in a process of its own, on one thread; what it tells goes into `shown`."""
    torch.set_num_threads(1)

    def report(stage: Stage, progress: Progress) -> None:
        shown[f"{run_name(variant, pretrain)}, {stage.name}"] = (progress.step, stage.steps, progress.loss)

    return experiment.run(variant, pretrain, report)


def run_all(experiment: Experiment, variant: Variant, processes: int) -> list[Result]:
    """The three runs, with a bar for each of their stages."""
    spawn = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[loss]}"),
    )
    with (
        spawn.Manager() as manager,
        ProcessPoolExecutor(processes, mp_context=spawn) as pool,
        ProgressBar(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar,
    ):
        shown: Shown = manager.dict()
        tasks: dict[str, TaskID] = {}
        runs: list[tuple[Variant, bool]] = [("vanilla", False), ("vanilla", True), (variant, True)]
        futures: list[Future[Result]] = [pool.submit(run_alone, experiment, *run, shown) for run in runs]
        waiting = set(futures)
        while waiting:
            waiting = wait(waiting, timeout=SECONDS_BETWEEN_LOOKS).not_done
            for label, (step, steps, loss) in dict(shown).items():
                if label not in tasks:
                    tasks[label] = bar.add_task(label, total=steps, loss="")
                bar.update(tasks[label], completed=step, loss=f"loss {loss:.3f}")
        return [future.result() for future in futures]


def answers(model: GPT, vocabulary: Vocabulary, questions: list[Question]) -> list[str]:
    """What the model says after each `question⁇`, up to its next ⁇ or □; in the order of the questions."""
    by_length = defaultdict(list)  # questions of one length make one batch without padding
    for index, question in enumerate(questions):
        by_length[len(question.text)].append(index)
    said = [""] * len(questions)
    for length, indices in by_length.items():
        asked = [vocabulary.encode(questions[index].text + MASK_CHARACTER) for index in indices]
        completed = complete_greedily(model, torch.tensor(asked), LONGEST_ANSWER)  # (B, length + 1 + answer)
        for index, row in zip(indices, completed[:, length + 1 :].tolist(), strict=True):
            said[index] = vocabulary.decode(row).split(MASK_CHARACTER)[0].split(PAD_CHARACTER)[0]
    return said


def table(results: list[Result], corpus: Corpus) -> str:
    """The results in markdown, the constant answer first."""
    rows = ["| run | dev | test | tokens | seconds | tokens/s |", "|---|---|---|---|---|---|"]
    rows.append(f"| always London | {constant_baseline(corpus.dev)} | {constant_baseline(corpus.test)} | | | |")
    for result in results:
        speed = result.tokens / result.seconds
        effort = f"{result.tokens:,} | {result.seconds:.0f} | {speed:,.0f}"
        rows.append(f"| {result.name} | {result.dev} | {result.test} | {effort} |")
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> list[Result]:
    parser = argparse.ArgumentParser(prog="python -m reference.train", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("rubrics/nlp-a5/data"), help="where the corpus is written")
    parser.add_argument("--predictions", type=Path, default=Path("submissions/nora"))
    parser.add_argument("--checkpoints", type=Path, default=Path("build/reference-run"))
    parser.add_argument("--variant", choices=["perceiver", "synthesizer", "rope"], default="synthesizer")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tiny", action="store_true", help="a few steps on a few people: does it run at all?")
    parser.add_argument("--processes", type=int, default=2, help="runs at a time, one thread each")
    chosen = parser.parse_args(arguments)
    experiment = Experiment(TINY if chosen.tiny else SMALL, chosen.seed, chosen.checkpoints, chosen.predictions)
    experiment.corpus.write(chosen.data)
    chosen.predictions.mkdir(parents=True, exist_ok=True)
    results = run_all(experiment, chosen.variant, chosen.processes)
    print(table(results, experiment.corpus))
    return results


if __name__ == "__main__":
    main()
