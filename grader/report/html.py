"""Pages for students, and what all pages share: made from JSON reports alone, so that stored ones can be drawn again.

Students' words reach these pages. Three things keep them harmless: every value is quoted (no control characters, no
tricks with direction) and then escaped, without a template having to ask; figures are built from numbers; and the
page's own policy forbids scripts, requests and any style but its own.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_address

import jinja2
from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from grader.model import CAN_BE_OPENED, COULD_BE_GRADED, Status
from grader.quoting import quote, visible
from grader.report.answer_display import CodeLine, Space, own_work
from grader.report.circumstances import about_lateness, days_of
from grader.report.drawing import drawn
from grader.report.figures import DRAWN_KEYS, figures_in
from grader.report.points import worth
from grader.report.scores import ring
from grader.report.typesetting import mathml

TEMPLATES = Path(__file__).parent / "templates"
_LONGEST = 4000  # characters of one value: more than any message has
_FACT = 300
_SHARED = (Status.SKIPPED, Status.MISSING)
_FITS_A_PHONE = 30  # characters of a formula
_FORMULA_KEYS = ("read_as", "read_as_latex", "canonical")

# What a block of a page says of a check. Its seconds are no part of it, so that many students share one.
_OF_A_BLOCK = ("id", "asks", "status", "points", "max_points", "message", "evidence", "visibility")
_KEPT_BLOCKS = 512
_LONGEST_KEPT = 4_000  # characters of what is said in one; what has a figure has more, and is hardly anybody else's
_STEPS = (("previous", "before="), ("next", "after="))  # what the class's page does with its address

# A sign and a word with every colour. The last is what the word means, for a student.
_STATUSES = {
    Status.PASSED: ("✓", "good", "right"),
    Status.PARTIAL: ("◐", "warn", "partly right"),
    Status.FAILED: ("✗", "bad", "it was there, or ran, and is not right"),
    Status.CRASHED: ("!", "bad", "the code raised an error, took too long or hit a limit"),
    Status.MISSING: ("∅", "bad", "nothing was handed in for it"),
    Status.SKIPPED: ("→", "muted", "not tried, because something it builds on is not right"),
    Status.REVIEW: ("?", "person", "a person decides; the points are provisional"),
    Status.UNGRADED: ("⚠", "ours", "it could not be graded, and that is not your fault; a person will look at it"),
}


def student_page(data: Mapping[str, Any], *, said: str = "", class_page: str = "") -> str:
    """One student's report. `data` is the JSON report; unknown keys are ignored. `said` stands above all parts.
    `class_page` is where the class's page lies, for staff: it knows the next student, whom this page must not name."""
    shown = [problem for problem in data["problems"] if not _is_left_out(problem)]
    asked = [problem for problem in shown if not problem.get("bonus")]
    lost = sorted(asked, key=lambda problem: problem["points"] - problem["max_points"])
    statuses = _all_statuses(data)
    space = Space()
    return rendered(
        "student.html",
        report=data,
        said=said,
        title=data.get("title") or data["rubric"],
        worth=worth_of(data),
        ring=ring(share_of(data), f"{data['points']:g}", worth_of(data)),
        right=sum(problem["status"] == Status.PASSED for problem in asked),
        waiting=sum(problem["status"] in (Status.REVIEW, Status.UNGRADED) for problem in asked),
        parts=len(asked),
        lost=[problem for problem in lost if problem["points"] < problem["max_points"]][:3],
        review=[problem for problem in shown if problem["status"] == Status.REVIEW],
        ungraded=[problem for problem in shown if problem["status"] == Status.UNGRADED],
        hidden=any(check["visibility"] == "hidden" for problem in shown for check in problem["checks"]),
        problems=[(problem, _check_blocks(problem), own_work(problem, space)) for problem in shown],
        left_out=[problem for problem in data["problems"] if problem not in shown],
        nothing=_nothing(data),
        late=about_lateness(data),
        days=days_of,
        legend=[(status, _STATUSES[status][2]) for status in Status if status in statuses],
        way=[(word, f"{class_page}#{step}{quote_address(data['submission'], safe='')}") for word, step in _STEPS],
        class_page=class_page,
    )


def _is_left_out(problem: Mapping[str, Any]) -> bool:
    """An optional part that was not handed in. Others may be worth nothing yet: prose, in a student's own check."""
    return bool(problem.get("bonus")) and not problem["max_points"] and problem["status"] == Status.MISSING


def _nothing(data: Mapping[str, Any]) -> str:
    """Why nothing at all was graded, where that is so."""
    checks = [check for problem in data["problems"] for check in problem["checks"]]
    whole = checks and all(check["id"] in (CAN_BE_OPENED, COULD_BE_GRADED) for check in checks)
    return checks[0]["message"] if whole else ""


def _all_statuses(data: Mapping[str, Any]) -> set[str]:
    found = {problem["status"] for problem in data["problems"]}
    for problem in data["problems"]:
        found |= {check["status"] for check in problem["checks"] if not _is_settled(problem, check)}
    return found


def _is_settled(problem: Mapping[str, Any], check: Mapping[str, Any]) -> bool:
    """Whether it waited for a person, who has decided."""
    return "decision" in problem and check["status"] in (Status.REVIEW, Status.UNGRADED)


def share_of(data: Mapping[str, Any]) -> float:
    return float(data["points"] / data["max_points"]) if data["max_points"] else 0.0


def worth_of(data: Mapping[str, Any]) -> str:
    return worth(data["max_points"], data.get("max_bonus", 0))


def _check_blocks(problem: Mapping[str, Any]) -> list[Markup]:
    """The entries of a part as a student's page shows them. Of most checks the same is said to most students, so a
    block is drawn from its own words alone, and those words are what it is kept by."""
    blocks = []
    for same in _in_a_row(problem["checks"]):
        about: dict[str, Any] = {"status": ""}
        if _is_settled(problem, same[0]):
            about = {"status": problem["status"], "decision": {"by": problem["decision"]["by"]}}
        about["checks"] = [{name: check[name] for name in _OF_A_BLOCK if name in check} for check in same]
        words = _said(about)
        blocks.append(_kept_block(words) if len(words) <= _LONGEST_KEPT else _block(words))
    return blocks


_said = json.JSONEncoder(ensure_ascii=False).encode


def _block(words: str) -> Markup:
    problem = json.loads(words)
    (entry,) = check_entries(problem)
    return Markup(rendered("check.html", problem=problem, entry=entry))


_kept_block = lru_cache(_KEPT_BLOCKS)(_block)


def check_entries(problem: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One entry per check; checks in a row that were left out, or found nothing, for the same reason share one. Where a
    person decided the part, none waits for one any more."""
    entries = []
    for same in _in_a_row(problem["checks"]):
        evidence = same[0]["evidence"] if len(same) == 1 else {}
        figures = [drawn(figure) for figure in figures_in(evidence)]
        facts = [(_words(key), _fact(value)) for key, value in evidence.items() if _worth_saying(key, value, figures)]
        names = ", ".join(_words(check["id"]) for check in same)
        worth = sum(check["max_points"] for check in same)
        settled = _is_settled(problem, same[0])
        status = problem["status"] if settled else same[0]["status"]
        entry = {"check": same[0], "status": status, "names": names, "worth": worth, "settled": settled}
        entries.append({**entry, "figures": figures, "facts": facts, "formulas": _as_read(evidence)})
    return entries


def _in_a_row(checks: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Those that share an entry."""
    for _, group in groupby(
        enumerate(checks), lambda pair: (pair[1]["message"], -1 if pair[1]["status"] in _SHARED else pair[0])
    ):
        yield [check for _, check in group]


def _words(name: str) -> str:
    """Checks are named by sentences about right work: `rows_sum_to_one`."""
    return name.replace("_", " ")


def _worth_saying(key: str, value: Any, figures: Sequence[Markup]) -> bool:
    """Not what is drawn or set, nor the form by which people group answers: it is the formula once more."""
    return value not in (None, "", [], {}) and key not in _FORMULA_KEYS and not (figures and key in DRAWN_KEYS)


def _as_read(evidence: Mapping[str, Any]) -> list[Markup]:
    """Formulas as they were read, set where the report has them in LaTeX."""
    written, sources = (_texts(evidence.get(key)) for key in ("read_as", "read_as_latex"))
    return [formula(words, source) for words, source in zip_longest(written, sources[: len(written)], fillvalue="")]


def _texts(value: Any) -> list[str]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]


def formula(words: str, source: str = "") -> Markup:
    """A formula for a line of text; as it is spelled there, where it has no LaTeX or that cannot be set."""
    shown = (source and mathml(source)) or quote(words, _LONGEST)
    # On a phone it may have to be moved sideways, and then by keys, too.
    reached = Markup(' tabindex="0"') if max(len(words), len(source)) > _FITS_A_PHONE else Markup("")
    return Markup('<span class="formula"{}>{}</span>').format(reached, shown)


def _fact(value: Any) -> str:
    """Evidence in words: a list as a list, a mapping as `a: 1, b: 2`; what lies deeper as JSON."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        said = ", ".join(f"{_words(key)}: {_plain(item)}" for key, item in value.items())
    else:
        said = ", ".join(map(_plain, value)) if isinstance(value, list) else str(value)
    return quote(said, _LONGEST if isinstance(value, str) else _FACT)


def _plain(value: Any) -> str:
    if isinstance(value, list | Mapping):
        return json.dumps(value, ensure_ascii=False)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def status_look(status: str) -> str:
    """The class by which its colour goes."""
    return _STATUSES[Status(status)][1]


@cache
def status_sign(status: str) -> Markup:
    sign, look, _ = _STATUSES[Status(status)]
    return Markup('<span class="status {}"><span aria-hidden="true">{}</span> {}</span>').format(look, sign, status)


@cache
def _sign(status: str) -> Markup:
    """The sign alone, and the word for whoever hears the page; status_sign has the word for everybody."""
    sign, look, _ = _STATUSES[Status(status)]
    seen = Markup('<span class="sign {}" aria-hidden="true">{}</span>').format(look, sign)
    return Markup('{}<span class="unseen">{}</span>').format(seen, status)


def harmless_value(value: Any) -> Any:
    """What any template prints goes through here before it is escaped; markup is what this package made itself."""
    if isinstance(value, Markup):
        return value
    return f"{value:.6g}" if isinstance(value, float) else quote(str(value), _LONGEST)


def _lines(text: str) -> Markup:
    """Words as they are, line for line; other values are shown in one line."""
    return escape(visible(text))


def _rows(lines: Sequence[CodeLine]) -> Markup:
    """Code in the same way, with its numbers. It is escaped as a whole, before any tag is put around a line."""
    texts = str(_lines("\n".join(line.text for line in lines))).split("\n")
    rows = (
        f'<span class="row{" named" if line.named else ""}"><span class="at">{line.number:d}</span>{text}\n</span>'
        for line, text in zip(lines, texts, strict=True)
    )
    return Markup("".join(rows))


def sha256_of(text: str) -> str:
    """As a page's policy names a style or script."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


_OPTIONS: dict[str, Any] = {
    "autoescape": True,
    "finalize": harmless_value,
    "undefined": StrictUndefined,
    "trim_blocks": True,
    "lstrip_blocks": True,
}


class _Compiled(FileSystemBytecodeCache):
    """Compiled templates, kept where Python keeps what it compiles, if one may write there: compiling takes as long as
    a hundred pages."""

    def __init__(self) -> None:
        super().__init__(str(TEMPLATES / "__pycache__"))

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """What was compiled by another jinja, or with other options, is another file: whether values are escaped is
        compiled in."""
        options = [f"{option}={getattr(value, '__qualname__', value)}" for option, value in _OPTIONS.items()]
        return super().get_cache_key(" ".join([jinja2.__version__, *options, name]), filename)

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except Exception:  # a damaged file raises all kinds of things; the template is compiled in its place
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if not sys.dont_write_bytecode:
            with suppress(OSError):  # nobody may write there, or the disk is full: the next process compiles again
                os.makedirs(self.directory, exist_ok=True)
                super().dump_bytecode(bucket)


@cache
def templates(room: Path = TEMPLATES) -> Environment:
    """Templates whose values are quoted and escaped. A room may have its own, and a style beside the common one."""
    environment = Environment(
        loader=FileSystemLoader([room, TEMPLATES]),
        bytecode_cache=_Compiled(),
        auto_reload=False,  # nobody asks the disk, three times a page, whether a template has changed
        **_OPTIONS,
    )
    sheets = dict.fromkeys([TEMPLATES / "style.css", *sorted(room.glob("*.css"))])
    style = "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    environment.globals |= {
        "style": Markup(style),
        "style_sha256": sha256_of(style),
        "status": status_sign,
        "words": _words,
    }
    environment.globals |= {"lines": _lines, "rows": _rows, "look": status_look, "sign": _sign}
    return environment


def rendered(template: str, **values: Any) -> str:
    return templates().get_template(template).render(**values)
