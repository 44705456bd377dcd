"""A class on a Dask cluster: the same grades as here, whoever works on it, and nothing reached that must not be."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import Security
from rich.console import Console

from grader.batch.cluster import cluster_doctor, worker_plugin
from grader.batch.cluster.admission import admit, surveyed
from grader.batch.cluster.survey import survey, versions
from grader.batch.cluster.worker_plugin import Demand, GradingPlugin
from grader.batch.finding import Found
from grader.batch.gradebook import Gradebook, Result
from grader.batch.grading import Plan
from grader.batch.running import Order, Tally, run_batch
from grader.errors import UsageError
from grader.grading.randomness import Draw
from grader.grading.secret import Secret
from tests.batch.classes import RIGHT, RUBRIC, batch, contents, grader, make_class
from tests.batch.clusters import Cluster, cluster, written
from tests.conftest import REPOSITORY
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.long

SECRET = "nobody may ever read this"


@pytest.fixture(scope="module")
def shared_nothing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Path]]:
    """Three workers for which the folder of submissions is empty."""
    place = tmp_path_factory.mktemp("cluster")
    (place / "in").mkdir()
    with cluster(place / "machines") as made:
        for name in "abc":
            made.start_worker(name, hidden=place / "in")
        made.wait_for(3)
        yield made, place / "in"


ATTEMPTS = """
import os, socket, subprocess

FOLDERS, HOST, PORT = {folders!r}, "127.0.0.1", {port}

def reached():
    found = []
    def attempt(what, action):
        try:
            if action() is not False:
                found.append(what)
        except BaseException:
            pass
    for folder in FOLDERS:
        attempt("list", lambda: os.listdir(folder))
        attempt("write", lambda: open(folder + "/left-behind", "w").close())
        attempt("read", lambda: open(folder + ".log").read())
    attempt("connect", lambda: socket.create_connection((HOST, PORT), 2).close())
    attempt("environment", lambda: any("DASK" in name or "TMPDIR=/tmp/py" in name for name in os.environ))
    attempt("others", lambda: open("/proc/%d/environ" % os.getppid(), "rb").read().count(b"DASK") > 0)
    attempt("program", lambda: subprocess.run(["/bin/true"], check=True))
    for number in range(256):
        attempt("descriptor", lambda: socket.socket(fileno=os.dup(number)).family == socket.AF_INET)
    return sorted(set(found))

def attention(Q, K, V, beta):
    said = " ".join(reached()) or "nothing"
    if Q.size:
        raise RuntimeError("reached " + said)
    return V
"""


@pytest.fixture(scope="module")
def graded(shared_nothing: tuple[Cluster, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`here` and `there`: one class graded on this machine and by the workers."""
    made, submissions = shared_nothing
    make_class(submissions, 10)
    (submissions / "empty").mkdir()
    (submissions / "s000" / "answers.md").symlink_to("/etc/passwd")
    (submissions / "s001" / "submission.yaml").write_text("students: [s001, s777]\nstudent: another\n")
    with zipfile.ZipFile(submissions / "zipped.zip", "w") as archive:
        archive.writestr("a5/src/attention.py", RIGHT)
    for student in ("mallory", "oscar", "trudy"):  # one for each worker, more or less
        (submissions / student).mkdir()
        (submissions / student / "attention.py").write_text(_hostile(made))
    out = tmp_path_factory.mktemp("graded")
    assert batch(submissions, out / "here").returncode == 0
    done = written(submissions, out / "there", made.address)
    assert (done.returncode, done.stderr) == (0, "")
    assert "15 of 15 submissions: 14 graded, 1 not opened" in done.stdout
    return out


def _hostile(made: Cluster) -> str:
    folders = [str(made.folder / name) for name in made.workers]
    return ATTEMPTS.format(folders=folders, port=made.address.rpartition(":")[2])


@pytest.mark.slow
def test_a_cluster_without_a_common_folder_gives_the_gradebook_of_one_machine(graded: Path) -> None:
    assert contents(graded / "there") == contents(graded / "here")


@pytest.mark.slow
def test_what_a_cluster_graded_is_graded_once(
    graded: Path, shared_nothing: tuple[Cluster, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, submissions = shared_nothing
    again = written(submissions, graded / "there", made.address, "--resume")
    assert "15 unchanged" in again.stdout
    order = Order(submissions, graded / "there", 1, rubric=str(RUBRIC), dask=made.address)
    with pytest.raises(UsageError, match=r"does not see .* as it is here; leave out --shared"):
        run_batch(replace(order, shared=True), _all_there, lambda tally: None)
    monkeypatch.setenv("GRADER_SECRET", SECRET)  # not set on the workers, and not to be sent in the open
    with pytest.raises(UsageError, match="travels only over TLS; set GRADER_SECRET there") as refused:
        run_batch(order, _all_there, lambda tally: None)
    assert SECRET not in str(refused.value) + made.logs()


@pytest.mark.slow
def test_hostile_code_on_a_worker_reaches_neither_its_files_nor_its_connection(
    graded: Path, shared_nothing: tuple[Cluster, Path]
) -> None:
    made, _ = shared_nothing
    assert not list(made.folder.glob("*/left-behind"))
    with Gradebook(graded / "there") as gradebook:
        for student in ("mallory", "oscar", "trudy"):
            report = _latest(gradebook, student).report
            assert report["problems"][0]["checks"][0]["message"].endswith("reached nothing")
            assert {"limits", "landlock", "seccomp"} <= set(report["isolation"]["layers"])
    outside: dict[str, Any] = {}
    exec(_hostile(made), outside)  # what the same code reaches without a box
    assert {"list", "write", "read", "connect", "program"} <= set(outside["reached"]())


def _latest(gradebook: Gradebook, student: str) -> Result:
    found = gradebook.latest(student)
    assert found is not None
    return found


@pytest.mark.slow
def test_a_submission_that_three_workers_end_over_is_ungraded_and_the_others_go_on(
    shared_nothing: tuple[Cluster, Path], tmp_path: Path
) -> None:
    made, submissions = shared_nothing[0], tmp_path / "in"
    make_class(submissions, 4)
    (submissions / "sleeper").mkdir()
    (submissions / "sleeper" / "attention.py").write_text("import time\ntime.sleep(30)\n" + RIGHT)
    killed: list[str] = []
    last = ""

    def watch(tally: Tally) -> None:
        """Whatever worker has it is killed, as a fault in the kernel or in a library would."""
        nonlocal last
        here = next((one for one in tally.at_work if one.startswith("sleeper on ")), "")
        if here and here != last and tally.done == 4:
            killed.append(here.removeprefix("sleeper on "))
            os.kill(made.worker_process(killed[-1]), signal.SIGKILL)
        last = here if tally.done == 4 else ""

    order = Order(submissions, tmp_path / "out", 1, rubric=str(RUBRIC), dask=made.address)
    tally = run_batch(order, _all_there, watch)
    assert (tally.done, tally.ungraded, len(killed)) == (5, 1, 3)
    assert tally.faults == [f"sleeper: 3 workers ended while they graded it ({', '.join(killed)})"]
    with Gradebook(tmp_path / "out") as gradebook:
        found = {result.student: result for result in gradebook.everyone()}
    assert not found["sleeper"].settled
    problem = found["sleeper"].report["problems"][0]
    assert problem["status"] == "ungraded"
    assert problem["checks"][0]["code"] == "grader_fault"
    assert [one.how for one in found.values()] == ["graded"] * 4 + ["given up"]


@pytest.mark.slow
def test_of_quick_work_a_task_holds_several_and_a_lost_worker_costs_none_of_them(
    shared_nothing: tuple[Cluster, Path], tmp_path: Path
) -> None:
    made, submissions = shared_nothing[0], tmp_path / "in"
    make_class(submissions, 60)
    killed: list[str] = []

    def watch(tally: Tally) -> None:
        several = next((one for one in tally.at_work if " more on " in one), "")
        if several and not killed:
            killed.append(several.rpartition(" on ")[2])
            os.kill(made.worker_process(killed[0]), signal.SIGKILL)

    order = Order(submissions, tmp_path / "out", 1, rubric=str(RUBRIC), dask=made.address)
    tally = run_batch(order, _all_there, watch)
    assert (tally.done, tally.ungraded, tally.faults, len(killed)) == (60, 0, [], 1)
    assert batch(submissions, tmp_path / "here").returncode == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "here")


def _all_there(found: Found) -> None:
    assert not found.twice


@pytest.mark.slow
def test_workers_that_differ_or_lack_a_layer_get_no_work(tmp_path: Path) -> None:
    make_class(tmp_path / "in", 3)
    with cluster(tmp_path / "machines") as made:
        made.start_worker("open", landlock=False)
        made.wait_for(1)
        order = Order(tmp_path / "in", tmp_path / "out", 1, rubric=str(RUBRIC), dask=made.address)
        with pytest.raises(UsageError, match=r"no worker can grade: open: the box is not safe .*: landlock"):
            run_batch(order, _all_there, lambda tally: None)
        made.start_worker("fit")
        made.wait_for(2)
        place = os.path.relpath(tmp_path / "in", REPOSITORY)  # which the worker sees, too
        done = written(place, tmp_path / "out", made.address, "--shared")
        assert (done.returncode, done.stdout.split(".")[0]) == (0, "3 of 3 submissions: 3 graded")
        assert "no work was given to open: the box is not safe" in done.stderr
        other = tmp_path / "other"
        for package in ("grader", "reference"):
            shutil.copytree(REPOSITORY / package, other / package, ignore=shutil.ignore_patterns("__pycache__"))
        with (other / "grader" / "compare.py").open("a") as source:
            source.write("\n# mended on one machine only\n")
        made.start_worker("other", "--no-nanny", PYTHONPATH=str(other))
        made.wait_for(3)
        seen = grader("doctor", "--dask", made.address)
        assert seen.returncode == 2
        assert seen.stdout.count("other versions: grader 0.1.0+") == 1
        assert seen.stdout.count("student code is not run here: the box is not safe on this machine: landlock") == 1
        assert seen.stdout.count("  fit for student code") == 1
        with pytest.raises(UsageError, match=r"grades must not depend on the machine: tcp://\S+ has grader 0\.1\.0\+"):
            run_batch(order, _all_there, lambda tally: None)


def _as_the_page_says(folder: Path) -> dict[str, str]:
    """Makes the certificates of docs/clusters.md and the settings beside them; where Dask finds those."""
    page = (REPOSITORY / "docs" / "clusters.md").read_text()
    blocks = re.findall(r"```(?:sh|yaml)\n(.*?)```", page, re.DOTALL)
    (commands,) = (block for block in blocks if block.startswith("openssl "))
    subprocess.run(["sh", "-e", "-c", commands], cwd=folder, check=True, capture_output=True)
    (settings,) = (block for block in blocks if block.startswith("# ~/.config/dask/tls.yaml"))
    (folder / "dask").mkdir()
    (folder / "dask" / "tls.yaml").write_text(settings.replace("/home/ta/tls", str(folder)))
    return {"DASK_CONFIG": str(folder / "dask")}


@pytest.mark.slow
def test_the_secret_travels_over_tls_and_is_in_no_log_key_or_dashboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_class(tmp_path / "in", 3)
    told = _as_the_page_says(tmp_path)
    with cluster(tmp_path / "machines", environment=told, protocol="tls") as made:
        made.start_worker("alone")
        of_client = {"tls_client_cert": str(tmp_path / "cert.pem"), "tls_client_key": str(tmp_path / "key.pem")}
        made.wait_for(1, security=Security(tls_ca_file=str(tmp_path / "ca.pem"), require_encryption=True, **of_client))
        hasty = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s"}
        stranger = written(tmp_path / "in", tmp_path / "out", made.address, **hasty)
        assert stranger.returncode == 2
        assert "no scheduler answers there" in stranger.stderr
        done = written(tmp_path / "in", tmp_path / "out", made.address, GRADER_SECRET=SECRET, **told)
        assert (done.returncode, done.stderr) == (0, "")
        seen_at = next(line for line in made.logs().splitlines() if "dashboard at:" in line)
        port = seen_at.rpartition(":")[2].split("/")[0]
        pages = "".join(_page(f"http://127.0.0.1:{port}/{page}") for page in ("", "info/main/workers.html", "metrics"))
        assert "dask" in pages
        assert SECRET not in done.stdout + made.logs() + pages
        assert "s000" not in made.logs() + pages
    monkeypatch.setenv("GRADER_SECRET", SECRET)
    tally = run_batch(Order(tmp_path / "in", tmp_path / "here", 1, rubric=str(RUBRIC)), _all_there, lambda tally: None)
    assert tally.done == 3
    assert contents(tmp_path / "out") == contents(tmp_path / "here")


def _page(address: str) -> str:
    with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as answer:
        return str(answer.read(), "utf-8", "replace")
    return ""


def _plugin(name: str = "fit") -> GradingPlugin:
    """As it is on a worker that nobody has set up: no scheduler, no process."""
    plugin = GradingPlugin("run", Demand({}, "", secret_travels=False), (b"", b""))
    plugin._worker = SimpleNamespace(name=name, address="tcp://10.0.0.2:4711")
    return plugin


@pytest.mark.parametrize(
    ("name", "called"), [("fit", "fit"), ("3", "worker 3"), ("tcp://10.0.0.2:4711", "10.0.0.2:4711")]
)
def test_a_worker_is_called_as_people_named_it_else_by_number_or_address(name: str, called: str) -> None:
    assert _plugin(name).called == called


def test_a_worker_that_nobody_asks_any_more_lets_its_process_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_plugin, "_IDLE_SECONDS", 0.2)
    plugin, rests = _plugin(), threading.Event()
    plugin._process = SimpleNamespace(rest=rests.set)
    plugin._asked_at = time.monotonic()

    async def idle() -> float:
        began, watching = time.monotonic(), asyncio.ensure_future(plugin._rest_when_idle())
        assert await asyncio.to_thread(rests.wait, PATIENCE_SECONDS)
        watching.cancel()
        return time.monotonic() - began

    assert asyncio.run(idle()) >= 0.2, "it may be asked again soon"


class _Told:
    """Answers as a client does for two workers on this machine, and keeps what the workers are told."""

    id = "here"

    def __init__(self, address: str, states: dict[str, dict[str, str]]) -> None:
        self.scheduler, self._states = SimpleNamespace(address=address, identity=self._identity), states
        self.plugins: list[GradingPlugin] = []

    def run(self, function: Any, *given: Any, on_error: str) -> dict[str, Any]:
        return self._states if given else {worker: function() for worker in self._states}

    def get_events(self, topic: str) -> list[Any]:
        return []

    def log_event(self, topic: str, event: Any) -> None: ...

    def register_plugin(self, plugin: GradingPlugin) -> None:
        self.plugins.append(plugin)

    def sync(self, function: Any, **given: Any) -> Any:
        return function(**given)

    def _identity(self, n_workers: int) -> dict[str, Any]:
        assert n_workers == -1, "all of them"
        return {"id": "its id", "workers": {worker: {"nthreads": 4} for worker in self._states}}


def _admitted(client: _Told, draw: Draw) -> Any:
    return admit(
        client, "h:1", Plan(REPOSITORY / "rubrics/ridge/rubric.yaml", None, (), draw, False), None, at_first=True
    )


def test_workers_that_refuse_are_named_and_the_others_get_work() -> None:
    client = _Told("tcp://h:1", {"tcp://a": {"name": "a"}, "tcp://b": {"name": "b", "refused": "it has no box"}})
    found = _admitted(client, Draw(0, None))
    assert (found.workers, found.scheduler) == ({"tcp://a"}, "its id")
    assert found.notes == ["no work was given to b: it has no box"]
    assert client.plugins[0]._demand == Demand(versions(), "", secret_travels=False)
    assert surveyed(client, "h:1", lambda: survey() | {"host": "asked"})["tcp://b"].host == "asked"


def test_a_secret_that_workers_lack_travels_over_tls_alone() -> None:
    draw, states = Draw(0, Secret(SECRET)), {"a": {"name": "a"}}
    client = _Told("tls://h:1", states)
    _admitted(client, draw)
    assert client.plugins[0]._demand == Demand(versions(), draw.fingerprint, secret_travels=True)
    with pytest.raises(UsageError, match="travels only over TLS; set GRADER_SECRET there"):
        _admitted(_Told("tcp://h:1", states), draw)


def test_the_doctor_says_of_every_worker_what_its_boxes_are_like(monkeypatch: pytest.MonkeyPatch) -> None:
    box = {"layers": ["landlock"], "missing": ["seccomp"], "fit": False, "verdict": "student code is not run here"}
    monkeypatch.setattr(cluster_doctor, "survey_with_isolation", lambda: survey() | {"isolation": box})
    client = _Told("tcp://h:1", {"tcp://a": {}, "tcp://b": {}})
    monkeypatch.setattr(cluster_doctor, "connected", lambda address, folder: contextlib.nullcontext(client))
    paper = io.StringIO()
    assert not cluster_doctor.diagnose_cluster("tcp://h:1", Console(file=paper, width=300))
    told = paper.getvalue()
    assert told.count("layers: landlock, not seccomp\n  student code is not run here\n") == 2
    assert "of 4 threads one grades" in told
    assert "Verdict: 2 of 2 workers would get no work" in told
