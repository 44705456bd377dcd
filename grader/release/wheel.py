"""A wheel of the students' grader, packed by hand.

A build by setuptools would pack what lies in the repository, README and reference included, and fetch its build
requirements. A wheel of plain Python is a zip of the files and three short texts:
https://packaging.python.org/en/latest/specifications/binary-distribution-format/
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import zipfile
from collections.abc import Mapping
from importlib.metadata import requires

from grader import __version__

_DISTRIBUTION = "attention-grader"
_EXTRA = "torch"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can say; the same content gives the same bytes
_WHEEL = "Wheel-Version: 1.0\nGenerator: attention-grader\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_COMMANDS = "[console_scripts]\ngrader = grader.start:main\n"


def wheel(files: Mapping[str, bytes], rubric: str) -> tuple[str, bytes]:
    """Its file name and its bytes. The version says for which rubric, since each holds only the checks of its own, and
    which content: pip keeps what it has installed as long as the version is the same."""
    content_digest = hashlib.sha256(b"".join(_digest(content).encode() for _, content in sorted(files.items())))
    version = f"{__version__}+{re.sub(r'[^a-z0-9]+', '.', rubric.lower())}.{content_digest.hexdigest()[:8]}"
    stem = f"{_DISTRIBUTION.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    metadata = ["Metadata-Version: 2.1", f"Name: {_DISTRIBUTION}", f"Version: {version}", "Requires-Python: >=3.11"]
    metadata += [f"Provides-Extra: {_EXTRA}", *(f"Requires-Dist: {line}" for line in requirements())]
    contents = {
        **files,
        f"{info}/METADATA": ("\n".join(metadata) + "\n").encode(),
        f"{info}/WHEEL": _WHEEL.encode(),
        f"{info}/entry_points.txt": _COMMANDS.encode(),
    }
    record = "".join(f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in sorted(contents.items()))
    contents[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(contents.items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return f"{stem}-py3-none-any.whl", stream.getvalue()


def requirements() -> list[str]:
    """What is installed with it and, last, what may be: torch, for the parts that ask for it."""
    every = requires(_DISTRIBUTION) or []
    wanted = re.compile(rf"extra == ['\"]{_EXTRA}['\"]")
    return [*(line for line in every if "extra ==" not in line), *filter(wanted.search, every)]


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
