"""London baselines that need arguments, or import as part of a package, run in a real box."""

from __future__ import annotations

import pytest

from grader.errors import Crashed
from grader.model import Status
from grader.sandbox import BoxRunner
from tests.checks.test_baseline import DATA, FILE, _judged
from tests.conftest import MakeSubmission, sampled

COUNT = """
lines = open(path, encoding="utf-8").read().splitlines()
right = sum(line.split("\\t")[1] == "London" for line in lines)
total = len(lines)
print(f"Correct: {float(right)} out of {float(total)}: {right / total * 100}%")
"""
PARSER = "import argparse\np = argparse.ArgumentParser()\n"
INDENTED = COUNT.replace("\n", "\n    ")


def _parsing(declared: str, path: str) -> str:
    return f"{PARSER}{declared}\na = p.parse_args()\npath = {path}\n{COUNT}"


ARGUMENTS = {
    "optional path": _parsing("p.add_argument('--eval_corpus_path', default=None)", "a.eval_corpus_path"),
    "no default": _parsing("p.add_argument('--eval_corpus')", "a.eval_corpus"),
    "short and long": _parsing("p.add_argument('-f', '--file', type=str)", "a.file"),
    "other name": _parsing("p.add_argument('--corpus', dest='where')", "a.where"),
    "no telling name": _parsing("p.add_argument('-x')", "a.x"),
    "path type": _parsing("import pathlib\np.add_argument('--path', type=pathlib.Path)", "a.path"),
    "opened by argparse": _parsing("p.add_argument('--input', type=argparse.FileType())", "a.input.name"),
    "optional positional": _parsing("p.add_argument('path', nargs='?')", "a.path"),
    "several values": _parsing("p.add_argument('--paths', nargs='+')", "a.paths[0]"),
    "flag and number beside it": _parsing(
        "p.add_argument('--eval_path')\np.add_argument('--quick', action='store_true')\n"
        "p.add_argument('--seed', type=int)",
        "a.eval_path",
    ),
    "required and optional": _parsing(
        "p.add_argument('outputs_path')\np.add_argument('--eval_corpus_path')\n"
        "p.add_argument('--n', type=int, required=True)",
        "a.eval_corpus_path",
    )
    + "open(a.outputs_path, 'w').write('London\\n' * total)",
    "optional output": _parsing("p.add_argument('--path')\np.add_argument('--outputs_path')", "a.path")
    + "open(a.outputs_path, 'w').write('London\\n' * total)",
    "as the course's run.py": _parsing(
        "p.add_argument('function', choices=['pretrain', 'finetune', 'evaluate'])\n"
        "p.add_argument('--reading_params_path')\np.add_argument('--finetune_corpus_path')\n"
        "p.add_argument('--eval_corpus_path', default=None)\np.add_argument('--outputs_path')\n",
        "a.eval_corpus_path",
    )
    + "assert a.function == 'evaluate'\nopen(a.outputs_path, 'w').write('London\\n' * total)",
    "dev and test at once": _parsing("p.add_argument('--dev_path')\np.add_argument('--test_path')", "a.dev_path")
    + "assert '\\t' not in open(a.test_path).readline()",
    "folder": _parsing("import os\np.add_argument('--data_dir')", "os.path.join(a.data_dir, 'birth_dev.tsv')"),
    "default on another machine": _parsing(
        "p.add_argument('--path', default='/content/drive/birth_dev.tsv')", "a.path"
    ),
    "default without places": _parsing("p.add_argument('--eval', default='birth_test_inputs.tsv')", "a.eval"),
    "silent without": f"{PARSER}p.add_argument('--path')\npath = p.parse_args().path\nif path:\n    {INDENTED}",
    "says so without": f"{PARSER}p.add_argument('--path')\npath = p.parse_args().path\n"
    f"if path is None:\n    print('give me birth_dev.tsv with python3')\nelse:\n    {INDENTED}",
    "nothing of nothing without": f"{PARSER}p.add_argument('--path')\npath = p.parse_args().path\n"
    f"if path is None:\n    print('0.0 out of 0: 0.0%')\nelse:\n    {INDENTED}",
    "prints its help without": f"{PARSER}p.add_argument('--path')\npath = p.parse_args().path\n"
    f"if path is None:\n    p.print_help()\n    raise SystemExit(1)\n{COUNT}",
    "one or the other": _parsing(
        "g = p.add_mutually_exclusive_group()\ng.add_argument('--path')\ng.add_argument('--file')", "a.path or a.file"
    ),
    "subcommand": _parsing(
        "s = p.add_subparsers(dest='what', required=True)\ns.add_parser('train')\n"
        "e = s.add_parser('evaluate')\ne.add_argument('--path', required=True)",
        "a.path",
    ),
    "known arguments": f"{PARSER}p.add_argument('--path')\npath = p.parse_known_args()[0].path\n{COUNT}",
    "main with arguments": f"{PARSER}p.add_argument('--path')\ndef main(a):\n    path = a.path\n    {INDENTED}\n"
    "if __name__ == '__main__':\n    main(p.parse_args())",
    "two by position": f"import sys\npath, out = sys.argv[1], sys.argv[2]\n{COUNT}open(out, 'w').write('London')",
    "counted by itself": f"import sys\nif len(sys.argv) != 2:\n    sys.exit('no path')\npath = sys.argv[1]\n{COUNT}",
    "unpacked": f"import sys\n_, path = sys.argv\n{COUNT}",
}


@pytest.mark.parametrize("code", sampled(ARGUMENTS.values(), 4), ids=list(ARGUMENTS))
def test_a_script_is_given_the_arguments_it_needs(boxes: BoxRunner, submission: MakeSubmission, code: str) -> None:
    found = _judged(boxes, submission(**{f"src/{FILE}": code}), beside=[str(DATA / "birth_test_inputs.tsv")])
    assert found.status is Status.PASSED, found


REFUSED = {
    "never reads the path": f"{PARSER}p.add_argument('--path')\np.parse_args()\nprint('Accuracy: 5.0%')",
    "hard-coded when it has one": f"{PARSER}p.add_argument('--path')\nprint(15 / 300 if p.parse_args().path else '')",
    "hard-coded by position": "import sys\nprint(15 / 300 if len(sys.argv) > 1 else 'usage: FILE')",
}


@pytest.mark.parametrize("code", REFUSED.values(), ids=list(REFUSED))
def test_arguments_help_nobody_who_works_nothing_out(boxes: BoxRunner, submission: MakeSubmission, code: str) -> None:
    found = _judged(boxes, submission(**{FILE: code}))
    assert (found.status, found.code) == (Status.FAILED, "accuracy_fixed"), found


CRASHES = {
    "a value nobody can guess": (_parsing("p.add_argument('--n', type=int)", "'x' * a.n"), "raised TypeError"),
    "refuses everything": (f"{PARSER}p.add_argument('--path')\np.parse_args()\n1 / 0", "raised ZeroDivisionError"),
    "patches argparse": (
        f"{PARSER}argparse.ArgumentParser._actions = 3\nargparse._StoreAction = None\np._actions = 7\n1 / 0",
        "raised ZeroDivisionError",
    ),
    "hostile declarations": (
        f"{PARSER}[p.add_argument(f'--path{{n}}', nargs=9) for n in range(500)]\na = p.parse_args()\n1 / 0",
        "raised ZeroDivisionError",
    ),
}


@pytest.mark.parametrize(("code", "told"), CRASHES.values(), ids=list(CRASHES))
def test_what_went_wrong_first_is_told(boxes: BoxRunner, submission: MakeSubmission, code: str, told: str) -> None:
    with pytest.raises(Crashed, match=told):
        _judged(boxes, submission(**{FILE: code}))


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
def test_utils_are_imported_as_from_any_folder(
    boxes: BoxRunner, submission: MakeSubmission, start: str, folder: str
) -> None:
    handed = _judged(boxes, submission(**{f"{folder}/{FILE}": start + CALL, f"{folder}/utils.py": UTILS}))
    assert handed.status is Status.PASSED, handed
    assert handed.evidence["utils"] == "no stand-in needed"


@pytest.mark.parametrize("place", sampled([f"src/{FILE}", FILE], 2))
@pytest.mark.parametrize("start", IMPORTS.values(), ids=list(IMPORTS))
def test_the_courses_utils_stand_in_under_every_name(
    boxes: BoxRunner, submission: MakeSubmission, start: str, place: str
) -> None:
    found = _judged(boxes, submission(**{place: start + CALL}))
    assert found.status is Status.PASSED, found
    assert "stood in" in found.evidence["utils"]


def test_two_folders_up_is_imported_too(boxes: BoxRunner, submission: MakeSubmission) -> None:
    start = "from ..helpers.counting import evaluate_places\n"
    found = _judged(boxes, submission(**{f"a5/src/{FILE}": start + CALL, "a5/helpers/counting.py": UTILS}))
    assert found.status is Status.PASSED, found


def test_a_script_may_have_to_be_run_between_the_top_and_its_folder(
    boxes: BoxRunner, submission: MakeSubmission
) -> None:
    code = f"open('settings.txt').read()\npath = 'birth_dev.tsv'\n{COUNT}"
    found = _judged(boxes, submission(**{f"a5/src/{FILE}": code, "a5/settings.txt": ""}))
    assert found.status is Status.PASSED, found
    assert found.evidence["run_from"] == "a folder above its own"


QUIET = COUNT.rpartition("print")[0]
SAYS = {
    "logged": "import logging\nlogging.basicConfig(level='INFO')\nlogging.info('accuracy %.3f', right / total)",
    "logged to standard output": "import logging, sys\nlog = logging.getLogger('a5')\nlog.setLevel('INFO')\n"
    "log.addHandler(logging.StreamHandler(sys.stdout))\nlog.info(right / total)",
    "logged to a file": "import logging\nlogging.basicConfig(filename='log.txt', level='INFO')\n"
    "logging.info('accuracy %.3f', right / total)",
    "a file left open": "result = open('accuracy.txt', 'w')\nresult.write(str(right / total))",
    "JSON": "import json\njson.dump({'accuracy': right / total}, open('result.json', 'w'))",
    "float counts": "print(f'{float(right)} out of {total}')",
    "percent after a blank": "print(f'London baseline: {100 * right / total:.1f} %')",
}


@pytest.mark.parametrize("says", sampled(SAYS.values(), 3), ids=list(SAYS))
def test_the_accuracy_may_be_logged_or_left_in_a_file(boxes: BoxRunner, submission: MakeSubmission, says: str) -> None:
    found = _judged(boxes, submission(**{FILE: f"path = 'birth_dev.tsv'\n{QUIET}{says}"}))
    assert found.status is Status.PASSED, found


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ("print('Accuracy: 12.50 %')", "read 12.50; expected 15/300"),
        ("print(f'{right + 3}/{total}')", "read 18, 300; expected"),
        ("print('wrong:', total - right, 'of', total)", "read 285, 300; expected"),
        ("print(1, 2, 3, 4, 44, 66)", "read …, 4, 44, 66; expected"),
        ("print('9' * 300)", "read 99999999999…; expected"),
        ("print('none')", "expected 15/300"),
    ],
)
def test_a_wrong_number_is_quoted_as_it_was_read(
    boxes: BoxRunner, submission: MakeSubmission, says: str, told: str
) -> None:
    found = _judged(boxes, submission(**{FILE: f"path = 'birth_dev.tsv'\n{QUIET}{says}"}))
    assert found.status is Status.FAILED, found
    assert found.detail.startswith(told)
