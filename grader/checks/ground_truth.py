"""The reference implementations, as rubrics name them: `attention.multi_head_attention`."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator

from grader.suggestions import did_you_mean


def _existing(name: str) -> str:
    """Looks without importing, because a reference may need torch and most rubrics are loaded without it."""
    module, _, function = name.rpartition(".")
    spec = importlib.util.find_spec(f"reference.{module}") if module else None
    if spec is None or spec.origin is None:
        raise ValueError(f"names no reference: '{name}' should look like 'attention.multi_head_attention'")
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    known = [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    if function not in known:
        raise ValueError(
            f"names no reference: reference/{module}.py has no '{function}'{did_you_mean(function, known)}"
        )
    return name


Reference = Annotated[str, AfterValidator(_existing)]


def reference_function(name: str) -> Callable[..., Any]:
    module, _, function = name.rpartition(".")
    found: Callable[..., Any] = getattr(importlib.import_module(f"reference.{module}"), function)
    return found
