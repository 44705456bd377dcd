"""A student, a TA and an author in a fresh clone get what docs/first_steps.md shows, command by command."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.test_cli import grader

PAGE = (REPOSITORY / "docs" / "first_steps.md").read_text(encoding="utf-8")
LEFT_OUT = "[...]"


@pytest.mark.slow
def test_who_follows_the_page_sees_what_it_shows(tmp_path: Path) -> None:
    for folder in ("submissions", "tests/rubrics"):
        shutil.copytree(REPOSITORY / folder, tmp_path / folder)
    here, ran = tmp_path, 0
    for kind, block in re.findall(r"```(python|yaml|console)\n(.*?)```", PAGE, re.DOTALL):
        if kind != "console":
            name, _, text = block.partition("\n")
            (tmp_path / name.removeprefix("# ")).parent.mkdir(exist_ok=True)
            (tmp_path / name.removeprefix("# ")).write_text(text, encoding="utf-8")
            continue
        for command, shown in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            program, *arguments = shlex.split(command)
            if program == "cd":
                here = here / arguments[0]
                continue
            done = grader(*arguments, cwd=here)
            printed = "".join(f"{line.rstrip()}\n" for line in (done.stdout + done.stderr).splitlines())
            assert re.fullmatch(re.escape(shown).replace(re.escape(LEFT_OUT), ".*"), printed, re.DOTALL), printed
            ran += 1
    assert ran >= 12
    assert (tmp_path / "grades" / "index.html").is_file()
    assert (tmp_path / "kit" / "kit-dl-hw3.zip").is_file()
    (tmp_path / "squares").mkdir()
    (tmp_path / "squares" / "attention.py").write_text("def attention(Q, K, V, beta): return (V @ K.T @ Q) ** 2\n")
    told = " ".join(grader("run", "squares", "--rubric", "linear/rubric.yaml", cwd=tmp_path).stdout.split())
    assert "0 / 5" in told, "the author's check judges"
    assert "with 3 V off by" in told
