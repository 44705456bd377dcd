"""A batch's work given to a Dask cluster: the same door as `Jobs`, with workers behind it.

Dask decides who grades what, and gives work of a lost worker to another. Here it is decided how much Dask holds at a
time, what counts as an answer, and when the cluster is gone.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from distributed import Client, Future, KilledWorker

from grader.batch.cluster.admission import Admitted, admit, dismiss
from grader.batch.cluster.connecting import connected, identity
from grader.batch.cluster.parcels import graded_from, hand_in_parcel
from grader.batch.cluster.sealing import Damaged, unpacked
from grader.batch.cluster.worker_plugin import grade_here
from grader.batch.finding import HandedIn
from grader.batch.gradebook import Result
from grader.batch.grading import Graded, Plan
from grader.batch.jobs import Interrupted, JobsFault
from grader.batch.pace import Pace
from grader.errors import UsageError

_AHEAD = 2  # tasks for each worker: one it grades, and one that is there when it has finished
_LARGEST_LOT = 16  # submissions in one task
_LOT_SECONDS = 1.0  # that a worker may grade before it answers: Dask's own work for a task takes some twelve ms
_AHEAD_BYTES = 256 * 2**20  # of submissions that the scheduler holds, and one more
_LOOK_SECONDS = 2.0  # between two looks at who is there
_ALONE_SECONDS = 600  # without any worker, before the batch ends: queues of clusters give new ones in minutes
_ODD_ANSWERS = 3  # that a submission may get which nobody understands

_CONNECTION_FAULTS = (OSError, TimeoutError, RuntimeError, ValueError)  # as Dask raises them

_Stored = Callable[[str], Result | None]


@dataclass
class _Task:
    """Some submissions on their way, under one key."""

    lot: tuple[HandedIn, ...]
    key: str
    size: int
    future: Future
    given_at: float
    begun_on: list[str] = field(default_factory=list)  # names of workers; all but the last were lost
    begun_at: float = 0.0
    worker: str = ""  # the address of the last one
    is_orphan: bool = False  # that one is gone, and Dask has found no other yet

    def told(self) -> str:
        more = f" and {len(self.lot) - 1} more" if len(self.lot) > 1 else ""
        return self.lot[0].student + more


class DaskJobs:
    """Connected and ready when the block begins, and left as it was found when it ends."""

    def __init__(self, address: str, plan: Plan, workspace: Path, shared: Path | None) -> None:
        """`shared`: a folder that all workers see, so that of what lies in it only the place is sent."""
        self._address, self._plan, self._workspace, self._shared = address, plan, workspace, shared
        self._happened: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self._tasks: dict[str, _Task] = {}
        self._lost: dict[str, list[str]] = {}  # by student: workers that were lost over it, under earlier keys
        self._odd: dict[str, int] = {}
        self._keys = 0
        self._alone_since = 0.0
        self._cut_off = False  # the connection was lost, and with it all that Dask held for us; it may be there again
        self.notes: list[str] = []

    def __enter__(self) -> DaskJobs:
        with ExitStack() as stack:
            self._client: Client = stack.enter_context(connected(self._address, self._workspace))
            stack.callback(self._leave)
            try:
                self._admitted = self._admit(at_first=True)
            except _CONNECTION_FAULTS as fault:
                raise UsageError(f"{self._address}: lost while workers were told the rubric ({fault})") from None
            self.pace = Pace(len(self._admitted.workers))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def _admit(self, at_first: bool) -> Admitted:
        admitted = admit(self._client, self._address, self._plan, self._shared, at_first)
        self._client.subscribe_topic(admitted.run, lambda event: self._happened.put(("event", event[1])))
        for line in admitted.notes:
            self._note(line)
        return admitted

    def _note(self, line: str) -> None:
        """Once, however often a worker comes back."""
        if line not in self.notes:
            self.notes.append(line)

    def _leave(self) -> None:
        with contextlib.suppress(Exception):  # of a scheduler that is gone
            self._client.cancel([task.future for task in self._tasks.values()])
            if hasattr(self, "_admitted"):
                dismiss(self._client, self._admitted.run)

    @property
    def at_work(self) -> tuple[str, ...]:
        """Which student's work is graded on which worker."""
        begun = (task for task in self._tasks.values() if task.worker in self._admitted.workers)
        return tuple(f"{task.told()} on {task.begun_on[-1]}" for task in begun)

    def grade(
        self, waiting: Iterable[HandedIn], stored: _Stored, begun: Callable[[], None] = lambda: None
    ) -> Iterator[Graded]:
        """Every submission's result, as they come; `begun` is called whenever there is news of who is where."""
        queue = deque(waiting)
        looked_at = 0.0
        while queue or self._tasks:
            if self._cut_off or self._client.status != "running":
                self._connect_again(queue)
            self._give_out(queue, stored)
            if time.monotonic() - looked_at > _LOOK_SECONDS:
                self._look_round(queue)
                looked_at = time.monotonic()
            try:
                what, *told = self._happened.get(timeout=_LOOK_SECONDS)
            except Empty:
                begun()
                continue
            if what == "event":
                self._take_note(told[0], queue)
                begun()
            elif (task := self._tasks.pop(told[0], None)) is not None:  # else it was given out anew: counts once
                graded = self._answered(task, *told[1:])
                known = {one.handed_in.student for one in graded}
                queue.extendleft(one for one in reversed(task.lot) if one.student not in known)
                yield from graded

    def _give_out(self, queue: deque[HandedIn], stored: _Stored) -> None:
        held = sum(task.size for task in self._tasks.values())
        room = _AHEAD * max(1, len(self._admitted.workers))
        while queue and len(self._tasks) < room and held < _AHEAD_BYTES and self._client.status == "running":
            lot = self._next_lot(queue)
            try:
                held += self._submit(lot, stored)
            except _CONNECTION_FAULTS:
                self._cut_off = True
                queue.extendleft(reversed(lot))
                return

    def _next_lot(self, queue: deque[HandedIn]) -> tuple[HandedIn, ...]:
        """As many as are graded in a moment, and fewer towards the end, so that no worker waits for another. What a
        worker was lost over goes alone: else nobody could tell whose doing it is."""
        workers = max(1, len(self._admitted.workers))
        in_a_moment = int(_LOT_SECONDS * (self.pace.per_second or 0) / workers)
        count = min(_LARGEST_LOT, in_a_moment, len(queue) // (_AHEAD * workers))
        lot = [queue.popleft()]
        while len(lot) < count and not self._lost.keys() & {lot[0].student, queue[0].student}:
            lot.append(queue.popleft())
        return tuple(lot)

    def _submit(self, lot: tuple[HandedIn, ...], stored: _Stored) -> int:
        """How many bytes that was."""
        parcels = [part for one in lot for part in self._sealed(one, stored)]
        size = sum(map(len, parcels))
        run, lost = self._admitted.run, self._lost.get(lot[0].student, [])
        self._keys += 1
        key = f"{run}-{self._keys}"  # nothing about the student: anybody on the network may see a dashboard
        future = self._client.submit(
            grade_here, run, key, lost, *parcels, key=key, pure=False, resources={run: 1}, retries=0
        )
        self._tasks[key] = _Task(lot, key, size, future, time.monotonic())
        future.add_done_callback(self._fetch)
        return size

    def _sealed(self, handed_in: HandedIn, stored: _Stored) -> tuple[bytes, bytes]:
        seen_by_all = self._shared is not None and handed_in.path.resolve().is_relative_to(self._shared)
        return hand_in_parcel(handed_in, stored(handed_in.student), seen_by_all).sealed()

    def _fetch(self, future: Future) -> None:
        """In a thread of Dask's, so that answers come in while others are kept."""
        try:
            self._happened.put(("done", future.key, future.status, future.result()))
        except BaseException as fault:
            self._happened.put(("done", future.key, future.status, fault))

    def _answered(self, task: _Task, status: str, answer: Any) -> list[Graded]:
        """What became of it; who of the lot is not there has to be given out again."""
        task.future.release()
        if isinstance(answer, KilledWorker):  # Dask gives up sooner or later than we do, and on bystanders too
            self._count_lost(task, task.begun_on)
            return []
        if status == "error":
            self._count_odd(task.lot[0].student, f"{type(answer).__name__}: {answer}")
            return []
        if status != "finished":
            self._cut_off = True
            return []
        told = unpacked(answer)
        self._count_lost(task, told.get("lost_before", []))
        graded = []
        for handed_in, one in zip(task.lot, told["answers"], strict=False):
            if "refused" in one:
                break  # the worker gets no more work; it has said so in an event, too
            if "ended" in one:
                self._lost.setdefault(handed_in.student, []).extend([*task.begun_on[:-1], told["on"]])
                break
            try:
                graded.append(graded_from(one, handed_in))
            except (Damaged, TypeError, LookupError) as fault:
                self._count_odd(handed_in.student, str(fault))
        each = (time.monotonic() - (task.begun_at or task.given_at)) / max(1, len(graded))
        for found in graded:
            if found.result is not None and found.result.how == "graded":
                self.pace.count(each)
        return graded

    def _count_lost(self, task: _Task, workers: list[str]) -> None:
        for one in task.lot if workers else ():
            self._lost.setdefault(one.student, []).extend(workers)

    def _count_odd(self, student: str, what: str) -> None:
        self._odd[student] = self._odd.get(student, 0) + 1
        if self._odd[student] >= _ODD_ANSWERS:
            raise JobsFault(f"{self._address}: workers give no answer that can be understood ({what})")

    def _take_note(self, event: dict[str, Any], queue: deque[HandedIn]) -> None:
        if "begun" in event:
            if (task := self._tasks.get(event["begun"])) is not None:
                task.begun_on.append(event["name"])
                task.begun_at, task.worker, task.is_orphan = time.monotonic(), event["worker"], False
        elif "refused" in event:
            self._count_workers(self._admitted.workers - {event["worker"]}, queue)
            self._note(f"no work was given to {event['name']}: {event['refused']}")
        else:
            self._count_workers(self._admitted.workers | {event["worker"]}, queue)

    def _count_workers(self, there: set[str], queue: deque[HandedIn]) -> None:
        newcomers = there - self._admitted.workers
        self._admitted.workers = there
        self.pace.jobs = max(1, len(there))
        if newcomers:  # Dask does not look again at tasks that found no worker with their resource
            self._take_back(queue, [task for task in self._tasks.values() if not task.begun_on])

    def _take_back(self, queue: deque[HandedIn], tasks: list[_Task]) -> None:
        for task in tasks:
            del self._tasks[task.key]
            queue.extendleft(reversed(task.lot))
            self._count_lost(task, task.begun_on)
        if tasks:
            self._client.cancel([task.future for task in tasks])

    def _look_round(self, queue: deque[HandedIn]) -> None:
        """Which workers are there, and whether the scheduler is still the one that was told about the batch."""
        try:
            found = identity(self._client)
        except _CONNECTION_FAULTS:
            self._cut_off = True
            return
        self._cut_off |= found["id"] != self._admitted.scheduler
        run = self._admitted.run
        self._count_workers({worker for worker, told in found["workers"].items() if told["resources"].get(run)}, queue)
        if self._admitted.workers:
            self._alone_since = 0.0
            orphans = [task for task in self._tasks.values() if task.worker not in {"", *self._admitted.workers}]
            self._take_back(queue, [task for task in orphans if task.is_orphan])
            for task in orphans:
                task.is_orphan = True
        elif not self._alone_since:
            self._alone_since = time.monotonic()
        elif time.monotonic() - self._alone_since > _ALONE_SECONDS:
            raise Interrupted(f"{self._address}: no worker has been there for {_ALONE_SECONDS // 60} minutes")

    def _connect_again(self, queue: deque[HandedIn]) -> None:
        """Dask tries it for a while (distributed.comm.timeouts.connect); then all is said anew, since the scheduler may
        be another one and has dropped what it held for us."""
        queue.extendleft(one for task in self._tasks.values() for one in task.lot)
        self._tasks.clear()
        gone = Interrupted(f"{self._address}: the scheduler is gone")
        while self._client.status == "connecting":
            time.sleep(0.1)
        if self._client.status != "running":
            raise gone
        try:
            self._client.wait_for_workers(1, timeout=_ALONE_SECONDS)
            self._admitted = self._admit(at_first=False)
            self._cut_off = False
        except _CONNECTION_FAULTS:
            if self._client.status == "closed":
                raise gone from None  # else it was cut again: the next round says so
