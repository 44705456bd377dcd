"""Who may review. Each reviewer has a token, which an address holds. It buys a session, which a cookie holds."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from grader.errors import UsageError
from grader.quoting import quote

_LEAST_TOKEN = 16  # characters: 64 bits, if they are hexadecimal
_MOST_TOKEN = 200
_MOST_READ = 2**16
_OTHERS_MAY_READ = 0o044


class Reviewers:
    """`path`: every page lies below it. It follows from the tokens, so a page has the same address after a restart."""

    def __init__(self, by_token: Mapping[str, str]) -> None:
        self.by_token = by_token  # token → name
        self.by_session = {secrets.token_urlsafe(24): name for name in by_token.values()}  # new at each start
        self.path = "/" + hashlib.sha256("\n".join(["path", *sorted(by_token)]).encode()).hexdigest()[:32]

    def session(self, name: str) -> str:
        return next(session for session, owner in self.by_session.items() if owner == name)

    def form_token(self, name: str) -> str:
        """What each form of this reviewer carries, and no other site can know. It follows from the token, so that a
        form that was open while the server was started anew can still be sent."""
        token = next(token for token, known in self.by_token.items() if known == name)
        return hmac.new(token.encode(), b"form", hashlib.sha256).hexdigest()


def whose(secret: str, owners: Mapping[str, str]) -> str | None:
    """Every secret is compared, each in constant time, so the time taken reveals nothing."""
    sent, name = secret.encode("utf-8", "replace"), None
    for known, owner in owners.items():
        if hmac.compare_digest(known.encode(), sent):
            name = owner
    return name


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
            write_secret(path, token)
    return Reviewers({token: name})


def write_secret(path: Path, text: str) -> None:
    """A new file that only its owner can read."""
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


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
