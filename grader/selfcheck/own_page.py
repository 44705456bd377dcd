"""The self-check as a page: the one that staff have, opened in the browser where there is one."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path

from grader.exits import write_text
from grader.model import Report
from grader.report.html import student_page
from grader.report.json_report import as_data
from grader.selfcheck.showing import summary

PAGE = Path("self-check.html")
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")  # without any of them Linux would open a browser in the terminal


def show_page(report: Report) -> str:
    """Write it, open it, and say where it is."""
    write_text(str(PAGE), student_page(as_data(report), said=summary(report)), "the page")
    has_screen = sys.platform != "linux" or any(os.environ.get(name) for name in _SCREENS)
    opened = has_screen and webbrowser.open(PAGE.resolve().as_uri())
    return f"{PAGE}: the page is open in your browser" if opened else f"{PAGE}: open it in a browser"
