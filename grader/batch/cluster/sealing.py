"""Files as bytes with their hash, everything else as JSON: all that travels between writer, worker and grading process.

A worker loads this and nothing of what grades.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.quoting import quote

LOST_AT_MOST = 3  # workers over one submission; as many as a local batch loses jobs
_QUICKLY = 1  # zlib: reports shrink to a tenth at the lowest level


class Damaged(Exception):
    """What arrived is not what was sent."""


@dataclass(frozen=True)
class Parcel:
    """Some files by their places, and what is said about them."""

    about: dict[str, Any]
    files: Mapping[str, bytes] = field(default_factory=dict)

    def sealed(self) -> tuple[bytes, bytes]:
        """The words and the content. The words hold the content's hash and the places of files in it."""
        content = b"".join(self.files.values())
        places = [(name, len(file)) for name, file in self.files.items()]
        words = {"about": self.about, "files": places, "sha256": hashlib.sha256(content).hexdigest()}
        return packed(words), content

    @classmethod
    def opened(cls, words: bytes, content: bytes) -> Parcel:
        told = unpacked(words)
        if hashlib.sha256(content).hexdigest() != told["sha256"]:
            raise Damaged("the files arrived damaged")
        files, at = {}, 0
        for name, size in told["files"]:
            files[name] = content[at : at + size]
            at += size
        return cls(told["about"], files)

    def unpack(self, folder: Path) -> None:
        for name, content in self.files.items():
            target = folder / name
            if not target.resolve().is_relative_to(folder.resolve()):
                raise Damaged(f"{quote(name)} leads outside")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def packed(data: Any) -> bytes:
    return zlib.compress(json.dumps(data, allow_nan=False).encode(), _QUICKLY)


def unpacked(words: bytes) -> Any:
    return json.loads(zlib.decompress(words))
