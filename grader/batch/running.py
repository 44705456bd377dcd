"""A batch from beginning to end: find, grade what changed, keep, write."""

from __future__ import annotations

import fcntl
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import __version__
from grader.batch.course.class_list import class_list
from grader.batch.course.people_files import read_roster, read_times
from grader.batch.course.person import Person, folded
from grader.batch.course.settings_log import HandIn, as_rows
from grader.batch.files import write_files
from grader.batch.finding import Found, HandedIn, find_submissions
from grader.batch.gradebook import Gradebook, Run
from grader.batch.gradebook_file import GradebookFault
from grader.batch.grading import Graded, Plan
from grader.batch.jobs import Interrupted, Jobs
from grader.batch.pace import Pace
from grader.errors import UsageError
from grader.exits import extra_needed
from grader.grading.randomness import draw_for_grading
from grader.model import Rubric
from grader.report.exports.reports import listed
from grader.rubric.choosing import choose_rubric, only, refuse_rubric_inside
from grader.rubric.hints import did_you_mean
from grader.rubric.loading import find_rubric, load_rubric, rubric_choices
from grader.submission.declaration import declaration_of
from grader.submission.opening import open_submission

if TYPE_CHECKING:
    from grader.batch.cluster.dask_jobs import DaskJobs

_MANY_PAGES = 150  # for fewer, jobs would load what draws pages for longer than they save
_ASKED_FOR_THEIR_RUBRIC = 20  # submissions; all that say something must say the same


@dataclass(frozen=True)
class Order:
    """What staff asked for on the command line."""

    submissions: Path
    out: Path
    jobs: int
    rubric: str | None = None
    data: Path | None = None
    problems: tuple[str, ...] = ()
    students: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    seed: int | None = None
    resume: bool = False
    unsafe: bool = False
    roster: Path | None = None
    handed_in: Path | None = None
    dask: str | None = None  # the address of a cluster that grades in place of jobs here
    shared: bool = False  # its workers see the submissions where they lie


@dataclass
class Tally:
    """How far a batch has come."""

    total: int
    done: int = 0
    how: Counter[str] = field(default_factory=Counter)  # graded | rescored | unchanged | not opened | given up
    ungraded: int = 0
    faults: list[str] = field(default_factory=list)  # lines for staff
    notes: list[str] = field(default_factory=list)  # about the class, for staff
    stopped: bool = False
    cut_short: bool = False  # not by a person: nobody was left to grade
    at_work: tuple[str, ...] = ()  # students
    pace: Pace = field(default_factory=Pace)

    @property
    def seconds_left(self) -> float | None:
        return self.pace.seconds_left(self.total - self.done)

    def count(self, graded: Graded) -> None:
        self.done += 1
        self.how[graded.result.how if graded.result else "unchanged"] += 1
        self.ungraded += bool(graded.result and not graded.result.settled)
        self.faults += [f"{graded.handed_in.student}: {fault}" for fault in graded.faults]


Watch = Callable[[Tally], None]


def run_batch(
    order: Order, found: Callable[[Found], None], watch: Watch, written: Callable[[], None] = lambda: None
) -> Tally:
    """Grade a class. Ctrl-C stops it with all that was graded in the gradebook; Tally says how far it came. `written`
    is called after each student's page, when all are graded."""
    if order.data is not None and not order.data.is_dir():
        raise UsageError(f"{order.data}: there is no such folder of data")
    with (
        tempfile.TemporaryDirectory(prefix="grader-batch-", ignore_cleanup_errors=True) as temporary,
        Gradebook(order.out, new=not order.resume) as gradebook,
        _alone_in(order.out),
    ):
        workspace = Path(temporary)
        everything = find_submissions(order.submissions, workspace)
        found(everything)
        chosen = _chosen(everything.submissions, order, gradebook.settings.hand_ins())
        _keep_lists(order, gradebook, everything.submissions)
        plan = _plan(order, gradebook, chosen)
        tally = Tally(len(chosen))
        roster = {folded(one.student) for one in gradebook.settings.roster}
        left_out: dict[str, str] = {}
        are_written = False
        try:
            with _graders(order, plan, len(chosen), workspace) as jobs:
                # A typo in the rubric stops here. Who has read it already says what it is called.
                name = (jobs.rubric_name() if isinstance(jobs, Jobs) else "") or _rubric_of(plan).name
                declared = {one.student: declaration_of(one.path) for one in everything.submissions}
                if not order.students:  # whom staff name is graded whatever submission.yaml says
                    left_out = _of_other_assignments(chosen, declared, name)
                    chosen = [one for one in chosen if one.student not in left_out]
                if not chosen:
                    raise UsageError(f"nothing to grade: {_about(left_out)}")
                tally.total = len(chosen)
                _note_found(gradebook, everything, declared, {one.student for one in chosen})
                run = _begin_run(order, plan, gradebook, name)
                watch(tally)
                tally.pace = jobs.pace

                def look() -> None:
                    tally.at_work, tally.notes = jobs.at_work, list(jobs.notes)
                    watch(tally)

                for graded in jobs.grade(chosen, gradebook.latest, look):
                    one, who = graded.handed_in, None
                    if graded.students is not None:
                        who = _who(one, graded.students, roster)
                    with _uninterrupted():
                        if graded.result is not None:
                            gradebook.add(run, graded.result, who)
                        elif who is not None:
                            gradebook.settings.note_hand_in(one.student, who)
                        tally.count(graded)
                    look()
                if isinstance(jobs, Jobs) and len(chosen) >= _MANY_PAGES:
                    write_files(gradebook, order.out, written, jobs.write)
                    are_written = True
        except KeyboardInterrupt:
            tally.stopped = True
        except Interrupted as fault:
            tally.stopped = tally.cut_short = True
            tally.faults.append(str(fault))
        if not are_written and gradebook.students():
            write_files(gradebook, order.out, written)
        tally.notes += [*([_about(left_out)] if left_out else []), *class_list(gradebook).notes()]
        return tally


_Declared = Mapping[str, Mapping[str, Any]]  # by student, what submission.yaml says


def _of_other_assignments(chosen: list[HandedIn], declared: _Declared, rubric: str) -> dict[str, str]:
    """The submissions whose submission.yaml names another rubric than the class is graded by, and which."""
    others = rubric_choices().keys() - {rubric}
    named = {one.student: declared[one.student].get("rubric") for one in chosen}
    return {student: name for student, name in named.items() if name in others}


def _about(left_out: Mapping[str, str]) -> str:
    named = listed([f"{student} ({name})" for student, name in left_out.items()])
    return f"left out, because submission.yaml names another assignment (--student NAME grades it anyway): {named}"


def _note_found(gradebook: Gradebook, everything: Found, declared: _Declared, chosen: Collection[str]) -> None:
    """Before anything is graded: whoever a stopped batch does not come to has not handed in nothing. What is not to be
    graded counts if an earlier batch was to grade it, or if the roster has a student who handed it in."""
    settings = gradebook.settings
    known, roster = settings.hand_ins(), {folded(one.student) for one in settings.roster}
    behind = {
        one.student: known.get(one.student) or _who(one, declared[one.student].get("students", ()), roster)
        for one in everything.submissions
    }
    missed = {one for one in behind if not roster.isdisjoint(folded(person.student) for person in behind[one].members)}
    missed |= behind.keys() & settings.found
    settings.note_found({*chosen, *missed, *everything.claimed_twice}, behind)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the end of the block, so that whatever is kept is counted."""
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed and callable(before):
        before(pressed[0], None)


def _begin_run(order: Order, plan: Plan, gradebook: Gradebook, rubric: str) -> int:
    data = str(plan.data) if plan.data else None
    place = str(order.submissions.resolve())
    asked = Run(str(plan.rubric), data, plan.draw.seed, plan.problems, plan.draw.fingerprint, place)
    return gradebook.begin_run(asked, rubric, __version__)


def _rubric_of(plan: Plan) -> Rubric:
    return only(load_rubric(plan.rubric, plan.data), list(plan.problems))


def _graders(order: Order, plan: Plan, count: int, workspace: Path) -> Jobs | DaskJobs:
    if order.dask is None:
        return Jobs(plan, max(1, min(order.jobs, count)), workspace)
    _rubric_of(plan)  # a typo is told before a cluster is asked for anything
    with extra_needed("dask", "--dask"):
        from grader.batch.cluster.dask_jobs import DaskJobs
    return DaskJobs(order.dask, plan, workspace, order.submissions.resolve() if order.shared else None)


def _keep_lists(order: Order, gradebook: Gradebook, submissions: tuple[HandedIn, ...]) -> None:
    """The roster and the times that were given; a bad line stops here, before anything is graded."""
    ids = {member.student for one in submissions for member in (*one.members, Person(one.student))}
    if order.roster is not None:
        gradebook.settings.set(roster=as_rows(read_roster(order.roster, ids)))
    if order.handed_in is not None:
        gradebook.settings.set(times=gradebook.settings.times | read_times(order.handed_in, ids))


def _who(handed_in: HandedIn, named: Sequence[str], roster: Collection[str]) -> HandIn:
    """Who is behind a hand-in: what the platform says; else its own id and, in a group, whom submission.yaml names.

    A folder that is called after nobody in the group (team-7) is no student, unless a platform or the roster says so.
    """
    if handed_in.members or len(named) < 2:
        return HandIn(handed_in.members or (Person(handed_in.student, handed_in.name),), handed_in.came)
    own = folded(handed_in.student)
    others = tuple(Person(one) for one in named if folded(one) != own)
    is_a_student = bool(handed_in.name) or len(others) < len(named) or own in roster
    me = (Person(handed_in.student, handed_in.name),) if is_a_student else ()
    return HandIn((*me, *others), handed_in.came)


@contextmanager
def _alone_in(out: Path) -> Iterator[None]:
    """Two batches into one gradebook would grade everything twice; the lock goes with the process, however it ends."""
    try:
        lock = os.open(out / "gradebook.lock", os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise GradebookFault(f"{out}: no grades can be kept here: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise UsageError(f"{out}: another batch is writing its grades here") from None
    finally:
        os.close(lock)


def _chosen(submissions: tuple[HandedIn, ...], order: Order, before: Mapping[str, HandIn]) -> list[HandedIn]:
    """All, or those asked for; who is behind a hand-in says the download, or what an earlier batch read in it."""
    behind = {
        member.student: one.student
        for one in submissions
        for member in one.members or before.get(one.student, HandIn(())).members
    }
    behind |= {one.student: one.student for one in submissions}
    for student in (*order.students, *order.without):
        if student not in behind:
            raise UsageError(f"nothing was handed in by '{student}'{did_you_mean(student, behind)}")
    wanted, unwanted = ({behind[one] for one in asked} for asked in (order.students, order.without))
    chosen = [one for one in submissions if (not wanted or one.student in wanted) and one.student not in unwanted]
    if not chosen:
        raise UsageError(f"{order.submissions}: there is no submission to grade")
    return chosen


def _plan(order: Order, gradebook: Gradebook, chosen: list[HandedIn]) -> Plan:
    """With --resume, what is not said on the command line is as it was in the run before."""
    before = gradebook.last_run() if order.resume else None
    if order.resume and before is None:
        raise UsageError(f"{order.out}: there is no batch to resume")
    data, seed, problems = order.data, order.seed, order.problems
    if before is not None:
        data = data or (Path(before.data) if before.data else None)
        seed = before.seed if seed is None else seed
        problems = problems or before.problems
    if order.rubric is not None:
        rubric = find_rubric(order.rubric)
        refuse_rubric_inside(rubric, order.submissions)
    elif before is not None:
        rubric = Path(before.rubric_path)
    else:
        rubric = rubric_of(chosen)
    draw = draw_for_grading(seed or 0)
    if before is not None and draw.fingerprint != before.secret:
        cause = _another_secret(before.secret, draw.fingerprint)
        raise UsageError(f"{order.out}: {cause}; set the same one, or leave out --resume to grade everybody anew")
    return Plan(rubric.resolve(), data.resolve() if data else None, problems, draw, order.unsafe)


def _another_secret(before: str, now: str) -> str:
    """Half a class on other inputs than the other half would not be fair."""
    if not now:
        return f"the batch was begun with the secret {before}, and GRADER_SECRET is not set"
    return f"the batch was begun with {f'the secret {before}' if before else 'no secret'}, and this is {now}"


def rubric_of(chosen: list[HandedIn]) -> Path:
    """The one that the submissions name or fit. If they disagree, staff decide: no student chooses for a class."""
    named: dict[Path, str] = {}
    for handed_in in chosen[:_ASKED_FOR_THEIR_RUBRIC]:
        try:
            with open_submission(handed_in.path) as opened:
                named.setdefault(choose_rubric(None, opened, handed_in.path), handed_in.student)
        except Exception:  # it cannot be opened, or says nothing: the others say, and its own report says why
            continue
    if len(named) == 1:
        return next(iter(named))
    says = ", ".join(f"{student} is for {path.parent.name}" for path, student in named.items())
    raise UsageError(f"give the class's rubric with --rubric: {says or 'no submission says or shows which one it is'}")
