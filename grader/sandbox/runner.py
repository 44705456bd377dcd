"""Opens submissions in boxes."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import BoxLost, Killed, TimedOut
from grader.model import Box, Isolation, Limits, Submission
from grader.sandbox.fork_server import ForkServer, end_servers, start_servers
from grader.sandbox.inside import jail
from grader.sandbox.inside.student_machine import asks_for_a_device
from grader.sandbox.mentioned_libraries import HEAVY, mentions
from grader.sandbox.scratch import remove

if TYPE_CHECKING:
    from grader.sandbox.reader import Reader, Reading
    from grader.sandbox.usual_questions import UsualQuestions

_LONG_AGO = 1_000_000_000  # seconds since 1970


def _unlike_any_other() -> int:
    """A random number for a box or folder. Code in a box can see it; counting up would tell how many came before."""
    return secrets.randbits(48)


def _make_look_new(paths: Iterable[str]) -> None:
    """Give all files one old date: boxes can see when a file was changed, and that this date was set just now."""
    for path in paths:
        os.utime(path, (_LONG_AGO, _LONG_AGO))


@dataclass
class _Linked:
    """A submission's files, where boxes may read them: linked there, if they are not there anyway."""

    folders: list[str]  # the outermost first
    files: list[str]
    is_ours: bool = True

    def remove(self) -> None:
        """Nobody else can have put anything there. If somebody did, that goes too."""
        if not self.is_ours:
            return
        try:
            for file in self.files:
                os.unlink(file)
            for folder in reversed(self.folders):
                os.rmdir(folder)
        except OSError:
            remove(Path(self.folders[0]))


def _linked(folder: str, to: str) -> _Linked:
    os.mkdir(to)
    made = _Linked([to], [])
    with os.scandir(folder) as listing:
        for entry in listing:
            target = os.path.join(to, entry.name)
            if entry.is_dir(follow_symlinks=False):
                inner = _linked(entry.path, target)
                made.folders += inner.folders
                made.files += inner.files
            else:
                _link_or_copy(entry.path, target)
                made.files.append(target)
    return made


def _as_it_lies(folder: Path) -> _Linked:
    found = _Linked([], [], is_ours=False)
    for here, _, files in os.walk(folder):
        found.folders.append(here)
        found.files += [os.path.join(here, name) for name in files]
    return found


def _link_or_copy(original: str, copy: str) -> None:
    try:
        os.link(original, copy)
    except OSError:  # another file system, or one without links
        shutil.copyfile(original, copy)


class BoxRunner:
    """Runs student code in boxes forked from one warm process, which holds `libraries` and never an answer."""

    def __init__(
        self,
        libraries: tuple[str, ...] = ("numpy",),
        *,
        unsafe: bool = False,
        without: tuple[str, ...] = (),
        room: Path | None = None,
    ) -> None:
        """`without` names layers to do without, as if the kernel lacked them. Boxes may read submissions that lie below
        `room` where they are, one at a time; others are linked to where they may."""
        self._libraries = libraries
        self._unsafe = unsafe
        self._without = without
        self.workspace = Path(tempfile.mkdtemp(prefix="grader-"))
        self._room = room
        self._layers: tuple[str, ...] | None = None
        self._usual: UsualQuestions | None = None
        self._servers: dict[tuple[str, ...], ForkServer] = {}
        self._linked: dict[Path, _Linked] = {}  # by the submission's folder
        self._mentioned: dict[tuple[Path, str], bool] = {}  # whether a file, or what it may import, names a heavy one
        self._wants_a_gpu: dict[Path, bool] = {}  # by the submission's folder
        self._readers: dict[tuple[ForkServer, str], Reader] = {}  # by the folder that holds what they read
        self._read_of: Submission | None = None
        self._read: dict[str, Reading] = {}  # its files

    def start(self) -> None:
        """Begin loading libraries. Returns at once; the first box waits for them."""
        self._started(self._libraries)

    def _started(self, libraries: tuple[str, ...]) -> ForkServer:
        if libraries not in self._servers:
            self._servers |= start_servers(libraries, self.workspace, self._room, self._unsafe, self._without)
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
        from grader.sandbox.forked_box import ForkedBox  # brings numpy: the fork server starts before that

        self.start()
        box = ForkedBox(self, _unlike_any_other(), submission, limits, seed)
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

    def _end_servers(self) -> None:
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()
        end_servers([*self._prepared_servers(), *self._servers.values()])
        self._servers.clear()
        self._usual = None

    def _prepared_servers(self) -> list[ForkServer]:
        return self._usual.servers if self._usual else []

    def read(self, submission: Submission, file: str) -> Reading:
        """What reading one of its files tells."""
        from grader.sandbox.reader import Reader  # as above

        home = self.within_reach(submission)
        if self._read_of is not submission:
            self._read_of, self._read = submission, {}
        if file not in self._read:
            self.start()
            server = self.server_for(submission, file)
            above = os.path.dirname(home)
            reader = self._readers.get((server, above))
            if reader is None or reader.is_spent:
                if reader is not None:
                    reader.close()
                reader = Reader(server, self.workspace, above, _unlike_any_other())
                self._readers[server, above] = reader
            self._read |= reader.read(home, self._to_read(submission, file, server), submission)
        return self._read[file]

    def _to_read(self, submission: Submission, file: str, server: ForkServer) -> list[str]:
        """This file, and others that most likely will be asked about: they are read in one go."""
        likely = (one for one in self.usual.files if one != file and one not in self._read)
        there = (one for one in likely if (submission.folder / one).is_file())
        return [file, *(one for one in there if self.server_for(submission, one) is server)]

    def found_by_reading(self, submission: Submission) -> dict[str, tuple[str, bool]]:
        """Its files that were read, and what a box may know of them."""
        read = self._read if self._read_of is submission else {}
        return {file: (one.what_it_may_keep, one.may_be_run_whole) for file, one in read.items()}

    def _within_reach(self, submission: Submission) -> _Linked:
        if submission.folder not in self._linked:
            for earlier in self._linked.values():  # one at a time: the boxes of the last one are gone
                earlier.remove()
            self._linked = {submission.folder: self._placed(submission.folder)}
            self._mentioned.clear()
            self._wants_a_gpu.clear()
        return self._linked[submission.folder]

    def within_reach(self, submission: Submission) -> str:
        """The submission's folder, where boxes may read it: what they may open is fixed before it is known."""
        return self._within_reach(submission).folders[0]

    def looks_new(self, submission: Submission) -> str:
        """The same, as if nobody had read it before."""
        linked = self._within_reach(submission)
        above = [str(folder) for folder in (self.workspace, self._room) if folder is not None]
        _make_look_new([*above, *linked.folders, *linked.files])
        return linked.folders[0]

    def _placed(self, folder: Path) -> _Linked:
        if self._room is not None and folder.is_relative_to(self._room):
            return _as_it_lies(folder)
        return _linked(str(folder), str(self.workspace / f"submission-{_unlike_any_other()}"))

    def may_want_a_gpu(self, submission: Submission, server: ForkServer | None) -> bool:
        """Whether code that runs in a box of this server may ask for one. Where torch is not loaded, it does not."""
        if server is not self._servers.get(self._libraries):
            return False
        folder = submission.folder
        if folder not in self._wants_a_gpu:
            linked = self._within_reach(submission)
            known, top = submission.contents, len(linked.folders[0]) + 1
            codes = (path for path in linked.files if path.endswith(".py"))
            contents = (known.get(path[top:]) or Path(path).read_bytes() for path in codes)
            self._wants_a_gpu[folder] = any(map(asks_for_a_device, contents))
        return self._wants_a_gpu[folder]

    @property
    def usual(self) -> UsualQuestions:
        """What its boxes are usually asked."""
        from grader.sandbox.usual_questions import UsualQuestions  # as above

        self._usual = self._usual or UsualQuestions()
        return self._usual

    def saw_layers(self, layers: tuple[str, ...]) -> None:
        self._layers = layers

    @property
    def isolation(self) -> Isolation:
        layers = self._layers or ()
        wanted = (*jail.OPTIONAL, *jail.REQUIRED)
        missing = () if self._layers is None else tuple(layer for layer in wanted if layer not in layers)
        return Isolation(layers, missing)

    def hang_up(self) -> None:
        """Let its processes end, while the grader does what needs no box any more."""
        for server in (*self._prepared_servers(), *self._servers.values()):
            server.hang_up()

    def close(self) -> None:
        self._end_servers()
        remove(self.workspace)

    def __enter__(self) -> BoxRunner:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
