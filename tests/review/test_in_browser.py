"""Reviewers at work in a real browser, on a class of 300."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Browser, Page, expect

from grader.batch.gradebook import Gradebook, Result, Run
from grader.batch.rulings import PartState
from tests.report.looks import fits, no_serious_finding, part_ids_are_whole
from tests.report.test_browser import BROWSER, asked
from tests.review.sample_class import with_answer
from tests.review.serving import Server, served
from tests.waiting import PATIENCE_SECONDS

__all__ = ["asked"]  # a fixture
pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here; .ci/run installs it"),
]


def entered(browser: Browser, server: Server, who: str = "Kim", *, width: int = 1400, script: bool = True) -> Page:
    """A reviewer's own browser, past the door."""
    context = browser.new_context(viewport={"width": width, "height": 900}, java_script_enabled=script)
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE_SECONDS)
    page.goto(server.addresses[who])
    page.wait_for_url(f"{server.base}/")
    return page


def place_of_link(page: Page, server: Server, name: str) -> str:
    """Where a link leads, below the server's address."""
    link = page.get_by_role("link", name=name, exact=True).get_attribute("href")
    return urljoin(server.base, link).removeprefix(server.base)


def press(page: Page, *keys: str) -> None:
    """After the moment in which keys are not heeded, so that none decides twice."""
    for key in keys:
        page.wait_for_selector("html[data-ready]")
        page.keyboard.press(key)


def decide(page: Page, *keys: str) -> None:
    """Keys, the last of which leads to another page."""
    before = page.url
    press(page, *keys)
    page.wait_for_url(lambda address: address != before)


def decided(grades: Path, part: str) -> list[PartState]:
    with Gradebook(grades) as gradebook:
        return [one for one in gradebook.decisions.states(part=part) if one.standing.decision is not None]


def points(grades: Path, part: str) -> list[Fraction | None]:
    return [one.standing.decision.points for one in decided(grades, part) if one.standing.decision]


def test_by_keys_alone(browser: Browser, grades: Path) -> None:
    with served(grades, "--by", "Kim") as server:
        page = entered(browser, server)
        page.keyboard.press("Tab")  # the way past the menu, then the menu
        expect(page.locator(":focus")).to_have_text("Skip to the answer")
        page.get_by_role("link", name="1.b.ii").first.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("1.b.ii")
        first = page.url
        decide(page, "j")
        decide(page, "k")
        assert page.url == first
        decide(page, "a")
        assert points(grades, "1.b.ii") == [Fraction(4)]
        decide(page, "0")
        decide(page, "f")
        assert sorted(map(str, points(grades, "1.b.ii"))) == ["0", "4", "4"]
        press(page, "c")
        page.keyboard.type("well said, a 0 f 1")  # keys are letters here
        page.keyboard.press("Escape")
        total = page.locator("#total")
        before = total.text_content()
        press(page, "1")
        expect(total).not_to_have_text(before or "")
        decide(page, "Enter")
        said = [one.standing.decision for one in decided(grades, "1.b.ii") if one.standing.decision]
        assert [one.comment for one in said if one.comment] == ["well said, a 0 f 1"]
        assert len([one for one in said if one.items]) >= 1
        expect(page.locator(".said")).to_contain_text("One answer decided")
        decide(page, "u")
        assert len(decided(grades, "1.b.ii")) == 3
        press(page, "?")
        expect(page.get_by_role("heading", level=1)).to_have_text("Keys")
        no_serious_finding(page)


def test_a_group_is_decided_at_once_and_undone_as_a_whole(browser: Browser, grades: Path) -> None:
    with served(grades, "--by", "Kim") as server:
        page = entered(browser, server)
        page.goto(f"{server.base}/parts/1.b.i")
        size = page.locator('input[name="member"]').count()
        assert size > 20
        decide(page, "g", "f")
        expect(page.locator(".said")).to_contain_text(f"{size} answers decided: 3 of 3")
        assert points(grades, "1.b.i") == [Fraction(3)] * size
        press(page, "u")
        expect(page.locator(".said")).to_contain_text(f"{size} answers")
        assert decided(grades, "1.b.i") == []
        page.goto(f"{server.base}/parts/1.b.i")
        page.get_by_role("button", name="Take this answer out").click()
        expect(page.locator(".said")).to_contain_text("stands alone")
        assert page.locator('input[name="member"]').count() == 0
        page.goto(f"{server.base}/parts/1.b.i/groups")
        groups = page.locator("section.card")
        before = groups.count()
        for place in (0, before - 1):
            groups.nth(place).get_by_role("checkbox").check()
        page.get_by_role("button", name="Join").click()
        expect(page.locator(".said")).to_contain_text("2 groups are one")
        assert groups.count() == before - 1


def test_an_item_changes_for_everybody_who_has_it(browser: Browser, grades: Path) -> None:
    with served(grades, "--by", "Kim") as server:
        page = entered(browser, server)
        page.goto(f"{server.base}/parts/1.b.i/items")
        new = page.locator("form.card").last
        new.get_by_label("Words").fill("a proof <that> stands")
        new.get_by_label("Points").fill("1,5")
        new.get_by_role("button").click()
        expect(page.locator(".said")).to_contain_text("The item is there")
        page.goto(f"{server.base}/parts/1.b.i")
        while (ticked := page.locator('input[name="item"]:checked')).count():
            ticked.first.uncheck()
        page.get_by_label("a proof <that> stands").check()
        size = page.locator('input[name="member"]').count()
        decide(page, "g", "Enter")
        assert points(grades, "1.b.i") == [Fraction(3, 2)] * size
        page.goto(f"{server.base}/parts/1.b.i/items")
        own = page.locator("form.card", has=page.locator('input[value="a proof <that> stands"]'))
        own.get_by_label("Points").fill("0.5")
        own.get_by_role("button").click()
        expect(page.locator(".said")).to_contain_text(f"Changed for {size} answers")
        assert points(grades, "1.b.i") == [Fraction(1, 2)] * size
        press(page, "u")
        expect(page.locator(".said")).to_contain_text("Undone")
        assert points(grades, "1.b.i") == [Fraction(3, 2)] * size


def test_many_are_accepted_after_a_drawn_sample_was_read(browser: Browser, grades: Path) -> None:
    with served(grades, "--by", "Kim") as server:
        page = entered(browser, server)
        page.goto(f"{server.base}/parts/1.a.i/accept")
        seen = page.locator('input[name="seen"]')
        expect(seen).to_have_count(10)
        no_serious_finding(page)
        seen.first.check()
        accept = page.get_by_role("button", name="Accept all")
        accept.click()
        expect(page.get_by_role("alert")).to_contain_text("look at the drawn sample first")
        assert decided(grades, "1.a.i") == []
        page.goto(f"{server.base}/parts/1.a.i/accept")
        for box in seen.all():
            box.check()
        accept.click()
        expect(page.locator(".said")).to_contain_text("answers accepted as found")
        assert len(decided(grades, "1.a.i")) > 200


def test_two_at_once_get_different_answers_and_differences_are_settled(browser: Browser, grades: Path) -> None:
    tokens = grades / "reviewers.txt"
    tokens.write_text(f"Kim: {'k' * 32}\nLee: {'l' * 32}\n")
    tokens.chmod(0o600)
    with served(grades, "--reviewers", tokens, "--double", "100%") as server:
        kim, lee = entered(browser, server), entered(browser, server, "Lee")
        for page in (kim, lee):
            page.goto(f"{server.base}/parts/1.a.ii")
        assert kim.url != lee.url
        lee.goto(kim.url)
        expect(lee.get_by_role("alert")).to_contain_text("Kim looks at this answer")
        lee.get_by_label("Comment").fill("my own view")
        lee.get_by_role("button", name="None").click()
        expect(lee.get_by_role("alert").first).to_contain_text("Kim looks at")
        expect(lee.get_by_label("Comment")).to_have_value("my own view")  # nothing typed is lost
        assert decided(grades, "1.a.ii") == []
        place = kim.url
        decide(kim, "f")
        kim.goto(f"{server.base}/parts/1.a.iii")
        lee.goto(place)
        expect(lee.locator(".history")).to_have_count(0)  # the second of two sees nothing of the first
        decide(lee, "0")
        lee.goto(f"{server.base}/agreement")
        expect(lee.get_by_role("row", name=re.compile("1.a.ii"))).to_contain_text("1")
        no_serious_finding(lee)
        lee.get_by_label("Points").fill("1")
        lee.get_by_role("button", name="Settle").click()
        expect(lee.locator(".said")).to_contain_text("Settled")
        assert points(grades, "1.a.ii") == [Fraction(1)]


def test_a_request_is_answered_beside_the_first_decision(browser: Browser, grades: Path) -> None:
    with Gradebook(grades) as gradebook:
        gradebook.requests.add([("alice", "1.a.i", "please <look>\nagain")])
    with served(grades, "--by", "Kim", "--names") as server:
        page = entered(browser, server)
        page.get_by_role("link", name="Regrade requests (1)").click()
        expect(page.get_by_role("heading", level=2).filter(has_text="alice")).to_be_visible()
        no_serious_finding(page)
        page.get_by_role("link", name="alice").click()
        expect(page.get_by_text("please <look>")).to_be_visible()
        page.get_by_role("link", name="Answer the request").click()
        page.get_by_label("New points").fill("9")
        page.get_by_label("Reply").fill("You are right.")
        page.get_by_role("button", name="Answer").click()
        expect(page.get_by_role("alert")).to_contain_text("1.a.i is worth 0 to 1 points")
        expect(page.get_by_label("reply")).to_have_value("You are right.")
        page.goto(f"{server.base}/requests")
        page.get_by_label("New points").fill("0.5")
        page.get_by_label("Reply").fill("You are right.")
        page.get_by_role("button", name="Answer").click()
        expect(page.locator(".said")).to_contain_text("answered")
        assert points(grades, "1.a.i") == [Fraction(1, 2)]


def test_without_javascript_one_reads_and_decides(browser: Browser, grades: Path) -> None:
    with served(grades, "--by", "Kim") as server:
        page = entered(browser, server, script=False)
        page.get_by_role("link", name="1.b.i").first.click()
        expect(page.locator("math").first).to_be_visible()
        page.locator('input[name="item"]').first.check()
        page.get_by_label("Comment").fill("no script here")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".said")).to_contain_text("One answer decided")
        page.get_by_label("decide for all").check()
        page.get_by_role("button", name="Accept").click()
        expect(page.locator(".said")).to_contain_text("answers decided")
        page.get_by_label("Other points").fill("two")
        page.get_by_label("Comment").fill("kept")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("alert")).to_contain_text("'two' is no number of points")
        expect(page.get_by_label("Comment")).to_have_value("kept")
        page.get_by_role("button", name="Undo").click()
        assert len(decided(grades, "1.b.i")) == 1


def test_every_view_fits_and_is_accessible(
    browser: Browser, class_of_300: Path, samples: tuple[list[Result], Path]
) -> None:
    """On a desk and on a phone, which has the same page in another width."""
    desk, phone = ({"width": width, "height": 900} for width in (1400, 390))
    views = ["/", "/parts/1.b.i", "/parts/1.b.i/groups", "/parts/1.b.i/items", "/parts/1.b.i/accept"]
    with served(class_of_300, "--by", "Kim", "--names", "--submissions", samples[1]) as server:
        page = entered(browser, server)
        page.goto(f"{server.base}/parts/2.e/groups")
        code = place_of_link(page, server, "alice")
        page.goto(f"{server.base}/parts/1.b.i/groups")
        pdf = place_of_link(page, server, "pat")
        for view in [*views, code, pdf, "/agreement", "/requests?all=1", "/help", "/parts/9", "/nowhere"]:
            page.set_viewport_size(phone)
            page.goto(f"{server.base}{view}")
            for size in (phone, desk):
                page.set_viewport_size(size)
                fits(page, f"review-{view}".replace("/", "-"))
                part_ids_are_whole(page, view, at_least=view != "/nowhere")
                if view == pdf or (view != "/nowhere" and size is desk):
                    no_serious_finding(page)
        page.goto(f"{server.base}{pdf}")
        page.set_viewport_size({**desk, "height": 500})  # whatever it decides by, the last button is in sight
        expect(page.get_by_role("button", name="Full")).to_be_in_viewport(ratio=1)
        drawn = page.locator("figure.page img")
        drawn.scroll_into_view_if_needed()
        assert drawn.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1000
        for size in (phone, desk):
            page.set_viewport_size(size)
            page.emulate_media(color_scheme="dark")
            no_serious_finding(page)


def _attack(address: str) -> str:
    run = f"document.documentElement.dataset.owned=1;fetch('{address}/owned')"
    return "\n".join(
        (
            f'</pre></textarea></div><script>{run}</script><img src=x onerror="{run}">',
            f'<svg onload="{run}"><style>body{{display:none}}</style></svg>',
            f"<iframe srcdoc='<script>{run}</script>'></iframe>",
            f"<math><maction actiontype='statusline' xlink:href='javascript:{run}'>x</maction></math>",
            f"$\\text{{<img src=x onerror={run}>}}$ $\\href{{javascript:{run}}}{{x}}$",
            f"$\\style{{background:url({address}/bg)}}{{x}}$",
            "$\\def\\a{\\a\\a}\\a$ $" + "{" * 400 + "$ $\\begin{matrix}" * 50 + "`</code><script>1</script>`",
            f"<form action='/undo' method=post><button>now</button></form> \u202e<a href='{address}'>x</a>",
        )
    )


def test_hostile_answers_do_nothing(
    browser: Browser, grades: Path, samples: tuple[list[Result], Path], asked: tuple[str, list[str]]
) -> None:
    address, requests = asked  # it takes note of who asks
    attack = _attack(address)
    with Gradebook(grades) as gradebook:
        run = gradebook.begin_run(Run("nlp-a5.yaml", None, 0, (), ""), "nlp-a5", "1")
        gradebook.add(run, with_answer(samples[0][0], "<script>alert(1)</script>", attack, attack))
        gradebook.add(run, with_answer(samples[0][0], "long", "x" * 5_000_000, "m" * 5_000_000))
        gradebook.requests.add([("<script>alert(1)</script>", "1.a.i", attack)])
    with served(grades, "--by", "<img src=x onerror=alert(1)>", "--names") as server:
        page = entered(browser, server, "<img src=x onerror=alert(1)>")
        foreign: list[str] = []
        page.on("request", lambda one: foreign.append(one.url) if not one.url.startswith(server.base) else None)
        page.on("dialog", lambda dialog: foreign.append(dialog.message))
        page.goto(f"{server.base}/requests")
        expect(page.locator(".written").first).to_contain_text("</textarea></div><script>")
        link = place_of_link(page, server, "<script>alert(1)</script>")
        for view in (link, "/parts/1.a.i/groups", "/parts/1.a.i/accept", "/"):
            page.goto(f"{server.base}{view}")
            page.wait_for_selector("html[data-ready]")
            assert page.evaluate("document.documentElement.dataset.owned") is None
            assert page.locator("main script, main iframe, main svg style, main img[onerror]").count() == 0
        page.goto(f"{server.base}{link}")
        page.get_by_label("Comment").fill(attack[:900])
        page.get_by_role("button", name="Full").click()
        expect(page.locator(".said")).to_contain_text("One answer decided")
        page.goto(f"{server.base}{link}")
        expect(page.get_by_label("Comment")).to_have_value(re.compile("</pre></textarea>"))
        assert page.evaluate("document.documentElement.dataset.owned") is None
        assert foreign == []
        assert requests == []


def test_another_sites_page_cannot_decide(browser: Browser, grades: Path) -> None:
    """A page that the reviewer happens to open, in the browser that holds the cookie."""
    with served(grades, "--by", "Kim") as server:
        page = entered(browser, server)
        page.goto(f"{server.base}/parts/1.a.i")
        place = page.url
        word = page.locator('input[name="form_token"]').first.input_value()
        other = page.context.new_page()
        other.route("http://evil.example/**", lambda route: route.fulfill(body="<p>hello", content_type="text/html"))
        other.goto("http://evil.example/")
        other.evaluate(
            """([place, word]) => {
                const form = document.createElement("form");
                form.method = "post"; form.action = place + "/decide";
                for (const [name, value] of [["action", "full"], ["form_token", word]]) {
                    const field = document.createElement("input");
                    field.name = name; field.value = value; form.append(field);
                }
                document.body.append(form); form.submit();
            }""",
            [place, word],
        )
        other.wait_for_url(f"{place}/decide")
        assert "token" in (other.text_content("body") or "")  # it came without the cookie, so nothing is shown
        framed = other.context.new_page()
        framed.route(
            "http://evil.example/**",
            lambda route: route.fulfill(body=f"<iframe src={place}>", content_type="text/html"),
        )
        framed.goto("http://evil.example/")
        assert framed.frames[1].locator("form").count() == 0
        assert decided(grades, "1.a.i") == []
