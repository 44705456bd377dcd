"""`grader doctor --dask`: what every worker of a cluster is, and whether it may grade."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from grader.batch.cluster.admission import surveyed
from grader.batch.cluster.connecting import connected, identity
from grader.batch.cluster.survey import Survey, survey_with_isolation, versions
from grader.grading.secret import Secret, read_secret

_SHOWN = ("grader", "Python", "torch", "numpy")


def diagnose_cluster(address: str, console: Console) -> bool:
    """Prints some lines for each worker; whether all of them would get work."""
    with tempfile.TemporaryDirectory(prefix="grader-doctor-") as folder, connected(address, Path(folder)) as client:
        found = surveyed(client, address, survey_with_isolation)
        told: Mapping[str, Any] = identity(client)["workers"]
    secret = read_secret()
    for worker, one in sorted(found.items()):
        console.print(Text(f"{worker} on {one.host}", style="bold"), soft_wrap=True)
        of_these = " · ".join(f"{name} {one.versions.get(name, 'none')}" for name in _SHOWN)
        threads = told.get(worker, {}).get("nthreads", 1)
        console.print(Text(f"  {of_these} · {_cores(one, threads)} · {_secret(one, secret)}"), soft_wrap=True)
        if layers := ", ".join(one.isolation["layers"]):  # a box that is refused has none
            missing = f", not {', '.join(one.isolation['missing'])}" if one.isolation["missing"] else ""
            console.print(Text(f"  layers: {layers}{missing}"), soft_wrap=True)
        console.print(_verdict(one), soft_wrap=True)
    differing = {worker: one.differences(versions()) for worker, one in found.items()}
    unfit = [worker for worker, one in found.items() if not one.isolation["fit"]]
    fit = not unfit and not any(differing.values())
    verdict = Text(f"Verdict: {_summary(len(found), unfit, differing)}", style="green" if fit else "red")
    console.print(verdict, soft_wrap=True)
    return fit


def _cores(one: Survey, threads: int) -> str:
    """A worker grades one submission at a time, however many threads it has."""
    return f"{one.cores} cores" + (f", of {threads} threads one grades" if threads > 1 else "")


def _secret(one: Survey, ours: Secret | None) -> str:
    if not one.secret:
        return "no secret"
    return "the same secret" if ours is not None and one.secret == ours.fingerprint else "another secret"


def _verdict(one: Survey) -> Text:
    if different := one.differences(versions()):
        return Text(f"  other versions: {', '.join(different)}", "red")
    return Text(f"  {one.isolation['verdict']}", "green" if one.isolation["fit"] else "red")


def _summary(count: int, unfit: list[str], differing: Mapping[str, list[str]]) -> str:
    if others := sum(map(bool, differing.values())):
        return f"{others} of {count} workers have other versions than this machine; a batch would be refused"
    if unfit:
        return f"{len(unfit)} of {count} workers would get no work: no box there is fit for student code"
    return f"{count} of {count} workers have the versions of this machine and are fit for student code"
