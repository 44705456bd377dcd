"""From a folder of reports to one of the formats."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from grader.errors import UsageError
from grader.exits import private
from grader.quoting import quote
from grader.report.exports import gradescope_results, moodle
from grader.report.exports.canvas import canvas
from grader.report.exports.csv_table import csv_table
from grader.report.exports.junit import junit
from grader.report.exports.markdown_table import markdown
from grader.report.exports.reports import Exported, Reports
from grader.report.exports.worksheet import Worksheet, read_match, read_worksheet


class Format(StrEnum):
    GRADESCOPE = "gradescope"
    CANVAS = "canvas"
    MOODLE = "moodle"
    JUNIT = "junit"
    MARKDOWN = "markdown"
    CSV = "csv"


@dataclass(frozen=True)
class Options:
    into: Path | None = None
    column: str = ""
    feedback_column: str = moodle.FEEDBACK_COLUMN
    match: Path | None = None
    hidden: gradescope_results.HiddenChecks = gradescope_results.HiddenChecks.NEVER
    leaderboard: bool = False
    after_published: frozenset[str] = frozenset()  # Gradescope: public checks, as PART:CHECK, that students see later


def export(reports: Reports, to: Format, options: Options) -> Exported:
    match to:
        case Format.GRADESCOPE:
            made = {
                student: gradescope_results.results(
                    one, options.hidden, options.after_published, leaderboard=options.leaderboard
                )
                for student, one in reports.items()
            }
            return Exported({f"{student}.json": gradescope_results.as_text(data) for student, data in made.items()})
        case Format.CANVAS:
            return canvas(reports, _worksheet(to, options), options.column, _ids(options))
        case Format.MOODLE:
            sheet, feedback = _worksheet(to, options), options.feedback_column
            return moodle.moodle(reports, sheet, options.column, _ids(options), feedback)
        case Format.JUNIT:
            return Exported({"junit.xml": junit(reports)})
        case Format.MARKDOWN:
            return Exported({"grades.md": markdown(reports)})
        case Format.CSV:
            return Exported({"grades.csv": csv_table(reports)})


def _worksheet(to: Format, options: Options) -> Worksheet:
    if options.into is None:
        raise UsageError(f"--to {to} fills a file that {to.title()} made: give it with --into")
    return read_worksheet(options.into)


def _ids(options: Options) -> dict[str, str]:
    return read_match(options.match) if options.match else {}


def deliver(exported: Exported, out: Path) -> None:
    """Into a file, or, if there are several texts, into a folder under their names."""
    try:
        if len(exported.texts) == 1 and not out.is_dir():
            _write(out, next(iter(exported.texts.values())))
            return
        out.mkdir(0o700, parents=True, exist_ok=True)
        for name, text in exported.texts.items():
            _write(out / name, text)
    except OSError as error:
        raise UsageError(f"{quote(str(out))}: cannot be written: {error.strerror}") from None


def _write(path: Path, text: str) -> None:
    with open(path, "wb", opener=private) as file:
        file.write(text.encode("utf-8", "replace"))
