"""What every page has to look like, whoever made it: measured in the browser that shows it."""

from __future__ import annotations

import os
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# Where a person, or CI, wants to keep what was seen.
KEPT = os.environ.get("SCREENSHOTS")

# Words of up to twenty letters in cells that stand in two lines; longer ones may have to be broken.
_BROKEN_WORDS = """() => {
  const broken = [];
  for (const cell of document.querySelectorAll("th, td")) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      for (const word of text.data.matchAll(/[^\\s\\-–—/]{2,20}(?=[\\s\\-–—/]|$)/g)) {
        if (word.index && !/[\\s\\-–—/]/.test(text.data[word.index - 1])) continue;
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        const tops = new Set([...range.getClientRects()].map((one) => Math.round(one.top)));
        if (tops.size > 1) broken.push(word[0]);
      }
    }
  }
  return broken;
}"""
# Boxes that hide what does not fit into them, and words of figures that stick out of their figure.
_CUT_OFF = """() => {
  const cut = [];
  for (const one of document.querySelectorAll("body *")) {
    if (one.closest(".unseen, svg, math, input, textarea") || !one.getClientRects().length) continue;
    const style = getComputedStyle(one);
    if (style.clipPath !== "none") continue;  // for whoever hears the page
    const hides = (way) => ["hidden", "clip"].includes(way);
    if ((hides(style.overflowX) && one.scrollWidth > one.clientWidth + 1) ||
        (hides(style.overflowY) && one.scrollHeight > one.clientHeight + 1)) cut.push(one.outerHTML.slice(0, 80));
  }
  for (const words of document.querySelectorAll("svg text")) {
    const box = words.getBoundingClientRect(), whole = words.ownerSVGElement.getBoundingClientRect();
    if (!whole.width) continue;
    const inside = box.left > whole.left - 1 && box.right < whole.right + 1 &&
      box.top > whole.top - 1 && box.bottom < whole.bottom + 1;
    if (!inside) cut.push(words.textContent);
  }
  return cut;
}"""

# Ids of parts (1.a.ii) that stand on two lines, or that a box or the screen hides in part; and how many there are.
_BROKEN_IDS = """() => {
  const broken = [];
  let count = 0;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    for (const id of text.data.matchAll(/(?<![\\w.])\\d+(\\.[a-z]+)+(?![\\w.])/g)) {
      const range = document.createRange();
      range.setStart(text, id.index);
      range.setEnd(text, id.index + id[0].length);
      const lines = [...range.getClientRects()];
      const boxes = [];
      for (let one = text.parentElement; one; one = one.parentElement) boxes.push(one);
      if (!lines.length || boxes.some((one) => getComputedStyle(one).clipPath !== "none")) continue;
      count += 1;
      const hidden = boxes.some((one) => {
        const box = one.getBoundingClientRect();
        return getComputedStyle(one).overflowX !== "visible" &&
          lines.some((line) => line.left < box.left - 1 || line.right > box.right + 1);
      });
      if (new Set(lines.map((line) => Math.round(line.top))).size > 1 || hidden ||
        lines.some((line) => line.left < 0 || line.right > innerWidth)) broken.push(id[0]);
    }
  }
  return [count, broken];
}"""


def needs_no_sideways_scroll(page: Page, name: str) -> None:
    """Kept as a picture where that is asked for."""
    width = page.viewport_size["width"] if page.viewport_size else 0
    if KEPT:
        page.screenshot(path=Path(KEPT) / f"{name}-{width}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def fits(page: Page, name: str) -> None:
    """No sideways scroll, no text cut off, no word of a table broken."""
    needs_no_sideways_scroll(page, name)
    assert page.evaluate(_BROKEN_WORDS) == [], name
    assert page.evaluate(_CUT_OFF) == [], name


def part_ids_are_whole(page: Page, name: str, at_least: int = 1) -> None:
    """1.a.ii that is broken reads as 1.a.i."""
    count, broken = page.evaluate(_BROKEN_IDS)
    assert (count >= at_least, broken) == (True, []), name


def no_serious_finding(page: Page) -> None:
    """By axe."""
    found = Axe().run(page).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert not serious, [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in serious]
