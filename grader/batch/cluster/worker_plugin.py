"""What a Dask worker gets once for a batch: the rubric, and a grading process with its warm fork server.

A worker is given work only while it has the batch's resource, and has that only if it may grade: the same versions, the
same secret, all required layers of the box. A worker loads nothing that judges.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import Worker, WorkerPlugin, get_worker

from grader.batch.cluster.held_process import HeldProcess, ProcessEnded
from grader.batch.cluster.sealing import LOST_AT_MOST, Damaged, packed, unpacked
from grader.batch.cluster.survey import Survey, survey
from grader.errors import StaffFault
from grader.grading.secret import read_secret

_IDLE_SECONDS = 2 * 3600  # twice as long as anything is waited for
_SCHEDULER_FAULTS = (OSError, KeyError)  # it is gone, or knows this worker no more


@dataclass(frozen=True)
class Demand:
    """What a batch asks of every worker."""

    versions: dict[str, str]
    secret: str  # its fingerprint
    secret_travels: bool


class GradingPlugin(WorkerPlugin):  # type: ignore[misc]  # what is not typed is Any
    def __init__(self, run: str, demand: Demand, plan: tuple[bytes, bytes]) -> None:
        self.name = run  # also the resource's name and the topic of its events
        self._demand, self._plan = demand, plan
        self.state: dict[str, Any] = {"refused": "it has not been asked yet"}

    async def setup(self, worker: Worker) -> None:
        """Returns at once: until then Dask lets a worker that joins hear nothing and give no sign of life, so that the
        scheduler would take one that loads torch for dead, and have it started again and again."""
        self._worker = worker
        self._process: HeldProcess | None = None
        self._is_over = False
        self._asked_at = time.monotonic()
        self._resting = asyncio.ensure_future(self._rest_when_idle())
        self.prepared = asyncio.ensure_future(self._prepare())

    async def teardown(self, worker: Worker) -> None:
        self._is_over = True
        self._resting.cancel()
        if self._process is not None:
            await asyncio.to_thread(self._process.close)
        await self.prepared
        with contextlib.suppress(*_SCHEDULER_FAULTS):
            await self.take_no_more()

    async def _prepare(self) -> None:
        self.state = await asyncio.to_thread(self._made_ready, Path(self._worker.local_directory))
        with contextlib.suppress(*_SCHEDULER_FAULTS):
            if "refused" not in self.state:
                await self._worker.set_resources(**{self.name: 1})
            self.tell({"worker": self._worker.address, "name": self.called, **self.state})

    async def _rest_when_idle(self) -> None:
        """A writer that was killed takes no plugin away; then at least no process waits for ever."""
        while True:
            await asyncio.sleep(_IDLE_SECONDS / 10)
            if self._process is not None and time.monotonic() - self._asked_at > _IDLE_SECONDS:
                await asyncio.to_thread(self._process.rest)

    @property
    def called(self) -> str:
        """By a name that people gave it, else by its address or, on the writer's machine, its number."""
        name, address = str(self._worker.name), self._worker.address
        if "://" in name:
            return str(address.partition("://")[2])
        return f"worker {name}" if name.isdecimal() else name

    def tell(self, event: dict[str, Any]) -> None:
        self._worker.log_event(self.name, event)

    async def take_no_more(self) -> None:
        await self._worker.set_resources(**{self.name: 0})

    def _made_ready(self, folder: Path) -> dict[str, Any]:
        """Starts the process. What is wrong here keeps work away from this worker, and from no other."""
        try:
            found = Survey.from_data(survey())
            if different := found.differences(self._demand.versions):
                return {"refused": f"it has {', '.join(different)}"}
            if self._demand.secret and not self._demand.secret_travels and found.secret != self._demand.secret:
                return {"refused": "the course's secret (GRADER_SECRET) is not set there"}
            self._process = HeldProcess(folder, self._with_secret())
            return {"refused": "the batch is over"} if self._is_over else self._process.hello()
        except (ProcessEnded, Damaged, OSError, StaffFault) as fault:
            return {"refused": f"its grading process does not start: {fault}"}

    def _with_secret(self) -> tuple[bytes, bytes]:
        if not self._demand.secret or self._demand.secret_travels:
            return self._plan
        own = read_secret()
        assert own is not None
        words, content = self._plan
        told = unpacked(words)
        told["about"]["secret"] = own.text
        return packed(told), content

    async def grade(self, key: str, lost: list[str], parcels: tuple[bytes, ...]) -> dict[str, Any]:
        """What the grading process says of one submission after another, until it ends or is refused. `lost` names
        workers that ended over the same work under earlier keys."""
        if self._process is None:
            return {"answers": [{"refused": self.state["refused"]}]}
        before = await self._lost_over(key)
        if before and len(parcels) > 2:  # over which of them has to be found out
            return {"answers": [], "lost_before": before}
        lost = [*lost, *before]
        if len(lost) < LOST_AT_MOST:
            await self._begin(key)
        answers: list[dict[str, Any]] = []
        for words, content in zip(parcels[::2], parcels[1::2], strict=True):
            answers.append(await self._asked(words, content, lost))
            if not {"ended", "refused"}.isdisjoint(answers[-1]):
                break
        return {"answers": answers}

    async def _asked(self, words: bytes, content: bytes, lost: list[str]) -> dict[str, Any]:
        assert self._process is not None
        self._asked_at = time.monotonic()
        try:
            return await asyncio.to_thread(self._process.ask, words, content, lost)
        except ProcessEnded as fault:
            return {"ended": f"{self.called}: {fault}"}
        finally:
            self._asked_at = time.monotonic()

    async def _begin(self, key: str) -> None:
        """The scheduler keeps a list of who began what. It has answered before anything is opened: a worker that ends a
        moment later is on it."""
        event = {"begun": key, "name": self.called, "worker": self._worker.address}
        await self._worker.scheduler.log_event(topic=[key, self.name], msg=event)

    async def _lost_over(self, key: str) -> list[str]:
        """Who began this task before: none of them has ended it."""
        return [told["name"] for _, told in await self._worker.scheduler.events(topic=key)]


async def grade_here(run: str, key: str, lost: list[str], *parcels: bytes) -> bytes:
    """The task: words and content of each submission. It never raises: what Dask writes into logs about a failed task
    would name its arguments."""
    worker = get_worker()
    plugin = worker.plugins.get(run)
    if plugin is None:
        return packed({"answers": [{"refused": "it has not been told the rubric"}]})
    try:
        told = await plugin.grade(key, lost, parcels)
    except Exception as fault:
        told = {"answers": [{"ended": f"{plugin.called}: {type(fault).__name__}"}]}
    last = told["answers"][-1] if told["answers"] else {}
    if "refused" in last and plugin.state is not last:
        plugin.state = last
        await plugin.take_no_more()
        plugin.tell({"worker": worker.address, "name": plugin.called, **last})
    return packed(told | {"on": plugin.called})


async def states_of(run: str, dask_worker: Worker) -> dict[str, Any]:
    """For the writer: what a worker says of itself once it is prepared."""
    plugin = dask_worker.plugins.get(run)
    if plugin is None:
        return {"name": "", "refused": "it was not reached"}
    await asyncio.shield(plugin.prepared)
    return {"name": plugin.called, **plugin.state}
