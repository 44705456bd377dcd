"""Do answers get the same verdict in whatever form they are handed in?

    python -m benchmarks.forms                    # figures by form, and every difference
    python -m benchmarks.forms --form "pdf word"  # of one form
    python -m benchmarks.forms --stem main        # the sheet is called main.tex and so on; default: answers
    python -m benchmarks.forms --known            # the differences as tests/answers/forms/known.yaml has them
    python -m benchmarks.forms --labels           # what the Markdown form gets, beside the label it deserves

The answers are whole sheets in tests/answers/forms, written from the homework's text alone. `same` is the verdict of
the Markdown form: status and points, check by check. `review` is another verdict that a person decides about, with no
more points than in Markdown. PDFs are stored; `python -m benchmarks.forms.stored_pdfs` makes them.
"""

from __future__ import annotations

import argparse
from collections import Counter

from rich.console import Console
from rich.table import Table

from benchmarks.forms.corpus import SHEETS, sheet
from benchmarks.forms.every_form import FORMS
from benchmarks.forms.judged import STEM, Fate, Judge, Verdict, differing, fate, judge

_CONSOLE = Console(soft_wrap=True, highlight=False, markup=False)
Places = dict[tuple[str, str], tuple[Verdict, Verdict]]  # by sheet and part: in Markdown, in the form


def _compared(judge: Judge, form: str, stem: str) -> Places:
    found: Places = {}
    for name in SHEETS:
        want, got = judge.in_markdown(sheet(name)), judge(sheet(name), FORMS[form], stem)
        found |= {(name, part): (want[part], got[part]) for part in sheet(name).answers}
    return found


def _print_figures(places: dict[str, Places]) -> None:
    table = Table("form", "answers", *Fate)
    for form, those in places.items():
        counts = Counter(fate(want, got) for want, got in those.values())
        table.add_row(form, str(len(those)), *(str(counts[one]) for one in Fate))
    Console().print(table)
    for form, those in places.items():
        for (name, part), (want, got) in those.items():
            if (found := fate(want, got)) is not Fate.SAME:
                _CONSOLE.print(f"{form}: {name} {part}: {found}: {want} → {got} ({got.message})")


def _print_known(places: dict[str, Places]) -> None:
    for form, those in places.items():
        lines = []
        for name in SHEETS:
            want, got = ({part: those[name, part][which] for part in sheet(name).answers} for which in (0, 1))
            if wrong := differing(want, got, sheet(name), FORMS[form]):
                lines.append(f"  {name}: [{', '.join(wrong)}]")
        if lines:
            _CONSOLE.print("\n".join([f"{form}:", *lines]))


def _print_labels(judge: Judge) -> None:
    table = Table("label", "answers", "full points", "some", "none", "passed by itself")
    listed, rows = [], {label: Counter[str]() for label in ("right", "partial", "wrong")}
    for name in SHEETS:
        rubric_points = judge.points(sheet(name).rubric)
        for part, verdict in judge.in_markdown(sheet(name)).items():
            if part not in sheet(name).answers:
                continue
            label = sheet(name).answers[part].label
            got = "full" if verdict.points == rubric_points[part] else "some" if verdict.points else "none"
            rows[label].update(["all", got, str(verdict.status)])
            if (label, got) not in (("right", "full"), ("partial", "some"), ("wrong", "none")):
                listed.append(
                    f"{name} {part}: {label}, but {verdict} of {float(rubric_points[part]):g} ({verdict.message})"
                )
    for label, row in rows.items():
        table.add_row(label, *(str(row[one]) for one in ("all", "full", "some", "none", "passed")))
    Console().print(table)
    _CONSOLE.print("\n".join(listed))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--form", choices=FORMS, action="append")
    parser.add_argument("--stem", default=STEM)
    parser.add_argument("--known", action="store_true")
    parser.add_argument("--labels", action="store_true")
    options = parser.parse_args()
    with judge() as judging:
        if options.labels:
            _print_labels(judging)
            return
        places = {form: _compared(judging, form, options.stem) for form in options.form or FORMS}
    (_print_known if options.known else _print_figures)(places)


if __name__ == "__main__":
    main()
