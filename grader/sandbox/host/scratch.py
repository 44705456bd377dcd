"""Folders that student code has written to, looked at and removed by the grader: no shape of them may trip it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_MAX_ENTRIES = 20_000


def exceeds(folder: Path, most_bytes: int) -> bool:
    """Whether a folder holds more bytes or entries than it may. Stops counting once it does."""
    total, entries, waiting = 0, 0, [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listing:
                for entry in listing:
                    entries += 1
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    if total > most_bytes or entries > _MAX_ENTRIES:
                        return True
        except FileNotFoundError:  # it is being written to while we look
            continue
        except OSError:  # a path too long to follow: nobody nests so deep by accident
            return True
    return False


def remove(folder: Path) -> None:
    """Remove a folder and all in it. `rm` rather than shutil, which recurses and gives up on a very deep one."""
    subprocess.run(["/bin/rm", "-rf", "--", str(folder)], stderr=subprocess.DEVNULL, check=False)
