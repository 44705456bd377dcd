"""What one process tells by reading code, and another takes over: a reader that serves many submissions, and a box."""

from __future__ import annotations

import gc
import os

from . import own_source, purity, whole_files

Found = tuple[str, list[str] | None, bool]


def read_code(file: str, others: list[str], home: str, is_another: bool) -> list[Found]:
    """What these files tell, in a process that reads one submission after the other. This one lies at `home`."""
    if is_another:
        gc.disable()  # trees go when they are forgotten: nobody has to look through thousands of nodes for garbage
        purity.forget()
        own_source.forget()
        os.chdir(home)
    return [_read(one) for one in (file, *others)]


def _read(file: str) -> Found:
    """By what it may keep something, the names of libraries in it, and whether it may be run as it stands."""
    kept = purity.what_it_may_keep(file)
    return kept, purity.library_names(file), not kept and purity.may_be_run_whole(file)


def take_over(read: dict[str, tuple[str, bool]]) -> None:
    """What was found of files of the submission here, before this process was made."""
    for file, (kept, whole) in read.items():
        purity.know(file, kept)
        whole_files.are([os.path.abspath(file)] if whole else [])
