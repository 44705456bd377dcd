"""The first line of a self-check: whose work, and which assignment. It stands there before anything slow is loaded."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text


def print_heading(console: Console, name: str, title: str) -> None:
    console.print(Text(f"{name} · {title}", style="bold"))
