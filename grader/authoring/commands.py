"""`grader new`: what it is asked, and what it prints."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from grader.authoring.new_rubric import make_rubric
from grader.options import room_of_commands

_ABOUT = {
    "checks.py": "answers, and checks that need them",
    "public.py": "checks and inputs that students get as they are",
    "ideas.yaml": "how students say the ideas that it names",
    "samples": "work of every outcome, and beside each what it gets",
    "proof.yaml": "which sample is right, and what of it is changed to see whether that is noticed",
    "data": "labels, and what else checks need",
    "release.yaml": "which data students get",
    "starter": "files students begin with",
    "schema.json": "for completion in your editor; `grader rubric schema` makes it anew",
}


def new(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="What the rubric is called; a path puts it elsewhere.")],
) -> None:
    """Make a rubric to begin with: one problem of each kind, samples of every outcome, data and checks."""
    rubric, written = make_rubric(name)
    listed = dict(_listed(rubric, written))
    column = max(map(len, listed))
    for path, about in listed.items():
        print(f"{path:<{column}}  {about}")
    print(f"Change it into your own; prove it whenever you did: grader rubric test {shlex.quote(str(rubric))}")


def _listed(rubric: Path, written: list[Path]) -> Iterator[tuple[str, str]]:
    """The files and folders one opens first, each with what it is for."""
    folder = rubric.parent
    yield str(rubric), "the rubric: what is asked, and what it is worth"
    for name, about in _ABOUT.items():
        count = sum(path.is_relative_to(folder / name) for path in written)
        assert count, f"{name} is no part of the template"
        yield f"{folder / name}{'/' if count > 1 else ''}", about


app = room_of_commands(new)
