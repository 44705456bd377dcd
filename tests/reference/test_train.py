"""The training run: resuming changes nothing, the tiny setting works, shipped predictions keep the order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from reference.birthplaces import Accuracy, accuracy, constant_baseline, read_lines, read_questions
from reference.corpus import make_corpus
from reference.datasets import BirthPlaceDataset, Pair, cropped_batch
from reference.gpt import GPT, GPTConfig
from reference.train import SMALL, TINY, Experiment, answers, main, table, vocabulary_of
from reference.training import Progress, Stage, train

ROOT = Path(__file__).parents[2]
CORPUS = make_corpus(1, 12, 8, 8)
VOCABULARY = vocabulary_of(CORPUS)
QUESTIONS = BirthPlaceDataset(CORPUS.train, VOCABULARY, 64)


def fresh_model() -> GPT:
    torch.manual_seed(0)
    return GPT(GPTConfig(len(VOCABULARY), block=64, layers=1, heads=2, width=16))


def draw(rng: np.random.Generator, size: int) -> Pair:
    return cropped_batch([QUESTIONS[int(i)] for i in rng.integers(len(QUESTIONS), size=size)])


@pytest.mark.slow
def test_a_run_taken_up_again_ends_in_the_same_weights_bit_for_bit(tmp_path):
    stage = Stage("finetuning", steps=12, batch=4, peak_rate=1e-2)
    whole = fresh_model()
    train(whole, stage, draw, 0, tmp_path / "whole.pt")
    halves = fresh_model()
    train(halves, stage, draw, 0, tmp_path / "halves.pt", stop_after=5)
    taken_up = GPT(halves.config)  # other weights at first; the checkpoint must replace them all
    progress = train(taken_up, stage, draw, 0, tmp_path / "halves.pt")
    assert progress.step == 12
    for name, parameter in whole.state_dict().items():
        assert torch.equal(parameter, taken_up.state_dict()[name]), name


@pytest.mark.slow
def test_a_finished_run_is_not_trained_again(tmp_path):
    stage = Stage("finetuning", steps=3, batch=4, peak_rate=1e-2)
    seen: list[int] = []

    def remember(progress: Progress) -> None:
        seen.append(progress.step)

    train(fresh_model(), stage, draw, 0, tmp_path / "run.pt", remember)
    train(fresh_model(), stage, draw, 0, tmp_path / "run.pt", remember)
    assert seen == [1, 2, 3]


def test_the_rate_warms_up_then_falls_to_three_hundredths():
    stage = Stage("x", steps=1000, batch=1, peak_rate=1.0)
    rates = [stage.rate(step) for step in range(1000)]
    assert rates[0] < 0.02
    assert np.argmax(rates) == 99
    assert rates[-1] == pytest.approx(0.03, abs=1e-3)


def test_another_seed_or_setting_never_goes_on_from_these_checkpoints(tmp_path):
    stage = TINY.pretraining
    places = {
        Experiment(setting, seed, tmp_path, tmp_path).checkpoint("vanilla.pretrain", stage)
        for setting in (TINY, SMALL)
        for seed in (0, 1)
    }
    assert len(places) == 4


@pytest.mark.slow
def test_a_model_that_learnt_its_questions_by_heart_answers_them(tmp_path):
    model = fresh_model()
    train(model, Stage("by heart", steps=250, batch=12, peak_rate=2e-2), draw, 0, tmp_path / "run.pt")
    said = answers(model, VOCABULARY, CORPUS.train)
    assert accuracy(said, CORPUS.train) == Accuracy(12, 12)


@pytest.mark.slow
def test_the_tiny_setting_writes_everything_and_prints_the_table(tmp_path, capsys):
    folders = {name: tmp_path / name for name in ("data", "predictions", "checkpoints")}
    options = [text for name, folder in folders.items() for text in (f"--{name}", str(folder))]
    results = main(["--tiny", "--variant", "synthesizer", *options])
    printed = capsys.readouterr().out
    dev = read_questions(folders["data"] / "birth_dev.tsv")
    assert [result.name for result in results] == [
        "vanilla.nopretrain",
        "vanilla.pretrain",
        "synthesizer.pretrain",
    ]
    for result in results:
        for split, score in (("dev", result.dev), ("test", result.test)):
            lines = read_lines(folders["predictions"] / f"{result.name}.{split}.predictions")
            assert accuracy(lines, read_questions(folders["data"] / f"birth_{split}.tsv")) == score
        assert f"| {result.name} | {result.dev} |" in printed
    assert f"| always London | {constant_baseline(dev)} |" in printed
    assert printed.strip() == table(results, make_corpus(0, *TINY.people))


RUNS = ("vanilla.nopretrain", "vanilla.pretrain", "synthesizer.pretrain")


def shipped_accuracy(run: str, split: str) -> Accuracy:
    predictions = read_lines(ROOT / "submissions" / "nora" / f"{run}.{split}.predictions")
    return accuracy(predictions, read_questions(ROOT / "rubrics" / "nlp-a5" / "data" / f"birth_{split}.tsv"))


@pytest.mark.parametrize("split", ["dev", "test"])
def test_the_shipped_predictions_keep_the_homeworks_order(split):
    constant = constant_baseline(read_questions(ROOT / "rubrics" / "nlp-a5" / "data" / f"birth_{split}.tsv"))
    alone, pretrained, variant = (shipped_accuracy(run, split) for run in RUNS)
    assert alone.rate < constant.rate < variant.rate < pretrained.rate
    assert pretrained.interval[0] > constant.interval[1]  # not by chance
    assert pretrained.interval[0] > alone.interval[1]


@pytest.mark.parametrize("run", RUNS)
def test_the_docs_report_what_the_shipped_predictions_score(run):
    row = f"| {run} | {shipped_accuracy(run, 'dev')} | {shipped_accuracy(run, 'test')} |"
    assert row in (ROOT / "docs" / "ground_truth.md").read_text()
