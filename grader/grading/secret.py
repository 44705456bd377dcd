"""The course's secret: what hidden inputs are drawn from, so that knowing the grader does not mean knowing them."""

from __future__ import annotations

import hashlib
import hmac
import os
from dataclasses import dataclass
from pathlib import Path

from grader.errors import UsageError

VARIABLE, FILE_VARIABLE = "GRADER_SECRET", "GRADER_SECRET_FILE"
_LEAST_CHARACTERS = 16  # more than anybody can guess by trying


@dataclass(frozen=True)
class Secret:
    text: str

    def number(self, place: str) -> int:
        """The seed of one hidden check."""
        digest = hmac.new(self.text.encode(), place.encode(), hashlib.sha256).digest()
        return int.from_bytes(digest[:8], "big") >> 1

    @property
    def fingerprint(self) -> str:
        """Tells whether two reports used the same secret, and nothing else about it."""
        return hmac.new(self.text.encode(), b"fingerprint", hashlib.sha256).hexdigest()[:12]

    def __repr__(self) -> str:
        return f"Secret({self.fingerprint})"  # never in a traceback


def read_secret() -> Secret | None:
    """From GRADER_SECRET, or the file GRADER_SECRET_FILE names; None if neither is set."""
    text, file = os.environ.get(VARIABLE), os.environ.get(FILE_VARIABLE)
    if text is None and file is not None:
        try:
            text = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{FILE_VARIABLE}: {file} cannot be read ({error})") from None
    if text is None:
        return None
    text = text.strip()
    if len(text) < _LEAST_CHARACTERS:
        cause = f"the secret is shorter than {_LEAST_CHARACTERS} characters; `openssl rand -hex 16` makes one"
        raise UsageError(f"{VARIABLE if VARIABLE in os.environ else FILE_VARIABLE}: {cause}")
    return Secret(text)
