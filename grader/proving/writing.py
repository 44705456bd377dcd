"""`rubric test --write`: what every sample gets, written down for a person to read and keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader.model import Rubric
from grader.proving.declarations import declarations_as_they_are, undeclared_samples, write_declaration
from grader.proving.pool import benches, gets
from grader.proving.proof import Proof


@dataclass(frozen=True)
class Written:
    """What became of the file of one sample: new, changed in these places, or left as it was."""

    path: Path
    is_new: bool
    changes: tuple[str, ...]
    ungraded: tuple[str, ...]  # then nothing was written


def write_samples(
    rubric: Rubric, proof: Proof, *, data: Path | None, unsafe: bool, progress: Callable[[int, int], None]
) -> list[Written]:
    """Grade every sample. A file that says what its sample gets already is not touched."""
    declared = declarations_as_they_are(proof.samples, rubric)
    names = [name for name in declared if (proof.submissions / name).exists()]
    names += undeclared_samples(proof.submissions, proof.samples, rubric)
    fitting = {name: one.data for name, one in declared.items() if not one.misfits}
    written = []
    with benches(rubric, data, proof.submissions, unsafe) as pool:
        found = {name: pool.submit(gets, proof.submissions / name, fitting.get(name)) for name in sorted(names)}
        for done, (name, future) in enumerate(found.items(), start=1):
            got = future.result()
            path = proof.samples / f"{name}.yaml"
            changes = declared[name].misfits if name in declared and name not in fitting else tuple(got.changes)
            if not got.ungraded and (changes or name not in declared):
                write_declaration(path, got.data)
            written.append(Written(path, name not in declared, changes, tuple(got.ungraded)))
            progress(done, len(found))
    return written
