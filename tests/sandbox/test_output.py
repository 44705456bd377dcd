"""What a script prints: its beginning and its end, in little memory."""

from __future__ import annotations

from grader.sandbox.box.output import Output

KEPT = 1 << 16


def test_the_beginning_and_the_end_are_kept_however_much_lies_between() -> None:
    output = Output()
    output.stream.write("begin")
    for _ in range(40):
        output.stream.write("." * 2 * KEPT + "\n")
    output.stream.write("end")
    said = output.text()
    assert said.startswith("begin.")
    assert said.endswith(".\nend")
    assert len(said) == 2 * KEPT
    assert len(output._end) <= 6 * KEPT


def test_what_is_short_is_said_once() -> None:
    output = Output()
    output.stream.write("accuracy 0.5")
    assert output.text() == "accuracy 0.5"


def test_the_next_run_begins_with_nothing_and_a_closed_stream_is_replaced() -> None:
    first = Output.cleared()
    first.stream.write("one")
    assert Output.cleared() is first
    assert first.text() == ""
    first.stream.close()
    again = Output.cleared()
    again.stream.write("two")
    assert again.text() == "two"
