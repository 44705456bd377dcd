"""Which workers may grade a batch, and what they are told before they do."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import Client

from grader.batch.cluster.connecting import identity
from grader.batch.cluster.parcels import rubric_parcel
from grader.batch.cluster.survey import Survey, names_in, survey, versions
from grader.batch.cluster.worker_plugin import Demand, GradingPlugin, states_of
from grader.batch.grading import Plan
from grader.errors import UsageError
from grader.quoting import quote
from grader.rubric.loading import load_rubric

_TOPIC = "attention-grader"  # the scheduler's list of batches that were begun
_NAMED = 5  # workers in one message


@dataclass
class Admitted:
    run: str  # the name of the plugin, of the resource and of the events
    workers: set[str]  # addresses
    scheduler: str  # its id: another one has been told nothing
    notes: list[str]


def admit(client: Client, address: str, plan: Plan, shared: Path | None, at_first: bool) -> Admitted:
    """Tells every worker the rubric. Raises where workers differ from this machine and, `at_first`, where none can
    grade; later others may come."""
    _clear_up(client)
    surveys = surveyed(client, address)
    _refuse_differences(address, surveys)
    travels = _secret_travels(client, address, plan, surveys)
    if shared is not None:
        _refuse_other_folders(client, address, shared)
    parcel = rubric_parcel(plan, load_rubric(plan.rubric, plan.data), plan.draw.secret if travels else None)
    run = f"{_TOPIC}-{uuid.uuid4().hex[:12]}"
    demand = Demand(versions(), plan.draw.fingerprint, travels)
    client.log_event(_TOPIC, {"run": run, "client": client.id})
    client.register_plugin(GradingPlugin(run, demand, parcel.sealed()))
    states = {worker: state for worker, state in client.run(states_of, run, on_error="return").items() if _came(state)}
    refused = [f"{state['name']}: {state['refused']}" for state in states.values() if "refused" in state]
    workers = {worker for worker, state in states.items() if "refused" not in state}
    if at_first and not workers:
        dismiss(client, run)
        raise UsageError(f"{address}: no worker can grade: {'; '.join(refused[:_NAMED])}")
    scheduler = identity(client)["id"]
    return Admitted(run, workers, scheduler, [f"no work was given to {line}" for line in refused])


def _clear_up(client: Client) -> None:
    """Takes away what batches have left whose writer was killed, or lost its connection."""
    said = (event for _, event in client.get_events("all"))
    latest = {event["client"]: event["action"] for event in said if "client" in event}
    begun = {event["run"]: event["client"] for _, event in client.get_events(_TOPIC)}
    for run, whose in begun.items():
        if whose and (whose == client.id or latest.get(whose) == "remove-client"):
            dismiss(client, run)


def dismiss(client: Client, run: str) -> None:
    """Ends what the workers keep for a batch."""
    client.log_event(_TOPIC, {"run": run, "client": None})
    with contextlib.suppress(ValueError):  # a new scheduler has not heard of it
        client.unregister_worker_plugin(run)


def surveyed(client: Client, address: str, ask: Any = survey) -> dict[str, Survey]:
    """By worker. One that cannot answer has no grader."""
    found = {}
    for worker, answer in client.run(ask, on_error="return").items():
        if isinstance(answer, OSError):
            continue  # it has gone meanwhile
        if isinstance(answer, BaseException):
            cause = quote(f"{type(answer).__name__}: {answer}", 120)
            raise UsageError(f"{address}: the grader does not run on {worker} ({cause}); install it there")
        found[worker] = Survey.from_data(answer)
    return found


def _came(answer: Any) -> bool:
    """Workers may go while they are asked."""
    return not isinstance(answer, BaseException)


def _refuse_differences(address: str, surveys: Mapping[str, Survey]) -> None:
    others = {worker: one.differences(versions()) for worker, one in surveys.items()}
    lines = [f"{worker} has {', '.join(different)}" for worker, different in others.items() if different]
    if lines:
        more = f"; and {len(lines) - _NAMED} more workers" if len(lines) > _NAMED else ""
        cause = "grades must not depend on the machine"
        raise UsageError(f"{address}: {cause}: {'; '.join(lines[:_NAMED])}{more}. `grader doctor --dask` shows all")


def _secret_travels(client: Client, address: str, plan: Plan, surveys: Mapping[str, Survey]) -> bool:
    """Not where it is set already, and only where nobody can listen."""
    without = [worker for worker, one in surveys.items() if one.secret != plan.draw.fingerprint]
    if not plan.draw.secret or not without:
        return False
    if not str(client.scheduler.address).startswith("tls://"):
        fix = "set GRADER_SECRET there, or connect over tls://"
        raise UsageError(
            f"{address}: {without[0]} does not have this course's secret, which travels only over TLS; {fix}"
        )
    return True


def _refuse_other_folders(client: Client, address: str, shared: Path) -> None:
    ours = names_in(str(shared))
    for worker, seen in client.run(names_in, str(shared), on_error="return").items():
        if _came(seen) and seen != ours:
            raise UsageError(f"{address}: {worker} does not see {shared} as it is here; leave out --shared")
