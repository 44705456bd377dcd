"""Files of reports are, to the byte, what Python's own encoder writes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.report.indented_json import indented

_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
_DATA = st.recursive(_LEAVES, lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside), max_leaves=40)


@given(_DATA)
def test_it_is_what_python_writes(data: Any) -> None:
    assert indented(data) == json.dumps(data, ensure_ascii=False, indent=2)


@pytest.mark.parametrize("data", [{}, [], {"a": {}}, [[]], {"a": [{}, [1, {"β": '\x1b\u2028"'}]]}, [1e-05, -0.0, 1e22]])
def test_odd_ones_too(data: Any) -> None:
    assert indented(data) == json.dumps(data, ensure_ascii=False, indent=2)
