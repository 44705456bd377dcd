"""What the pages of review show, and what their forms do; how they look in a browser is asked in test_in_browser.py."""

from __future__ import annotations

import html
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader.batch.gradebook import Gradebook, Result
from grader.review.desk import Desk
from grader.review.handed_in_files import HandedInFiles
from grader.review.refs import Ref
from grader.review.visit import Room, key_of
from tests.conftest import REPOSITORY
from tests.review.asking import REVIEWERS, Kim
from tests.review.made_classes import code, essays, formula, keep, prose, result

PDF = (REPOSITORY / "tests" / "answers" / "pdfs" / "wrong.pdf").read_bytes()


def _kim(folder: Path, submissions: Path | None = None, **more: Any) -> Kim:
    return Kim(Room(folder, REVIEWERS, HandedInFiles(submissions), **more))


def _text(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def _cards(page: str) -> list[str]:
    return [_text(one) for one in re.findall(r'<section class="card".*?</section>', page, re.DOTALL)]


def _decisions(folder: Path, part: str) -> dict[str, Fraction | None]:
    with Gradebook(folder) as book:
        states = book.decisions.states(part=part)
        return {one.student: one.standing.decision.points for one in states if one.standing.decision}


def test_a_group_is_shown_by_its_first_open_answer_and_what_was_not_passed(tmp_path: Path) -> None:
    book = Gradebook(tmp_path, new=True)
    long = "x" * 399 + "yz"
    keep(
        book,
        result("ann", code(long, "it is nan")),
        result("bob", code(long, "it is nan")),
        result("eve", code("b")),
    )
    page = _kim(tmp_path).sees("/parts/2/groups")
    failing, right = sorted(_cards(page), key=len, reverse=True)
    assert "2 answers" in failing
    assert f"{'x' * 399}y " in failing, "the first 400 letters"
    assert f"{'x' * 399}yz" not in failing
    assert "it is nan" in failing
    assert "0 of 2" in failing
    assert "they do" not in right, "what was passed is not said"
    assert "2 of 2" in right


def test_groups_come_thirty_to_a_page_and_forty_of_one_are_listed(tmp_path: Path) -> None:
    book = Gradebook(tmp_path, new=True)
    keep(
        book,
        *(result(f"a{number}", formula(f"x_{number}", "", "review")) for number in range(31)),
        *(result(f"b{number}", formula("the same", "", "review")) for number in range(42)),
    )
    kim = _kim(tmp_path)
    first, second = kim.sees("/parts/1.b/groups"), kim.sees("/parts/1.b/groups?from=30")
    assert (len(_cards(first)), len(_cards(second))) == (30, 2)
    (large,) = (card for card in (*_cards(first), *_cards(second)) if "42 answers" in card)
    assert large.endswith("and 2 more")
    assert large.count("answer ") == 40
    for odd in ("-1", "x", "²", "9999999"):
        assert _cards(kim.sees(f"/parts/1.b/groups?from={odd}")) == _cards(first)
    assert _cards(kim.sees("/parts/1.b/groups?from=99")) == []


def test_names_are_hidden_unless_they_are_asked_for(tmp_path: Path) -> None:
    keep(
        Gradebook(tmp_path, new=True),
        result("ann", prose("They are all positive, and they sum to one."), name="Ann Able"),
    )
    place = f"/parts/1.a/answers/{key_of('ann')}"
    for path in (place, "/parts/1.a/groups", "/parts/1.a/accept"):
        hidden, named = _text(_kim(tmp_path).sees(path)), _text(_kim(tmp_path, names=True).sees(path))
        assert "answer 1" in hidden
        assert not {"ann", "Able"} & set(re.findall(r"\w+", hidden))
        assert {"ann", "Able"} & set(re.findall(r"\w+", named))


def test_an_answer_is_decided_and_the_next_one_comes(tmp_path: Path) -> None:
    essays(tmp_path, 2)
    kim = _kim(tmp_path)
    page = kim.sees("/parts/1.a")
    (place,) = re.findall(r'action="(/parts/1.a/answers/\w+)/decide"', page)
    (version,) = re.findall(r'name="version" value="([^"]*)"', page)
    status, page = kim.sends(f"{place}/decide", ("version", version), ("action", "decide"))
    assert (status, "nothing is chosen" in page) == (409, True)
    assert _decisions(tmp_path, "1.a") == {}
    status, page = kim.sends(f"{place}/decide", ("version", version), ("action", "decide"), ("points", "1,5"))
    assert status == 200
    assert "One answer decided: 1.5 of 3. Undo takes it back." in _text(page)
    assert re.findall(r'action="(/parts/1.a/answers/\w+)/decide"', page) not in ([], [place]), "the other one"
    assert list(_decisions(tmp_path, "1.a").values()) == [Fraction(3, 2)]
    _, page = kim.sends("/undo")
    assert _decisions(tmp_path, "1.a") == {}
    assert f'action="{place}/decide"' in page, "back to what is open again"
    _, page = kim.sends("/undo")
    assert "There is nothing left that you could undo." in _text(page)


def test_where_nothing_is_open_that_is_said(tmp_path: Path) -> None:
    keep(Gradebook(tmp_path, new=True), result("ann", prose("positive, sum to one"), code("b")))
    kim = _kim(tmp_path)
    assert "Nothing of this part is open for you." in _text(kim.sees("/parts/2"))
    page = kim.sees(f"/parts/1.a/next?after={key_of('ann')}")
    assert "No other answer to this part is open for you." in _text(page)


def test_items_are_added_and_changed_within_what_a_part_is_worth(tmp_path: Path) -> None:
    essays(tmp_path, 1)
    kim = _kim(tmp_path)
    for fields, said in (
        ((("text", " "), ("points", "1")), "an item needs words and points"),
        ((("text", "a proof"), ("points", "")), "an item needs words and points"),
        ((("text", "a proof"), ("points", "-3.5")), "1.a is worth 3 points, so no item can be"),
        ((("text", "a proof"), ("points", "1e0")), "'1e0' is no number of points"),
    ):
        status, page = kim.sends("/parts/1.a/items", *fields)
        assert (status, said in _text(page)) == (409, True)
    status, page = kim.sends("/parts/1.a/items", ("text", " a <proof> "), ("points", "-3"))
    assert status == 200
    assert "The item is there." in _text(page)
    assert 'value="a &lt;proof&gt;"' in page
    (item,) = re.findall(r'name="item" value="([^"]+)">\s*<label>Words of item 3', page)
    _, page = kim.sends("/parts/1.a/items", ("item", item), ("text", "a proof"), ("points", "1"))
    assert "Changed for 0 answers that have it." in _text(page)
    assert 'value="a proof"' in page


def test_what_was_found_is_accepted_for_all_once_the_drawn_ones_were_read(tmp_path: Path) -> None:
    keywords = "positive, sum to one, softmax, exponential, normalised, denominator, probability"
    keep(essays(tmp_path, 12), result("bob", prose("positive, sum to one")), result("cy", prose(keywords)))
    kim = _kim(tmp_path)
    page = kim.sees("/parts/1.a/accept")
    assert _text(page).count("1 answer has every idea and must be read by itself") == 2
    assert "fewer than 8 words" in _text(page)
    assert "a list of keywords" in _text(page)
    drawn = re.findall(r'name="seen" value="(\w+)"', page)
    assert len(set(drawn)) == 10
    card = _cards(page)[0]
    assert "3 of 3" in card
    assert "and they sum to one , says" in card
    assert " found " in card, "what the check said that left it to a person"
    status, page = kim.sends("/parts/1.a/accept", *(("seen", key) for key in drawn[1:]))
    assert (status, _decisions(tmp_path, "1.a")) == (409, {})
    status, page = kim.sends("/parts/1.a/accept", *(("seen", key) for key in drawn))
    assert "12 answers accepted as found, 36 points in all. Undo takes it back." in _text(page)
    assert set(_decisions(tmp_path, "1.a").values()) == {Fraction(3)}
    _, page = kim.sends("/undo")
    assert "of 12 answers to 1.a." in _text(page)
    assert _decisions(tmp_path, "1.a") == {}


def test_groups_are_joined_two_at_least(tmp_path: Path) -> None:
    keep(
        Gradebook(tmp_path, new=True),
        *(result(f"s{number}", formula(f"x_{number}", "", "review")) for number in range(3)),
    )
    kim = _kim(tmp_path)
    groups = re.findall(r'name="group" value="([^"]+)"', kim.sees("/parts/1.b/groups"))
    assert len(groups) == 3
    assert kim.sends("/parts/1.b/groups", ("group", groups[0]))[0] == 409
    _, page = kim.sends("/parts/1.b/groups", *(("group", one) for one in groups[:2]))
    assert "2 groups are one now." in _text(page)
    assert len(_cards(page)) == 2


def test_a_request_is_listed_until_it_is_answered(tmp_path: Path) -> None:
    book = essays(tmp_path, 1)
    book.requests.add([("s0", "1.a", "please look again")])
    kim = _kim(tmp_path)
    page = kim.sees("/requests")
    assert "please look again" in page
    (number,) = re.findall(r'action="/requests/(\d+)"', page)
    assert kim.sends(f"/requests/{number}", ("reply", " "))[0] == 409
    _, page = kim.sends(f"/requests/{number}", ("reply", "You are right."), ("points", "0.5"))
    assert "The request is answered." in _text(page)
    assert "please look again" not in page
    assert "please look again" in kim.sees("/requests?all=1")
    assert _decisions(tmp_path, "1.a") == {"s0": Fraction(1, 2)}


def _of_a_pdf(student: str) -> Result:
    told = prose("positive, sum to one")
    told["judged"]["pieces"][0] |= {"file": "answers.pdf", "page": 1}
    return result(student, told)


def test_pages_are_shown_of_whoever_handed_in_a_file_that_is_still_there(tmp_path: Path) -> None:
    keep(Gradebook(tmp_path / "grades", new=True), _of_a_pdf("pat"), _of_a_pdf("gone"))
    (tmp_path / "in" / "pat").mkdir(parents=True)
    (tmp_path / "in" / "pat" / "answers.pdf").write_bytes(PDF)
    kim = _kim(tmp_path / "grades", tmp_path / "in")
    there, gone = (kim.sees(f"/parts/1.a/answers/{key_of(student)}") for student in ("pat", "gone"))
    assert "<img" in there
    assert "any more" not in there
    assert "<img" not in gone
    assert "The hand-in does not lie among the submissions any more." in _text(gone)
    unknown = _kim(tmp_path / "grades").sees(f"/parts/1.a/answers/{key_of('pat')}")
    assert "Nobody knows where the hand-ins lie" in _text(unknown)


@pytest.mark.slow
def test_a_page_is_drawn_once(tmp_path: Path) -> None:
    (tmp_path / "pat").mkdir()
    (tmp_path / "pat" / "answers.pdf").write_bytes(PDF)
    files = HandedInFiles(tmp_path)
    first = files.picture("pat", "answers.pdf", 1, [(0, 0, 100, 100)], whole=True)
    (tmp_path / "pat" / "answers.pdf").unlink()
    assert files.picture("pat", "answers.pdf", 1, [(0, 0, 100, 100)], whole=True) == first
    files.close()


def test_what_differs_between_two_reviewers_is_settled(tmp_path: Path) -> None:
    book = essays(tmp_path, 1)
    ref = Ref("s0", "1.a")
    for who, points in (("Lee", 1), ("Kim", 3)):
        desk = Desk(book, who, double=Fraction(1))
        desk.decide([ref], points=Fraction(points), versions={ref: desk.view(ref).version})
    kim = _kim(tmp_path, double=Fraction(1))
    page = _text(kim.sees("/agreement"))
    assert "and they sum to one , says 0 Lee: 1 of 3 Kim: 3 of 3" in page
    assert kim.sends(f"/parts/1.a/answers/{key_of('s0')}/settle", ("points", ""))[0] == 409
    _, page = kim.sends(f"/parts/1.a/answers/{key_of('s0')}/settle", ("points", "2"), ("comment", " so be it "))
    assert "Settled: 2 of 3." in _text(page)
    assert _decisions(tmp_path, "1.a") == {"s0": Fraction(2)}


def test_what_is_not_there_is_one_line(tmp_path: Path) -> None:
    essays(tmp_path, 1)
    kim = _kim(tmp_path)
    for path, said in (
        ("/parts/9", "There is no part '9' that anybody has to decide."),
        ("/parts/1.a/answers/0000000000000000", "There is no such answer."),
        (f"/parts/1.a/answers/{key_of('s0')}/pages/0/1.png", "There is no such page."),
        (f"/parts/1.a/answers/{key_of('s0')}/pages/1/1.png", "There is no such page."),
    ):
        status, page = kim.gets(path)
        assert (status, said in _text(page)) == (404, True)
