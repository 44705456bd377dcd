"""What review costs, and what it saves: `python -m benchmarks.reviewing --students 500 --parts 20`.

A class is made on the spot (as in benchmarks.deciding) and served by `grader review` in a process of its own; times are
those of a client on the same machine, processor time and memory those of the server. All answers differ; to every
second part they give the same ideas, and so are one group of all, and to the others each stands alone.

Keys are counted over the samples of this repository that answer nlp-a5, graded on the spot: one by one each open answer
takes one key at least (accept, none or full); with groups, one key for the group and one for its decision.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.deciding import a_result
from grader.batch.gradebook import Gradebook, Run
from grader.review.desk import Desk
from tests.batch.classes import grader
from tests.conftest import REPOSITORY
from tests.review.serving import Client, hidden, place_of, served

DECISIONS = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=500)
    parser.add_argument("--parts", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        _times(Path(folder) / "grades", asked.students, asked.parts)
        _keys(Path(folder))


def _times(grades: Path, students: int, parts: int) -> None:
    with Gradebook(grades, new=True) as gradebook:
        run = gradebook.begin_run(Run("r.yaml", None, 0, (), ""), "r", "1")
        for number in range(students):
            gradebook.add(run, a_result(f"s{number:04}", parts))
        print(f"{students} students × {parts} parts, {gradebook.path.stat().st_size / 2**20:.0f} MiB")
    began = time.perf_counter()
    with served(grades, "--by", "Kim") as server:
        client = Client(server.address)
        client.get("/")
        print(f"{'from the command to the first page':38} {1000 * (time.perf_counter() - began):7.0f} ms")
        pid = server.process.pid
        for name, path in (
            ("overview", "/"),
            ("next open answer, alone", "/parts/1.a"),
            ("next open answer, in a group of all", "/parts/1.b"),
            ("groups, each of one", "/parts/1.a/groups"),
            ("one group of all", "/parts/1.b/groups"),
            ("items", "/parts/1.a/items"),
            ("sample for bulk", "/parts/1.b/accept"),
        ):
            _print(f"page: {name}", [_measured(pid, client.get, path) for _ in range(20)], len(client.get(path)[1]))
        word = ("form_token", client.form_token())
        decisions = []
        for _ in range(DECISIONS):
            page = client.get("/parts/2.a")[1]
            fields = [word, hidden(page)[0], ("action", "full"), ("comment", "well said")]
            decisions.append(_measured(pid, client.post, f"{place_of(page)}/decide", fields))
        _print("one decision, on the disk", decisions)
        page = client.get("/parts/1.d")[1]
        fields = [word, *hidden(page), ("whole_group", "yes"), ("action", "accept")]
        group = _measured(pid, client.post, f"{place_of(page)}/decide", fields)
        _print(f"a group of {len(hidden(page)) - 1}", [group])
        _print("undo of the group", [_measured(pid, client.post, "/undo", [word])])
        print(f"{'memory of the server, at most':38} {_memory(pid):7.0f} MiB")


def _measured(pid: int, action: Callable[..., object], *arguments: object) -> tuple[float, float]:
    """By the client's clock, and of the server's processors: on a busy machine only the second says what was done."""
    began, worked = time.perf_counter(), _processor(pid)
    action(*arguments)
    return 1000 * (time.perf_counter() - began), 1000 * (_processor(pid) - worked)


def _print(what: str, measured: list[tuple[float, float]], size: int = 0) -> None:
    clock, worked = (sorted(times) for times in zip(*measured, strict=True))
    late = int(0.95 * len(clock))
    said = f"median {clock[len(clock) // 2]:7.1f} ms, p95 {clock[late]:7.1f} ms; processor p95 {worked[late]:6.1f} ms"
    print(f"{what:38} {said}{f'; {size / 1024:.0f} KB' if size else ''}")


def _processor(pid: int) -> float:
    """Seconds of all its threads, to the nanosecond."""
    return sum(int(task.read_text().split()[0]) for task in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def _memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def _keys(folder: Path) -> None:
    for sample in sorted((REPOSITORY / "submissions").iterdir()):
        declared = sample / "submission.yaml"
        if declared.is_file() and "nlp-a5" in declared.read_text():
            shutil.copytree(sample, folder / "class" / sample.name)
    done = grader(
        "batch", folder / "class", "--out", folder / "sampled", "--rubric", "nlp-a5", "--part", "1", "--part", "3"
    )
    assert done.returncode in (0, 3), done.stderr
    with Gradebook(folder / "sampled") as gradebook:
        desk = Desk(gradebook, "Kim")
        waiting = [group for part in desk.parts() for group in desk.groups(part.part) if group.open]
        alone = sum(len(group.open) for group in waiting)
        grouped = sum(2 if len(group.open) > 1 else 1 for group in waiting)
        students = len(gradebook.students())
    print(f"{students} samples, {alone} open answers in {len(waiting)} groups")
    print(f"{'keys, one by one':38} {alone:7} = {1:.2f} for each answer")
    print(f"{'keys, by groups':38} {grouped:7} = {grouped / alone:.2f} for each answer")


if __name__ == "__main__":
    main()
