"""The files in a .zip or .tar.gz, one by one, without trusting a word of what the archive says about itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grader.submission.archives import tarballs, zips
from grader.submission.archives.members import Bounds, BrokenArchive, Content, Member

__all__ = ["ENDINGS", "Bounds", "BrokenArchive", "Content", "Member", "members"]

ENDINGS = (".zip", ".tar.gz", ".tgz")


def members(path: Path, bounds: Bounds) -> Iterator[Member]:
    """Every member that is not a folder, in order; each is counted, folders too, before anything of it is read.

    A member's content can be read until the next one is asked for. BrokenArchive is raised beyond the bounds; a damaged
    archive raises that or whatever the decoder raises.
    """
    return zips.members(path, bounds) if path.name.lower().endswith(".zip") else tarballs.members(path, bounds)
