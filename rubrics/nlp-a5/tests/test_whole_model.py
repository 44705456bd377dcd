"""A model that never runs the variant goes to a person, with the reason; of what is not certain nothing is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rubric_nlp_a5 import probes

from grader.grading.engine import grade
from grader.grading.randomness import Draw
from grader.model import Outcome, Status
from grader.sandbox import BoxRunner
from grader.sandbox.box.probes.rubrics_probes import STUDENT_CODE
from rubrics.module_recovery.tests.variant_grading import Files, right
from tests.conftest import MakeSubmission, sampled, the_rubric

RUBRIC = the_rubric("rubrics/nlp-a5/tests/whole_models.yaml", "nlp-a5")
SYNTHESIZER, ROTARY = (right(variant)["starter"]["attention.py"] for variant in ("synthesizer", "rope"))
PLAIN = """
class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.m = nn.MultiheadAttention(config.n_embd, config.n_head, batch_first=True)
    def forward(self, x):
        return self.m(x, x, x, attn_mask=torch.ones(x.size(1), x.size(1)).triu(1) > 0)[0]
"""
MODEL = """
import torch
from torch import nn
import attention
{extra}
class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        {attn}
    def forward(self, x):
        return x + self.attn(x)

class GPT(nn.Module):
    def __init__(self, config{more}):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, config.n_embd)
        self.blocks = nn.Sequential(*[{block}(config) for _ in range(config.n_layer)])
        self.head = nn.Linear(config.n_embd, config.vocab_size)
    def forward(self, idx, targets=None):
        return self.head(self.blocks(self.embed(idx))), None
"""
PERCEIVER = """
class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, config.n_embd)
        self.down, self.up = DownProjectBlock(config), UpProjectBlock(config)
        self.head = nn.Linear(config.n_embd, config.vocab_size)
        self.perceiver = config.perceiver
    def forward(self, idx, targets=None):
        x = self.embed(idx)
        {body}
        return self.head(x), None
"""
SETS = "from model import GPT\n\ndef make(config, variant):\n    {sets}\n    return GPT(config)\n"
STARTER = """
import argparse
argp = argparse.ArgumentParser()
argp.add_argument("variant", choices=["vanilla", "synthesizer"])
args = argp.parse_args()
model = None
if args.variant == "vanilla":
    pass  # TODO: make some model here
elif args.variant == "synthesizer":
    pass  # TODO: make some other model here
"""
SWITCH = "self.attn = (attention.SynthesizerAttention if config.{flag} else attention.CausalSelfAttention)(config)"


def _model(attn: str, block: str = "Block", more: str = "", extra: str = "") -> str:
    return MODEL.format(attn=attn, block=block, more=more, extra=extra)


def _synthesizer(model: str, **others: str) -> Files:
    return {"src/attention.py": SYNTHESIZER + PLAIN, "src/model.py": model} | others


PLAINLY = "self.attn = attention.CausalSelfAttention(config)"
ON = {"src/run.py": SETS.format(sets="config.synthesizer = variant == 'synthesizer'")}
NEVER: dict[str, tuple[str, Files, str]] = {
    "no code uses the class": (
        "synthesizer",
        _synthesizer(_model(PLAINLY), **ON),
        "never_used",
    ),
    "the class is imported and no more": (
        "synthesizer",
        _synthesizer(_model(PLAINLY, extra="from attention import SynthesizerAttention"), **ON),
        "never_used",
    ),
    "built in a branch that is never taken": (
        "synthesizer",
        _synthesizer(_model(PLAINLY + "\n        if False: self.attn = attention.SynthesizerAttention(config)"), **ON),
        "never_reached",
    ),
    "built and not run": (
        "synthesizer",
        _synthesizer(_model(PLAINLY + "\n        self.other = attention.SynthesizerAttention(config)"), **ON),
        "never_reached",
    ),
    "the flag is never set": (
        "synthesizer",
        _synthesizer(
            _model(SWITCH.format(flag="synthesizer")),
            **{"src/helper.py": SETS.format(sets="config.synthesizer = False")},
        ),
        "never_switched_on",
    ),
    "the flag is only handed on": (
        "synthesizer",
        _synthesizer(
            _model(SWITCH.format(flag="synthesizer") + "\n        self.synthesizer = config.synthesizer"),
            **{"src/helper.py": SETS.format(sets="pass")},
        ),
        "never_switched_on",
    ),
    "the flag is only asked for": (
        "synthesizer",
        _synthesizer(_model(SWITCH.format(flag="synthesizer")), **{"src/run.py": STARTER}),
        "never_switched_on",
    ),
    "another assignment sets the flag": (
        "synthesizer",
        {
            f"a5/{name}": text
            for name, text in _synthesizer(
                _model(SWITCH.format(flag="synthesizer")), **{"run.py": SETS.format(sets="pass")}
            ).items()
        }
        | {"a4/run.py": SETS.format(sets="config.synthesizer = True")},
        "never_switched_on",
    ),
    "another assignment uses the class": (
        "synthesizer",
        {f"course/a5/{name}": text for name, text in _synthesizer(_model(PLAINLY)).items()}
        | {"course/a4/run.py": "from attention import SynthesizerAttention\n\nlayer = SynthesizerAttention\n"},
        "never_used",
    ),
    "the rotating attention is not the model's": (
        "rope",
        {
            "src/attention.py": ROTARY,
            "src/model.py": _model("self.attn = Own(config)", extra=PLAIN.replace("CausalSelfAttention", "Own")),
            "src/run.py": SETS.format(sets="config.rope = True"),
        },
        "never_reached",
    ),
    "the perceiver is passed by": (
        "perceiver",
        {
            **right("perceiver")["starter"],
            "model.py": right("perceiver")["starter"]["model.py"] + PERCEIVER.format(body="x = x + 0"),
            "run.py": SETS.format(sets="config.perceiver = True"),
        },
        "never_reached",
    ),
}
OPEN: dict[str, tuple[str, Files]] = {
    "run with its flag": ("synthesizer", _synthesizer(_model(SWITCH.format(flag="synthesizer")), **ON)),
    "last year's flag": (
        "synthesizer",
        _synthesizer(
            _model(SWITCH.format(flag="additive")), **{"src/run.py": SETS.format(sets="config.additive = True")}
        ),
    ),
    "set by a keyword": (
        "synthesizer",
        _synthesizer(
            _model(SWITCH.format(flag="synthesizer")),
            **{"src/run.py": SETS.format(sets="config = type(config)(synthesizer=(variant == 's'))")},
        ),
    ),
    "set in the project, above the sources": (
        "synthesizer",
        {
            f"course/a5/{name}": text
            for name, text in _synthesizer(
                _model(SWITCH.format(flag="synthesizer")),
                **{"train/run.py": STARTER + SETS.format(sets="config.synthesizer |= variant == 'synthesizer'")},
            ).items()
        },
    ),
    "set on the command line": (
        "synthesizer",
        _synthesizer(
            _model(SWITCH.format(flag="synthesizer")),
            **{
                "src/run.py": STARTER.replace(
                    "args =", "argp.add_argument('--synthesizer', action='store_true')\nargs ="
                )
                + SETS.format(sets="config.synthesizer = args.synthesizer")
            },
        ),
    ),
    "set by its name": (
        "synthesizer",
        _synthesizer(
            _model(SWITCH.format(flag="synthesizer")),
            **{"src/run.py": SETS.format(sets="setattr(config, variant, True)")},
        ),
    ),
    "another argument of the model": (
        "synthesizer",
        _synthesizer(
            _model(PLAINLY, more=", kind='plain'")
            + "        if kind == 's': self.blocks = nn.Sequential(attention.SynthesizerAttention(config))\n",
            **ON,
        ),
    ),
    "a flag of one's own": (
        "synthesizer",
        _synthesizer(
            _model(
                PLAINLY + "\n        if getattr(config, 'kind', 0): self.attn = attention.SynthesizerAttention(config)"
            )
        ),
    ),
    "the model is made anew in the script": (
        "synthesizer",
        _synthesizer(
            _model(PLAINLY),
            **{"src/run.py": "from attention import *\nclass Block:\n    kind = SynthesizerAttention\nexit()\n"},
        ),
    ),
    "no model": ("synthesizer", {"src/attention.py": SYNTHESIZER}),
    "no script": ("synthesizer", _synthesizer(_model(SWITCH.format(flag="synthesizer")))),
    "a model that does not run": ("synthesizer", _synthesizer(_model(PLAINLY) + "\nclass GPT(BROKEN):\n    pass\n")),
    "a rotating model": (
        "rope",
        {"attention.py": ROTARY, "model.py": _model(PLAINLY), "run.py": SETS.format(sets="config.rope = True")},
    ),
    "a perceiver": (
        "perceiver",
        {
            **right("perceiver")["starter"],
            "model.py": right("perceiver")["starter"]["model.py"]
            + PERCEIVER.format(body="x = self.up(self.down(x), x) if self.perceiver else x"),
            "run.py": SETS.format(sets="config.perceiver = True"),
        },
    ),
    "a perceiver in models.py": (
        "perceiver",
        {
            "models.py": right("perceiver")["one_file"]["models.py"]
            + PERCEIVER.format(body="x = self.up(self.down(x), x)")
        },
    ),
}


def _judged(variant: str, files: Files, boxes: BoxRunner, submission: MakeSubmission) -> Outcome:
    problems = tuple(problem for problem in RUBRIC.problems if problem.id == variant)
    (problem,) = grade(replace(RUBRIC, problems=problems), submission(**files), boxes, Draw(0, None)).problems
    return problem.checks[0].outcome


@pytest.mark.parametrize("kind", sampled(NEVER, 4))
def test_what_the_model_never_runs_goes_to_a_person(
    torch_boxes: BoxRunner, submission: MakeSubmission, kind: str
) -> None:
    variant, files, code = NEVER[kind]
    outcome = _judged(variant, files, torch_boxes, submission)
    assert (outcome.status, outcome.code) == (Status.REVIEW, code)


@pytest.mark.parametrize("kind", sampled(OPEN, 4))
def test_what_runs_or_may_run_is_not_accused(torch_boxes: BoxRunner, submission: MakeSubmission, kind: str) -> None:
    assert _judged(*OPEN[kind], torch_boxes, submission).status is Status.PASSED


@pytest.mark.parametrize(
    ("code", "is_set"),
    [
        ("config.rope = True", True),
        ("config.rope = False", False),
        ("config.rope: bool = False  # later\n", False),
        ("config.rope |= wanted", True),
        ("self.rope = config.rope", False),
        ("self.rope = config.rope or wanted", True),
        ("build(config, rope=wanted)", True),
        ("build(config, rope=False, depth=2)", False),
        ("rope: bool", False),
        ("def build(config,\n          rope=False): pass", True),
        ("if config.rope == True: pass", False),
        ("if wanted: config.rope = True", True),
        ("mode = 'rope' if wanted else 'plain'", True),
        ("mode = 1 if args.mode == 'rope' else 2", False),
        ("parser.add_argument('mode', choices=['plain',\n    'rope'])", False),
        ("parser.add_argument('mode', help=\"'plain' or 'rope'\")", False),
        ("parser.add_argument('--rope')", True),
        ("setattr(config, name, True)", True),
        ("setattr(self, name, True)", False),
        ("Configuration(**{name: True})", True),
        ("Configuration(**{'depth': 2})", False),
        ("europe = True", False),
    ],
)
def test_code_that_may_switch_a_setting_on(code: str, is_set: bool) -> None:
    assert probes._sets(code, "rope") is is_set


@pytest.mark.parametrize(
    ("code", "is_used"),
    [
        ("class Mixer(Layer):\n    pass", False),
        ("from layers import (\n    Mixer,\n)\nimport Mixer", False),
        ("layer = layers.Mixer(config)", True),
        ("KINDS = {'Mixer': 1}", True),
        ("model.eval()", False),
        ("layer = eval(name)", True),
        ("layer = getattr(layers, name)", True),
        ("layer = getattr(layers, 'Mix' + 'er')", True),
        ("depth = getattr(config, 'depth', 2)", False),
        ("vars(self)", False),
        ("vars(layers)[name]", True),
    ],
)
def test_code_that_may_use_a_name(code: str, is_used: bool) -> None:
    assert probes._mentions(code, ["Mixer"]) is is_used


def test_of_very_many_files_four_hundred_are_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text(f"x = '{'x' * (1 << 20)}'")  # too long
    (tmp_path / "b.py").write_text(f"x = '{'x' * ((1 << 20) - 6)}'")
    for number in range(401):
        (tmp_path / f"c{number}.py").write_text("")
    monkeypatch.chdir(tmp_path)
    found = [path for path, _ in probes._sources(STUDENT_CODE)]
    assert (len(found), found[0]) == (400, "b.py")
