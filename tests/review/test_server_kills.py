"""The server is killed in the middle of decisions: what was confirmed is there, nothing is half written, and the next
start goes on."""

from __future__ import annotations

import http.client
import os
import random
import threading
import time
from pathlib import Path

import pytest

from grader.batch.gradebook import Gradebook
from tests.conftest import EVERY_CASE
from tests.review.serving import Client, hidden, place_of, served

pytestmark = [pytest.mark.slow, pytest.mark.long]
KILLS = int(os.environ.get("KILLS", "20" if EVERY_CASE else "8"))
PARTS = ("1.a.i", "1.a.ii", "1.a.iii", "1.a.iv", "1.b.i", "1.b.ii")


def _decide_until_it_ends(address: str, chance: random.Random, sent: dict[str, int], confirmed: list[str]) -> None:
    """Decides single answers and small groups, and notes which pages said that it was done."""
    client = Client(address)
    word = ("form_token", client.form_token())
    try:
        while True:
            _, page = client.get(f"/parts/{chance.choice(PARTS)}")
            own = hidden(page)
            members = [one for one in own if one[0] == "member"]
            whole = [("whole_group", "yes"), *members[:5]] if members and chance.random() < 0.5 else []
            mark = f"decision {chance.getrandbits(64)}"
            fields = [word, own[0], *whole, ("action", chance.choice(("full", "none"))), ("comment", mark)]
            sent[mark] = 1 + _others(whole, place_of(page))
            if client.post(f"{place_of(page)}/decide", fields)[0] == 303:
                confirmed.append(mark)
    except (OSError, http.client.HTTPException):
        return  # killed


def _others(fields: list[tuple[str, str]], place: str) -> int:
    """How many members a form names beside the answer it stands with."""
    own = place.rpartition("/")[2]
    return sum(name == "member" and not value.startswith(own) for name, value in fields)


def test_nothing_confirmed_is_lost(grades: Path) -> None:
    chance = random.Random(17)
    sent: dict[str, int] = {}
    confirmed: list[str] = []
    for _ in range(KILLS):
        with served(grades, "--by", "Kim") as server:
            arguments = (server.address, random.Random(chance.random()), sent, confirmed)
            reviewer = threading.Thread(target=_decide_until_it_ends, args=arguments)
            reviewer.start()
            enough = len(confirmed) + chance.randint(1, 3)
            while len(confirmed) < enough and reviewer.is_alive():
                time.sleep(0.001)
            time.sleep(chance.uniform(0, 0.1))  # somewhere in the next one: a page, a decision, or between them
            server.process.kill()
            reviewer.join()
    with Gradebook(grades) as gradebook:
        assert gradebook.file.base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        query = "SELECT d.comment, COUNT(*) FROM acts a LEFT JOIN decisions d ON d.act = a.id GROUP BY a.id"
        rows = gradebook.file.base.execute(query).fetchall()
    assert all(comment is not None for comment, _ in rows), "an act stands without its decisions"
    sizes = {mark: size for mark, size in sent.items() if mark in dict(rows)}
    assert dict(rows) == sizes, "of a group some are missing"
    kept = {comment for comment, _ in rows}
    assert len(kept) == len(rows)  # none was written twice
    assert set(confirmed) <= kept
    assert len(confirmed) >= KILLS
    assert len(kept) <= len(confirmed) + KILLS  # at most the one that was under way
    with served(grades, "--by", "Kim") as server:
        client = Client(server.address)
        for part in PARTS:
            status, page = client.get(f"/parts/{part}")
            assert status == 200
            assert "decide" in page
