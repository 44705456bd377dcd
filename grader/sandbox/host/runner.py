"""Opens submissions in sandboxes."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import BoxLost, BoxUnsafe, Killed, TimedOut
from grader.model import Box, Isolation, Limits, Submission
from grader.sandbox.host.fork_server import ForkServer, end_servers, start_servers
from grader.sandbox.host.mentioned_libraries import HEAVY, mentions
from grader.sandbox.host.scratch import remove
from grader.sandbox.jail import jail

if TYPE_CHECKING:
    from grader.sandbox.host.channel import Channel

_COPIED_MB = 32  # submissions up to this size are copied into each sandbox's scratch folder, to be written into
_LONG_AGO = 1_000_000_000  # seconds since 1970


def _unlike_any_other() -> int:
    """A random number for a box or folder. Code in a box can see it; counting up would tell how many came before."""
    return secrets.randbits(48)


def _make_look_new(paths: Iterable[Path]) -> None:
    """Give all files one old date: boxes can see when a file was changed, and that this date was set just now."""
    for path in paths:
        os.utime(path, (_LONG_AGO, _LONG_AGO))


def _link_or_copy(original: str, copy: str) -> None:
    try:
        os.link(original, copy)
    except OSError:  # another file system, or one without links
        shutil.copyfile(original, copy)


class BoxRunner:
    """Runs student code in sandboxes forked from one warm process, which holds `libraries` and never an answer."""

    def __init__(
        self,
        libraries: tuple[str, ...] = ("numpy",),
        *,
        unsafe: bool = False,
        without: tuple[str, ...] = (),
    ) -> None:
        """`without` names layers to do without, as if the kernel lacked them."""
        self._libraries = libraries
        self._unsafe = unsafe
        self._without = without
        self.workspace = Path(tempfile.mkdtemp(prefix="grader-"))
        self._layers: tuple[str, ...] | None = None
        self._servers: dict[tuple[str, ...], ForkServer] = {}
        self._readable: tuple[Path, Path] | None = None  # a submission's folder, and where sandboxes read it
        self._mentioned: dict[tuple[Path, str], bool] = {}  # whether a file, or what it may import, names a heavy one

    def start(self) -> None:
        """Begin loading libraries. Returns at once; the first sandbox waits for them."""
        self._started(self._libraries)

    def _started(self, libraries: tuple[str, ...]) -> ForkServer:
        if libraries not in self._servers:
            self._servers |= start_servers(libraries, self.workspace, self._unsafe, self._without)
        return self._servers[libraries]

    def server_for(self, submission: Submission, file: str) -> ForkServer:
        """One that has loaded what the file needs. With torch in memory, forking takes ten times as long."""
        if HEAVY.isdisjoint(self._libraries):
            return self._started(self._libraries)
        if (submission.folder, file) not in self._mentioned:
            self._mentioned[submission.folder, file] = mentions(submission.folder, file, HEAVY)
        needs_all = self._mentioned[submission.folder, file]
        return self._started(tuple(name for name in self._libraries if needs_all or name not in HEAVY))

    @contextlib.contextmanager
    def open(self, submission: Submission, limits: Limits, seed: int) -> Iterator[Box]:
        from grader.sandbox.host.asking import ForkedBox  # brings numpy: the fork server starts before that

        self.start()
        box = ForkedBox(submission, lambda file: self._forked(submission, file, limits, seed))
        try:
            yield box
        except BoxLost:
            self._end_servers()
            raise
        except (Killed, TimedOut):
            # It may have loaded what its text does not name, within its limits: the next try has it for nothing.
            self._mentioned.update(dict.fromkeys(self._mentioned, True))
            raise
        finally:
            box.close()

    def _forked(self, submission: Submission, file: str, limits: Limits, seed: int) -> Channel:
        """The channel to a new sandbox for this file, once its jail is on."""
        from grader.sandbox.host.channel import Channel  # as above

        server, number = self.server_for(submission, file), _unlike_any_other()
        server.wait_until_ready()
        # With namespaces every sandbox mounts a file system of its own, unseen by the others and gone with it.
        scratch = self.workspace / ("scratch" if server.isolated else f"scratch-{number}")
        scratch.mkdir(mode=0o700, exist_ok=True)
        request = {
            "id": number,
            "seed": seed,
            "copy": submission.size_bytes <= _COPIED_MB * 2**20,
            "confinement": {
                "submission": self._within_reach(submission),
                "scratch": str(scratch),
                "cpu_seconds": limits.cpu_seconds,
                "memory_mb": limits.memory_mb,
                "scratch_mb": limits.scratch_mb,
            },
        }
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        try:
            watch = server.open(request, [theirs.fileno(), writing])
        except BaseException:
            ours.close()
            os.close(reading)
            raise
        finally:
            theirs.close()
            os.close(writing)
        channel = Channel(server, number, ours, reading, watch, limits, None if server.isolated else scratch)
        match channel.greeting():
            case {"layers": list(layers)}:
                self._layers = tuple(layers)
                return channel
            case {"refused": str(reason)}:
                channel.close()
                raise BoxUnsafe(f"the box is not safe on this machine: {reason}")
            case {"broken": str(reason)}:
                channel.close()
                raise BoxLost(f"a box could not be set up ({reason})")
        channel.close()
        raise BoxLost("a box ended before it was ready")

    def _within_reach(self, submission: Submission) -> str:
        """The submission's files, linked to where sandboxes may read them: what they may open is fixed before it is
        known. They look as if nobody had read them before."""
        folder, linked = self._readable or (None, None)
        if linked is None or folder != submission.folder:
            if linked is not None:  # one at a time: the sandboxes of the last one are gone
                remove(linked)
            linked = self.workspace / f"submission-{_unlike_any_other()}"
            shutil.copytree(submission.folder, linked, copy_function=_link_or_copy)
            self._readable = submission.folder, linked
            self._mentioned = {key: known for key, known in self._mentioned.items() if key[0] == submission.folder}
        _make_look_new([self.workspace, linked, *linked.rglob("*")])
        return str(linked)

    @property
    def isolation(self) -> Isolation:
        layers = self._layers or ()
        wanted = (*jail.OPTIONAL, *jail.REQUIRED)
        missing = () if self._layers is None else tuple(layer for layer in wanted if layer not in layers)
        return Isolation(layers, missing)

    def hang_up(self) -> None:
        """Let its processes end, while the grader does what needs no sandbox any more."""
        for server in self._servers.values():
            server.hang_up()

    def _end_servers(self) -> None:
        end_servers(self._servers.values())
        self._servers.clear()

    def close(self) -> None:
        self._end_servers()
        remove(self.workspace)

    def __enter__(self) -> BoxRunner:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
