"""Who may review, and what `grader review` refuses to do."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from typer.testing import CliRunner

from grader.errors import UsageError
from grader.review import commands
from grader.review.reviewers import one_reviewer, read_reviewers, whose
from tests.batch.classes import ENVIRONMENT
from tests.batch.test_gradebook import a_result, book, keep
from tests.review.made_classes import essays
from tests.review.serving import served
from tests.waiting import PATIENCE_SECONDS, until

__all__ = ["book"]
TOKENS = {"Kim": "k" * 16, "Lee: the second": "l" * 32}


def _written(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "reviewers.txt"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_each_reviewer_has_a_token_of_their_own(tmp_path: Path) -> None:
    lines = [f"{name}: {token}" for name, token in TOKENS.items()]
    people = read_reviewers(_written(tmp_path, "\n".join(["# tokens", "", *lines])))
    assert {whose(token, people.by_token): token for token in TOKENS.values()} == TOKENS
    assert [whose(token, people.by_token) for token in ("", "k", "k" * 17, "ключ")] == [None] * 4
    assert {whose(people.session(name), people.by_session) for name in TOKENS} == set(TOKENS)
    assert people.form_token("Kim") != people.form_token("Lee: the second")


def test_an_open_page_outlives_the_server(tmp_path: Path) -> None:
    """The token stays the same while nobody else can have read it."""
    first = one_reviewer("Kim", tmp_path)
    kept = tmp_path / "review.token"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert one_reviewer("Lee", tmp_path).by_token == dict.fromkeys(first.by_token, "Lee")
    kept.chmod(0o644)
    second = one_reviewer("Kim", tmp_path)
    assert second.by_token.keys() != first.by_token.keys()
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.write_text("short")
    assert all(len(token) > 30 for token in one_reviewer("Kim", tmp_path).by_token)
    assert one_reviewer("Kim", tmp_path / "nowhere").by_token


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no reviewer is in it"),
        ("Kim", "txt:1: a reviewer is a line NAME: TOKEN"),
        ("\nKim: short", "txt:2: a token has 16 letters or more"),
        (f"Kim: {'k' * 16}\nLee: {'k' * 16}", "txt:2: the name or the token of Lee is there twice"),
        (f"Kim: {'k' * 16}\nKim: {'l' * 16}", "is there twice"),
    ],
)
def test_a_file_of_reviewers_with_a_mistake_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_reviewers(_written(tmp_path, text))


def test_tokens_that_others_can_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="chmod 600"):
        read_reviewers(_written(tmp_path, f"Kim: {'k' * 16}", 0o644))
    with pytest.raises(UsageError, match="cannot be read"):
        read_reviewers(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--host", "0.0.0.0"], "lets other machines in"),
        (["--reviewers", "x", "--by", "Kim"], "each has a name in the file"),
        (["--double", "ten"], "takes a share such as 10%"),
        (["--double", "300%"], "takes a share such as 10%"),
        (["--by", " "], "say who decides with --by NAME"),
        (["--host", "no.such.host.invalid", "--reviewers", "tokens"], "--host no.such.host.invalid"),
    ],
)
def test_what_cannot_be_served_is_one_line(book, tmp_path: Path, options: list[str], said: str) -> None:  # type: ignore[no-untyped-def]
    keep(book, a_result())
    tokens = str(_written(tmp_path, f"Kim: {'k' * 16}"))
    options = [tokens if option == "tokens" else option for option in options]
    done = CliRunner().invoke(commands.app, ["review", str(book.path.parent), "--no-browser", *options])
    assert done.exit_code == 2
    assert said in done.output
    assert done.output.count("\n") == 1


@pytest.mark.slow
def test_without_the_extra_it_says_what_to_install() -> None:
    program = "import sys; sys.modules['starlette'] = None; import grader.start; grader.start.main()"
    command = [sys.executable, "-c", program, "review", "x"]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    line = "grader: `grader review` needs starlette: pip install 'attention-grader[review]'\n"
    assert (done.returncode, done.stdout + done.stderr) == (2, line)


def test_a_folder_without_grades_is_said_so(tmp_path: Path) -> None:
    done = CliRunner().invoke(commands.app, ["review", str(tmp_path)])
    assert (done.exit_code, done.output.count("\n")) == (2, 1)
    assert "there is no gradebook" in done.output


@pytest.mark.slow
def test_the_browsers_command_line_holds_no_token(tmp_path: Path) -> None:
    """Every user of the machine can read it."""
    essays(tmp_path / "grades", 1)
    seen = tmp_path / "command-line"
    opener = tmp_path / "opener"
    opener.write_text(f'#!/bin/sh\necho "$@" > {seen}.partial\nmv {seen}.partial {seen}\n')
    opener.chmod(0o700)
    with served(tmp_path / "grades", "--by", "Kim", browser=f"{opener} %s") as server:
        until(seen.exists)
        token, path = server.address.rpartition("=")[2], urlsplit(server.base).path
        words = seen.read_text()
        assert token not in words
        assert path not in words
        page = Path(url2pathname(urlsplit(words.strip()).path))
        assert page.stat().st_mode & 0o777 == 0o600
        assert server.address in page.read_text()
        server.process.send_signal(signal.SIGINT)
        server.process.wait(timeout=PATIENCE_SECONDS)
        assert not page.exists()
