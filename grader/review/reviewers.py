"""Who may come in. Each reviewer has a token; it is shown once in an address, and a cookie carries it from then on."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from grader.errors import UsageError
from grader.quoting import quote

_LEAST_TOKEN = 16  # characters: 64 bits, if they are hexadecimal
_MOST_TOKEN = 200
_MOST_READ = 2**16
_OTHERS_MAY_READ = 0o044


@dataclass(frozen=True)
class Reviewers:
    by_token: dict[str, str]  # token → name

    def who(self, token: str) -> str | None:
        """Whose token it is. Every one is compared, each in constant time: how long it takes tells nothing."""
        given, found = token.encode("utf-8", "replace"), None
        for known, name in self.by_token.items():
            if hmac.compare_digest(known.encode(), given):
                found = name
        return found

    def form_token(self, name: str) -> str:
        """What each form of this reviewer carries, and no other site can know. It follows from the token, so that a
        form that was open while the server was started anew can still be sent."""
        token = next(token for token, known in self.by_token.items() if known == name)
        return hmac.new(token.encode(), b"form", hashlib.sha256).hexdigest()


def one_reviewer(name: str, grades: Path) -> Reviewers:
    """The one at this machine. The token stays with the grades, readable by their owner alone: a page that was open
    while the server ended can still send what was typed on it."""
    path = grades / "review.token"
    try:
        kept = path.read_text(encoding="ascii") if not path.stat().st_mode & _OTHERS_MAY_READ else ""
    except (OSError, UnicodeDecodeError):
        kept = ""
    token = kept if _LEAST_TOKEN <= len(kept) <= _MOST_TOKEN and kept.isprintable() else secrets.token_urlsafe(24)
    if token != kept:
        with contextlib.suppress(OSError):  # where nothing can be kept, it is new at each start
            path.unlink(missing_ok=True)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
                file.write(token)
    return Reviewers({token: name})


def read_reviewers(path: Path) -> Reviewers:
    """A file of lines `NAME: TOKEN`; empty lines and lines that begin with # are passed over."""
    try:
        mode, text = path.stat().st_mode, path.read_bytes()[:_MOST_READ].decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"{path}: the reviewers cannot be read: {reason}") from None
    if mode & _OTHERS_MAY_READ:
        raise UsageError(f"{path}: others on this machine can read the tokens in it; chmod 600 {path}")
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, colon, token = (part.strip() for part in line.rpartition(":"))
        where = f"{path}:{number}"
        if not colon or not name:
            raise UsageError(f"{where}: a reviewer is a line NAME: TOKEN")
        if len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable():
            raise UsageError(f"{where}: a token has {_LEAST_TOKEN} letters or more; `openssl rand -hex 16` makes one")
        if token in found or name in found.values():
            raise UsageError(f"{where}: the name or the token of {quote(name, 60)} is there twice")
        found[token] = quote(name, 80)
    if not found:
        raise UsageError(f"{path}: no reviewer is in it; each is a line NAME: TOKEN")
    return Reviewers(found)
