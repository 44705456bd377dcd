"""Scripts that work out how often one answer is right, as students write them, run in a real sandbox."""

from __future__ import annotations

import numpy as np
import pytest
from rubric_nlp_a5.public.london_baseline import _altered, _Number, baseline_states_its_accuracy

from grader.errors import Crashed, StudentFault, TimedOut
from grader.model import Limits, Outcome, Status
from grader.sandbox import BoxRunner
from grader.submission.opening import OpenedSubmission
from tests.conftest import REPOSITORY, MakeSubmission, raises, sampled

DATA = REPOSITORY / "rubrics" / "nlp-a5" / "data"
FILE = "london_baseline.py"
ORDINARY = Limits()
BESIDE = ("birth_places_train.tsv", "birth_test_inputs.tsv", "utils.py")


def _judged(boxes: BoxRunner, work: OpenedSubmission, limits: Limits = ORDINARY) -> Outcome:
    with boxes.open(work, limits, seed=0) as student:
        return baseline_states_its_accuracy(
            student,  # type: ignore[arg-type]
            np.random.default_rng(0),
            file=FILE,
            labels=str(DATA / "birth_dev.tsv"),
            beside=[str(DATA / name) for name in BESIDE],
        )


READ = "rows = [line.rstrip('\\n').split('\\t') for line in open(path, encoding='utf-8')]\n"
COUNT = f"{READ}total = len(rows)\nright = sum(row[1] == 'London' for row in rows)\n"
PLAIN = f"path = 'birth_dev.tsv'\n{COUNT}"
SAYS = {
    "percentage": "print(f'Accuracy: {100 * right / total:.1f}%')",
    "bare percentage": "print(100 * right / total)",
    "fraction": "print('accuracy', right / total)",
    "rounded fraction": "print(round(right / total, 3))",
    "percentage without decimals": "print(f'{100 * right // total} %')",
    "counts": "print(f'{right} out of {total} correct')",
    "float counts": "print(f'London baseline: {float(right)} out of {total}')",
    "slash": "print(f'{right}/{total}')",
    "reduced fraction": "from fractions import Fraction\nprint('accuracy', Fraction(right, total))",
    "the course's words": "print(f'Correct: {float(right)} out of {float(total)}: {right / total * 100}%')",
    "two lines": "print('total', total)\nprint('correct', right)",
    "scientific": "print(f'{right / total:.3e}')",
    "decimal comma": "print(f'{100 * right / total:.2f}'.replace('.', ',') + ' %')",
    "decimal": "from decimal import Decimal\nprint(Decimal(right) / Decimal(total))",
    "in single precision": "import numpy as np\nprint(float(np.float32(right) / np.float32(total)))",
    "numpy": "import numpy as np\nprint((np.float64(right / total), np.int64(total)))",
    "in colour": "print(f'\\033[92m{100 * right / total:.1f}%\\033[0m')",
    "after a letter": "print(f'Accuracy is{100 * right / total:.1f}%')",
    "as a table": "print('| split | accuracy |\\n|---|---|\\n| dev | ' + f'{100 * right / total:.2f} |')",
    "with the date": "import datetime\nprint(datetime.datetime(2024, 2, 3, 10, 11), 'accuracy', right / total)",
    "of two": "print('train 0.0512')\nprint('dev', right / total)",
    "standard error": "import sys\nprint(right / total, file=sys.stderr)",
    "raw output": "import sys\nsys.stdout.buffer.write(str(right / total).encode())",
    "warnings": "import warnings\nwarnings.warn(f'accuracy: {right / total}')",
    "logging": "import logging\nlogging.warning('accuracy %s', right / total)",
    "logged": "import logging\nlogging.basicConfig(level='INFO')\nlogging.info('accuracy %.3f', right / total)",
    "logged to a file": "import logging\nlogging.basicConfig(filename='log.txt', level='INFO')\n"
    "logging.info('accuracy %.3f', right / total)",
    "file": "open('accuracy.txt', 'w').write(str(right / total))",
    "a file left open": "result = open('accuracy.txt', 'w')\nresult.write(str(right / total))",
    "JSON": "import json\njson.dump({'accuracy': right / total}, open('result.json', 'w'))",
    "progress, then result": "for n in range(total): print(n, 'of', total)\nprint('accuracy:', right / total)",
    "exit": "import sys\nsys.exit(right / total)",
    "exit code": "import sys\nprint(right / total)\nsys.exit(3)",
    "ten megabytes first": "for _ in range(120_000): print('London ' * 12)\nprint(right / total)",
}


@pytest.mark.parametrize("says", sampled(SAYS.values(), 5), ids=list(SAYS))
def test_the_accuracy_may_be_said_in_any_way(boxes: BoxRunner, submission: MakeSubmission, says: str) -> None:
    found = _judged(boxes, submission(**{FILE: PLAIN + says}))
    assert found.status is Status.PASSED, found


PATHS = {
    "beside it": "path = 'birth_dev.tsv'",
    "above": "path = '../birth_dev.tsv'",
    "in data": "path = './data/birth_dev.tsv'",
    "in data above": "path = '../data/birth_dev.tsv'",
    "beside the folder of the script": "import os\nhere = os.path.dirname(os.path.abspath(__file__))\n"
    "path = os.path.join(os.path.dirname(here), 'birth_dev.tsv')",
    "pathlib, two up": "import pathlib\npath = pathlib.Path(__file__).resolve().parents[1] / 'data' / 'birth_dev.tsv'",
    "moves to its own folder": "import os\nos.chdir(os.path.dirname(os.path.abspath(__file__)))\n"
    "path = '../birth_dev.tsv'",
    "searched for": "import glob\npath = glob.glob('**/birth_dev.tsv', recursive=True)[0]",
    "an argument": "import sys\npath = sys.argv[1]",
    "an argument, with a default": "import sys\npath = sys.argv[1] if len(sys.argv) > 1 else './data/birth_dev.tsv'",
    "an argument, counted": "import sys\nif len(sys.argv) != 2:\n    sys.exit('usage: FILE')\npath = sys.argv[1]",
    "argparse with a default": "import argparse\np = argparse.ArgumentParser()\n"
    "p.add_argument('--dev', default='birth_dev.tsv')\npath = p.parse_args().dev",
    "the course's option": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--eval_corpus_path')\n"
    "path = p.parse_args().eval_corpus_path",
    "argparse by position": "import argparse\np = argparse.ArgumentParser()\np.add_argument('path')\n"
    "path = p.parse_args().path",
    "environment": "import os\npath = os.environ.get('DEV_PATH', 'birth_dev.tsv')",
}


@pytest.mark.parametrize("place", [FILE, f"src/{FILE}"])
@pytest.mark.parametrize("where", sampled(PATHS.values(), 5), ids=list(PATHS))
def test_data_lie_where_scripts_look_for_them(
    boxes: BoxRunner, submission: MakeSubmission, where: str, place: str
) -> None:
    found = _judged(boxes, submission(**{place: f"{where}\n{COUNT}print(right / total)"}))
    assert found.status is Status.PASSED, found


def _inside(head: str, *, end: str, call: str = "") -> str:
    return f"{head}\n" + "".join(f"    {line}\n" for line in (PLAIN + end).splitlines()) + call


FORMS = {
    "main": _inside("def main():", end="print(right / total)", call="if __name__ == '__main__':\n    main()"),
    "main that nobody calls": _inside("def main():", end="print(right / total)"),
    "main that is called and returns": _inside("def main():", end="return right / total", call="main()"),
    "function that returns": _inside("def london_accuracy():", end="return f'{100 * right / total} %'"),
    "function of a path": f"def evaluate(path):\n    {COUNT.replace(chr(10), chr(10) + '    ')}return right, total",
    "function with a place": _inside("def always(place='London'):", end="return {'acc': right / total}"),
    "main of arguments": _inside("import sys\ndef main(argv):", end="print(right / total)", call="main(sys.argv)"),
    "exit with main": _inside("import sys\ndef main():", end="print(right / total)", call="sys.exit(main())"),
    "its work is in a module": "import counting",
    "a class": "class Baseline:\n    def __init__(self, place):\n        self.place = place\n"
    "    def accuracy(self, path):\n        rows = open(path).read().splitlines()\n"
    "        return sum(r.split('\\t')[1] == self.place for r in rows) / len(rows)\n"
    "print(Baseline('London').accuracy('birth_dev.tsv'))",
    "a dataclass": "from dataclasses import dataclass\n@dataclass\nclass Config:\n    path: str = 'birth_dev.tsv'\n"
    f"path = Config().path\n{COUNT}print(right / total)",
    "csv": "import csv\nrows = list(csv.reader(open('birth_dev.tsv', newline=''), delimiter='\\t'))\n"
    "print(sum(r[1] == 'London' for r in rows) / len(rows))",
    "windows line ends": (PLAIN + "print(right / total)").replace("\n", "\r\n"),
    "byte order mark": f"\ufeff{PLAIN}print(right / total)",
    "declared encoding": f"# -*- coding: latin-1 -*-\n{PLAIN}print(right / total)",
}


@pytest.mark.parametrize("form", sampled(FORMS.values(), 4), ids=list(FORMS))
def test_a_script_may_have_any_form(boxes: BoxRunner, submission: MakeSubmission, form: str) -> None:
    found = _judged(boxes, submission(**{f"src/{FILE}": form, "src/counting.py": f"{PLAIN}print(right / total)"}))
    assert found.status is Status.PASSED, found


CALL = """
n = len(open("birth_dev.tsv").readlines())
total, correct = evaluate_places("birth_dev.tsv", ["London"] * n)
print(f"{correct} out of {total}: {100 * correct / total}%")
"""
IMPORTS = {
    "package": "import src.utils\nevaluate_places = src.utils.evaluate_places\n",
    "from the package": "from src import utils\nevaluate_places = utils.evaluate_places\n",
    "from its module": "from src.utils import evaluate_places\n",
    "beside it": "from utils import evaluate_places\n",
    "relative module": "from . import utils\nevaluate_places = utils.evaluate_places\n",
    "relative name": "from .utils import evaluate_places\n",
}
UTILS = """
NAMES = [line.split("\\t")[1].strip() for line in open("birth_dev.tsv")]  # read when it is imported
def evaluate_places(path, places):
    return len(NAMES), sum(a == b for a, b in zip(NAMES, places))
"""


@pytest.mark.parametrize("folder", sampled(["hw.5 (final)/a5/src", "a5/src", "src"], 3))
@pytest.mark.parametrize("start", IMPORTS.values(), ids=list(IMPORTS))
def test_own_modules_are_imported_as_from_any_folder(
    boxes: BoxRunner, submission: MakeSubmission, start: str, folder: str
) -> None:
    found = _judged(boxes, submission(**{f"{folder}/{FILE}": start + CALL, f"{folder}/utils.py": UTILS}))
    assert found.status is Status.PASSED, found


@pytest.mark.parametrize("start", IMPORTS.values(), ids=list(IMPORTS))
def test_a_module_of_the_courses_need_not_be_submitted(
    boxes: BoxRunner, submission: MakeSubmission, start: str
) -> None:
    found = _judged(boxes, submission(**{f"src/{FILE}": start + CALL}))
    assert found.status is Status.PASSED, found


def test_two_folders_up_is_imported_too(boxes: BoxRunner, submission: MakeSubmission) -> None:
    start = "from ..helpers.counting import evaluate_places\n"
    found = _judged(boxes, submission(**{f"a5/src/{FILE}": start + CALL, "a5/helpers/counting.py": UTILS}))
    assert found.status is Status.PASSED, found


def test_a_script_that_only_works_in_its_own_folder_is_run_there(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = f"open('settings.txt').read()\npath = '../birth_dev.tsv'\n{COUNT}print(right / total)"
    found = _judged(boxes, submission(**{f"src/{FILE}": code, "src/settings.txt": ""}))
    assert found.status is Status.PASSED, found


def test_the_courses_data_win_over_data_handed_in(boxes: BoxRunner, submission: MakeSubmission) -> None:
    handed_in = {"data/birth_dev.tsv": "Where was A born?\tLondon\n", "my/own/birth_dev.tsv": "What?\tLondon\n"}
    for path in handed_in:
        work = submission(**{FILE: f"path = {path!r}\n{COUNT}print(right / total)", **handed_in})
        (work.folder / path).chmod(0o444)
        assert _judged(boxes, work).status is Status.PASSED
        assert (work.folder / path).read_text() == handed_in[path]
        (work.folder / path).chmod(0o644)


def test_a_submission_with_large_files_is_run_all_the_same(boxes: BoxRunner, submission: MakeSubmission) -> None:
    work = submission(**{f"src/{FILE}": PLAIN + "print(right / total)"})
    (work.folder / "model.params").write_bytes(bytes(2**21))
    large = OpenedSubmission(work.name, work.folder, 2**30, (*work.files, "model.params"))
    assert _judged(boxes, large).status is Status.PASSED


PARSER = "import argparse\np = argparse.ArgumentParser()\n"
NEEDS_REVIEW = {
    "required option": (f"{PARSER}p.add_argument('--path', required=True)\np.parse_args()", "script_not_run"),
    "option without a default": (f"{PARSER}p.add_argument('--path')\nopen(p.parse_args().path)", "script_not_run"),
    "silent without its option": (
        f"{PARSER}p.add_argument('--path')\nprint(15 / 300 if p.parse_args().path else '')",
        "script_not_run",
    ),
    "nothing of nothing without": (
        f"{PARSER}p.add_argument('--path')\nprint('' if p.parse_args().path else '0.0 out of 0: 0.0%')",
        "script_not_run",
    ),
    "two arguments": ("import sys\nopen(sys.argv[2])", "script_not_run"),
    "standard input": ("import sys\nrows = list(sys.stdin)\nprint(1 / len(rows))", "script_not_run"),
    "asks": ("input('file? ')", "script_not_run"),
    "a drive in the cloud": ("open('/content/drive/MyDrive/a5/birth_dev.tsv')", "script_not_run"),
    "a drive with a letter": ("open('C:\\\\Users\\\\me\\\\birth_dev.tsv')", "script_not_run"),
    "a folder that is not there": ("open('results/london.txt', 'w')", "script_not_run"),
    "a module that is not there": ("from a5.src.utils import evaluate_places\nprint(5)", "script_not_run"),
    "silent": (f"{PLAIN}right / total", "accuracy_not_stated"),
    "in words": (f"{PLAIN}print('none')", "accuracy_not_stated"),
    "only predictions": (f"{PLAIN}open('out.txt', 'w').write('London\\n' * total)", "accuracy_not_stated"),
    "ends with an exit code": ("import sys\nprint('never')\nsys.exit(2)", "accuracy_not_stated"),
    "only the count": (f"{PLAIN}print('correct:', right)", "accuracy_only_counted"),
}


@pytest.mark.parametrize(("code", "reason"), sampled(NEEDS_REVIEW.values(), 4), ids=list(NEEDS_REVIEW))
def test_what_does_not_fit_needs_review(boxes: BoxRunner, submission: MakeSubmission, code: str, reason: str) -> None:
    found = _judged(boxes, submission(**{FILE: code}))
    assert (found.status, found.code) == (Status.REVIEW, reason), found
    assert found.score == (0.5 if reason == "accuracy_only_counted" else 0)
    assert reason != "script_not_run" or found.detail


def test_why_it_did_not_run_is_the_same_in_every_run(boxes: BoxRunner, submission: MakeSubmission) -> None:
    code = "import os\nopen(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'settings.txt'))"
    first, again = (_judged(boxes, submission(**{FILE: code})) for _ in range(2))
    assert first.detail == again.detail == "FileNotFoundError: [Errno 2] No such file or directory: 'settings.txt'"


WRONG = {
    "hard-coded": ("print('Accuracy: 5.0%')", "accuracy_fixed", "read 5"),
    "hard-coded counts": ("print('15 out of 300')", "accuracy_fixed", "read 15, 300"),
    "the data are not read": (f"{PARSER}p.add_argument('-p')\np.parse_args()\nprint(0.05)", "accuracy_fixed", "read"),
    "on the training data": (
        f"path = 'birth_places_train.tsv'\n{COUNT}print(right / total)",
        "accuracy_fixed",
        "read 0.05",
    ),
    "every number": ("print(*range(101))", "wrong_accuracy", "read 98, 99, 100; expected 15/300"),
    "huge numbers": ("print('9' * 400, '9' * 400)", "wrong_accuracy", "read inf, inf; expected 15/300"),
    "wrong share": (f"{PLAIN}print((total - right) / total)", "wrong_accuracy", "read 0.95; expected"),
    "another number": (f"{PLAIN}print(right / total / 2)", "wrong_accuracy", "read 0.025; expected"),
    "nearly right": (f"{PLAIN}print(right / total + 0.004)", "wrong_accuracy", "read 0.054; expected"),
    "a line too many": (f"{PLAIN}print(f'{{right}}/{{total + 1}}')", "wrong_accuracy", "read 15, 301; expected"),
    "a line too few": (f"{PLAIN}print(right / (total - 1))", "wrong_accuracy", "read 0.0501672; expected"),
    "whole numbers": (f"{PLAIN}print(right // total)", "wrong_accuracy", "read 0; expected"),
    "swapped": (
        f"{PLAIN}print(f'{{total}} out of {{right}}: {{100 * total / right}}%')",
        "wrong_accuracy",
        "read 300, 15",
    ),
    "upside down": (f"{PLAIN}print(total / right)", "wrong_accuracy", "read 20; expected"),
    "right on these data only": (
        f"{PLAIN}print(right / total if right == 15 else 0.99)",
        "wrong_on_other_data",
        "read 0.99; expected",
    ),
}


@pytest.mark.parametrize(("code", "reason", "told"), sampled(WRONG.values(), 4), ids=list(WRONG))
def test_what_is_not_the_accuracy_fails(
    boxes: BoxRunner, submission: MakeSubmission, code: str, reason: str, told: str
) -> None:
    found = _judged(boxes, submission(**{FILE: code}))
    assert (found.status, found.code) == (Status.FAILED, reason), found
    assert found.detail.startswith(told)
    assert "5.0" not in found.message


STUBS = {
    "only comments": "# Calculate the accuracy of a baseline that always says London.\n# It needs a few lines.\n",
    "imports": "import argparse\nimport utils\n\n# TODO\n",
    "a function without a body": 'def main():\n    """Says the accuracy."""\n    pass\n\nmain()\n',
    "raises": "def main():\n    raise NotImplementedError\nmain()\n",
    "empty": "",
}


@pytest.mark.parametrize("code", STUBS.values(), ids=list(STUBS))
def test_a_script_that_does_nothing_is_not_started(boxes: BoxRunner, submission: MakeSubmission, code: str) -> None:
    found = _judged(boxes, submission(**{FILE: code}))
    assert (found.status, found.code) == (Status.MISSING, "not_started"), found


HOSTILE = {
    "reads beyond the sandbox": ("print(open('/etc/passwd').read())", "raised PermissionError"),
    "network": ("import socket\nsocket.socket()", "raised PermissionError"),
    "starts a program": ("import subprocess\nsubprocess.run(['ls'])", "raised "),
    "ends its process": ("import os\nprint(5.0)\nos._exit(0)", "ended its own process"),
    "raises": ("1 / 0", "raised ZeroDivisionError at london_baseline.py:1"),
    "raises in a module of its own": ("import other\nprint(5)", "raised ZeroDivisionError at london_baseline.py:1"),
    "no Python": ("accuracy is 5 %", "raised SyntaxError at london_baseline.py:1"),
    "closes its output": ("import sys\nsys.stdout.close()\nprint(5.0)", "raised ValueError"),
    "breaks open": ("import builtins\nbuiltins.open = None\nprint(15 / 300)", "raised TypeError"),
    "patches what lists files": ("import os\nos.walk = lambda top: iter([(1, 2, 3)])\nprint(15 / 300)", "raised "),
}


@pytest.mark.parametrize(("code", "told"), HOSTILE.values(), ids=list(HOSTILE))
def test_what_else_is_tried_earns_nothing(boxes: BoxRunner, submission: MakeSubmission, code: str, told: str) -> None:
    with pytest.raises(StudentFault, match=told):
        _judged(boxes, submission(**{FILE: code, "other.py": "1 / 0"}))


@pytest.mark.slow
def test_printing_without_end_runs_out_of_time(boxes: BoxRunner, submission: MakeSubmission) -> None:
    with pytest.raises(TimedOut, match="1 s of processor time"):
        _judged(boxes, submission(**{FILE: "while True: print(5.0)"}), Limits(cpu_seconds=1, wall_seconds=30))


@pytest.mark.parametrize("forged", ["{'text': 3, 'started': True, 'refused': ''}", "[5.0]", "None"])
def test_a_forged_reply_is_the_students_fault(boxes: BoxRunner, submission: MakeSubmission, forged: str) -> None:
    replaced = "sys.modules['_grader.sandbox.box.worker'].PROBES['run_script']"
    code = f"import sys\n{PLAIN}{replaced} = lambda **_: {forged}\nprint(right / total)"
    with raises(Crashed, "malformed_reply"):
        _judged(boxes, submission(**{FILE: code}))


@pytest.mark.parametrize(
    ("text", "want", "near"),
    [(5.0, 5.0, True), (5.7, 5.667, True), (5.6, 5.667, True), (5.5, 5.667, False), (5.8, 5.667, False)],
)
def test_numbers_may_be_rounded_or_cut_off(text: float, want: float, near: bool) -> None:
    assert _Number(text, 0.1).is_near(want) is near


def test_altered_data_keep_the_questions_and_move_the_share() -> None:
    rng = np.random.default_rng(3)
    rows = [line.split("\t") for line in (DATA / "birth_dev.tsv").read_text(encoding="utf-8").splitlines()]
    altered = [line.split("\t") for line in _altered(rng, rows, 90).splitlines()]
    assert [text for text, _ in altered] == [text for text, _ in rows]
    assert sum(label == "London" for _, label in altered) == 90
    assert _altered(rng, [["q", "London"]] * 4, 1).count("Elsewhere") == 3
