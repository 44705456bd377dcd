"""An auto-grader for homework on attention and Transformers."""

import sys  # nothing here that is not loaded when Python starts: see __main__

TYPE_CHECKING = False  # a constant that type checkers know; `typing` may be a student's file here
if TYPE_CHECKING:
    from grader.api import *  # noqa: F403

__version__ = "0.1.0"

if sys.version_info < (3, 11):  # noqa: UP036 - told here, before anything is read that an older Python cannot read
    found = ".".join(map(str, sys.version_info[:2]))
    fix = "make an environment with a newer one, `python3.11 -m venv .venv`"
    sys.exit(f"grader: Python 3.11 or newer is needed, and this is {found}; {fix}")


def __getattr__(name: str) -> object:
    """`from grader import check`: loaded when a rubric or a notebook asks for it. `from grader import batch` asks here
    first, and has to load no more than that."""
    if name.startswith("_"):
        raise AttributeError(f"module 'grader' has no attribute {name!r}")
    from grader.lazy_names import lazy_name

    return lazy_name(__name__, "api", name)
