"""Costs find the models they belong to, whatever the order of the words."""

from __future__ import annotations

import pytest
from rubric_nlp_a5.public.formulas.costs_read import MARKS, costs_by_subject

from grader.answers import cut_into_parts
from grader.formulas import Declared, Vocabulary, plain, read_statements
from grader.notation import denials

VOCABULARY = Vocabulary(tuple(Declared(name) for name in "Lnm"), functions=frozenset(MARKS))
WORDS = {"vanilla": ["vanilla", "transformer", "full", "standard"], "perceiver": ["perceiver", "bottleneck"]}


@pytest.mark.parametrize(
    ("text", "vanilla", "perceiver"),
    [
        ("vanilla: O(Lnn), perceiver: O(nm)", "O(L n n)", "O(n m)"),
        ("$O(Lnn)$ with the standard model, $O(nm)$ with the Perceiver", "O(L n n)", "O(n m)"),
        ("The perceiver needs $O(nm)$ instead of $O(Lnn)$ for the vanilla one.", "O(L n n)", "O(n m)"),
        ("A full transformer takes $O(Lnn)$. A Perceiver-style transformer takes $O(nm)$.", "O(L n n)", "O(n m)"),
        ("Compared to the vanilla model, the Perceiver takes only $O(nm)$.", None, "O(n m)"),
        ("The perceiver is faster than the vanilla model, which takes $O(Lnn)$.", "O(L n n)", None),
        ("Vanilla: $O(Lnn)$. Perceiver: $O(nm)$, better than $O(Lnn)$.", "O(L n n)", "O(n m)"),
        ("Vanilla takes $O(Lnn)$ time and $O(nn)$ memory.", "O(L n n)", None),
        ("Vanilla: memory $O(nn)$, time $O(Lnn)$.", "O(L n n)", None),
        ("Vanilla is never $O(n)$.", None, None),
        ("Both, vanilla and perceiver, take $O(Lnn)$.", "O(L n n)", "O(L n n)"),
    ],
)
def test_cost_belongs_to_its_model(text: str, vanilla: str | None, perceiver: str | None) -> None:
    answer = cut_into_parts(f"# 1\n\n{text}\n", "answers.md", ["1"]).parts["1"]
    found = costs_by_subject(read_statements(answer, VOCABULARY), WORDS)
    last = {subject: plain(costs[-1][-1]) for subject, costs in found.items()}
    assert (last.get("vanilla"), last.get("perceiver")) == (vanilla, perceiver)


def test_costs_joined_by_or_stand_together() -> None:
    answer = cut_into_parts("# 1\n\nVanilla: $O(n)$ or $O(Lnn)$.\n", "answers.md", ["1"]).parts["1"]
    (together,) = costs_by_subject(read_statements(answer, VOCABULARY), WORDS)["vanilla"]
    assert [plain(cost) for cost in together] == ["O(n)", "O(L n n)"]


@pytest.mark.parametrize("word", sorted(denials.NOT | denials.NEITHER))
def test_a_cost_that_is_denied_is_none(word: str) -> None:
    found = []
    for text in ("Vanilla takes $O(Ln)$.", f"Vanilla {word} takes $O(Ln)$."):
        answer = cut_into_parts(f"# 1\n\n{text}\n", "answers.md", ["1"]).parts["1"]
        found.append(len(costs_by_subject(read_statements(answer, VOCABULARY), WORDS).get("vanilla", [])))
    assert found == [1, 0]
