"""Indented JSON is what Python's own writer makes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.report.indented_json import indented

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def _by_python(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


@given(_VALUES)
def test_it_is_what_python_writes(value: Any) -> None:
    assert indented(value) == _by_python(value)


class _Word(str):
    pass


@pytest.mark.parametrize(
    "value",
    [
        {"a": (1, [2, {}], []), "b": {1: "one", None: [True]}},
        [{"text": 'two\nlines, "quoted" \u2028 \x7f é'}, _Word("word"), {_Word("key"): [1.5e300, -0.0]}],
        {"empty": [{}, [], "", ()], "deep": [[[[{"x": [None]}]]]]},
    ],
)
def test_tuples_and_other_keys_are_written_as_python_does(value: Any) -> None:
    assert indented(value) == _by_python(value)


def test_what_json_does_not_know_is_refused() -> None:
    with pytest.raises(TypeError):
        indented({"a": [object()]})
