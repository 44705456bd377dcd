"""Figures of evidence as inline SVG, drawn by hand and not by a plotting library.

The page must stand alone, follow the reader's light or dark theme and stay small. A few rectangles and lines do that:
they take their colours from the page's CSS variables by class, need no font, file or script, and cost microseconds.
Every figure says in words (`aria-label`) what it shows, and nothing in it is told by colour alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import log, sqrt

from markupsafe import Markup

from grader.quoting import quote
from grader.report.figures import Accuracy, HeatMap, Lines, Samples
from grader.report.svg import WIDTH, digits, element, image, words_at

_Matrix = Sequence[Sequence[float | None]]
DEEPEST = 0.5  # opacity of the strongest cell: numbers on it stay readable in both themes
_LABEL = 78  # room for names at the end of lines
_GOLDEN = 0.618034  # its multiples, modulo 1, spread dots evenly and always the same way


def drawn(figure: HeatMap | Lines | Samples | Accuracy) -> Markup:
    """The figure with its caption."""
    match figure:
        case HeatMap():
            panels = _heat_maps(figure)
        case Lines():
            panels = [_lines(figure) if len(figure.at) > 1 else _bars(figure)]
        case Samples():
            panels = [_samples(figure)]
        case Accuracy():
            panels = [_accuracy(figure)]
    caption = Markup("<figcaption>{}</figcaption>").format(quote(figure.title)) if figure.title else Markup("")
    return Markup('<figure>{}<div class="panels">{}</div></figure>').format(caption, Markup("").join(panels))


def _heat_maps(figure: HeatMap) -> list[Markup]:
    student, reference = figure.student, figure.reference
    if reference is None:
        return [_heat_map("Yours", student, _largest(student), figure)]
    scale = max(_largest(student), _largest(reference))
    panels = [_heat_map("Yours", student, scale, figure), _heat_map("Reference", reference, scale, figure)]
    if [len(row) for row in student] == [len(row) for row in reference]:
        difference = [
            [None if a is None or b is None else a - b for a, b in zip(*rows, strict=True)]
            for rows in zip(student, reference, strict=True)
        ]
        panels.append(_heat_map("Yours − reference", difference, _largest(difference), figure))
    return panels


def _largest(matrix: _Matrix) -> float:
    return max((abs(value) for row in matrix for value in row if value is not None), default=0.0)


def _heat_map(name: str, matrix: _Matrix, scale: float, figure: HeatMap) -> Markup:
    rows, columns = len(matrix), len(matrix[0])
    roomy = columns <= 6
    side, tall, left, top = (52, 24, 34, 34) if roomy else (22, 22, 34, 34)
    parts = [
        words_at(left, 12, name, "start", "strong"),
        *(words_at(left + (j + 0.5) * side, top - 4, str(j), "middle") for j in range(columns)),
        *(words_at(left - 6, top + (i + 0.5) * tall + 4, str(i), "end") for i in range(rows)),
        words_at(left + columns * side / 2, top + rows * tall + 14, quote(figure.columns, 30), "middle"),
        words_at(0, 0, quote(figure.rows, 30), "middle", at=f"translate(10 {top + rows * tall / 2:.5g}) rotate(-90)"),
    ]
    shades: dict[tuple[str, float], str] = defaultdict(str)  # a path for each shade: a third of the size
    signs = ""
    for i, row in enumerate(matrix):
        for j, value in enumerate(row):
            x, y = left + j * side, top + i * tall
            depth = DEEPEST * abs(value) / scale if value is not None and scale else 0
            below = value is not None and value < 0
            shades["two" if below else "one", round(depth, 2)] += f"M{x} {y}h{side - 1}v{tall - 1}h{1 - side}z"
            if roomy or value is None:
                said = "NaN" if value is None else digits(value)
                parts.append(words_at(x + side / 2, y + tall / 2 + 4, said, "middle", "value"))
            elif below and depth > 0.02:
                # Without room for numbers a minus sign still tells below zero from above, whatever the colours.
                signs += f"M{x + 7} {y + 10}h7"
    cells = [
        element('<path class="cell {}" fill-opacity="{}" d="{}"/>', look, depth, squares)
        for (look, depth), squares in shades.items()
    ]
    if signs:
        parts.append(Markup('<path class="minus" d="{}"/>').format(signs))
    listed = "; ".join(
        f"{figure.rows} {i}: {', '.join('NaN' if value is None else digits(value) for value in row)}"
        for i, row in enumerate(matrix)
    )
    size = f"{rows} {figure.rows}s by {columns} {figure.columns}s, up to {digits(scale)} from zero"
    label = f"{name}, {size}. {listed}" if rows * columns <= 36 else f"{name}, {size}"
    width = max(left + columns * side, left + 7 * len(name))
    return image(width, top + rows * tall + 18, quote(label, 600), [*cells, *parts])


def _lines(figure: Lines) -> Markup:
    left, right, top, bottom = 42, WIDTH - _LABEL, 26, 160
    ceiling = figure.top or max(max(values) for values in figure.series.values()) or 1.0
    spread_out = min(figure.at) > 0 and max(figure.at) / min(figure.at) >= 8  # such places crowd on an even axis
    places = [log(at) for at in figure.at] if spread_out else figure.at
    low, wide = min(places), (max(places) - min(places)) or 1.0
    across = [left + (right - left) * (place - low) / wide for place in places]

    def up(value: float) -> float:
        return bottom - (bottom - top) * min(max(value / ceiling, 0.0), 1.0)

    parts = [words_at(2, 11, quote(figure.y, 40), "start")]
    for part in (0, 0.5, 1):
        parts.append(element('<path class="grid" d="M{} {}H{}"/>', left, up(part * ceiling), right))
        parts.append(words_at(left - 5, up(part * ceiling) + 4, digits(part * ceiling), "end"))
    for x, at in zip(across, figure.at, strict=True):
        parts.append(words_at(x, bottom + 15, digits(at), "middle"))
    parts.append(words_at((left + right) / 2, bottom + 31, quote(figure.x, 40), "middle"))
    labels: list[tuple[float, str]] = []
    for number, (names, values) in enumerate(_alike(figure.series)):
        look = ("one", "two", "three")[number % 3]
        corners = [f"{x:.5g} {up(value):.5g}" for x, value in zip(across, values, strict=True)]
        parts.append(Markup('<path class="line {}" d="M{}"/>').format(look, "L".join(corners)))
        parts.append(Markup('<path class="dots {}" d="{}"/>').format(look, "".join(f"M{c}h0" for c in corners)))
        labels.append((up(values[-1]), names))
    for y, names in _apart(labels):
        parts.append(words_at(right + 6, y + 4, quote(names, 24), "start"))
    ends = "; ".join(f"{name} from {digits(v[0])} to {digits(v[-1])}" for name, v in figure.series.items())
    return image(WIDTH, bottom + 36, quote(f"{figure.y} against {figure.x}: {ends}", 600), parts)


def _alike(series: dict[str, list[float]]) -> list[tuple[str, list[float]]]:
    """Series that lie on one another are one line with both names: “a, b”."""
    found: list[tuple[str, list[float]]] = []
    for name, values in series.items():
        for number, (names, others) in enumerate(found):
            if all(abs(a - b) <= 1e-3 * (abs(a) + abs(b)) for a, b in zip(values, others, strict=True)):
                found[number] = (f"{names}, {name}", others)
                break
        else:
            found.append((name, values))
    return found


def _apart(labels: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Labels moved up where they would lie on one another: most meet at zero, where there is no room below."""
    placed: list[tuple[float, str]] = []
    for y, text in sorted(labels, reverse=True):
        placed.append((min(y, placed[-1][0] - 13) if placed else y, text))
    return placed


def _bars(figure: Lines) -> Markup:
    """Lines over a single place."""
    ceiling = figure.top or max(max(values) for values in figure.series.values()) or 1.0
    parts, said, y = [], [], 12
    for names, (value,) in _alike(figure.series):
        said.append(f"{names}: {figure.y} {digits(value)}")
        share = min(max(value / ceiling, 0.0), 1.0)
        parts.append(words_at(2, y, quote(said[-1], 50), "start"))
        parts.append(element('<rect class="track" x="2" y="{}" width="{}" height="8"/>', y + 5, WIDTH - 4))
        parts.append(element('<rect class="fill one" x="2" y="{}" width="{}" height="8"/>', y + 5, (WIDTH - 4) * share))
        y += 32
    return image(WIDTH, y - 8, quote("; ".join(said), 400), parts)


def _samples(figure: Samples) -> Markup:
    left, right, strip = 8, WIDTH - 8, 54
    every = [value for values in figure.samples.values() for value in values]
    low, high = min(0.0, *every), max(1.0, *every)  # shares of one value are the usual case
    parts, said = [], []
    for number, (name, values) in enumerate(figure.samples.items()):
        top = 18 + number * strip
        mean = sum(values) / len(values)
        spread = sqrt(sum((value - mean) ** 2 for value in values) / len(values))
        words = f"{name}: mean {digits(mean)}, spread {digits(spread)}"
        said.append(words)
        parts.append(words_at(left, top - 5, quote(words, 60), "start"))
        parts.append(element('<path class="grid" d="M{} {}H{}"/>', left, top + 30, right))
        dots = "".join(
            f"M{left + (right - left) * (value - low) / (high - low):.4g} {top + 4 + 22 * (place * _GOLDEN % 1):.4g}h0"
            for place, value in enumerate(values)
        )
        parts.append(Markup('<path class="dots faint {}" d="{}"/>').format(("one", "two", "three")[number % 3], dots))
    bottom = 18 + len(figure.samples) * strip
    parts += [words_at(left, bottom, digits(low), "start"), words_at(right, bottom, digits(high), "end")]
    parts.append(words_at(WIDTH / 2, bottom, quote(figure.x, 40), "middle"))
    return image(WIDTH, bottom + 8, quote(f"Samples of {figure.x}. {'; '.join(said)}", 400), parts)


def _accuracy(figure: Accuracy) -> Markup:
    left, right = 4, WIDTH - 24
    rate, (low, high) = figure.right / figure.total, figure.interval
    shares = [rate, high, *(tier.right / figure.total for tier in figure.tiers)]
    if figure.baseline:
        shares.append(figure.baseline.right / figure.baseline.total)
    most = min(max(*shares, 0.05) * 1.1, 1.0)

    def across(share: float) -> float:
        return left + (right - left) * min(share / most, 1.0)

    words = f"yours: {_share(figure.right, figure.total)}, 95 % interval {100 * low:.1f} to {100 * high:.1f} %"
    said = [words]
    parts = [words_at(left, 12, words, "start")]
    parts.append(element('<rect class="fill one" x="{}" y="18" width="{}" height="14"/>', left, across(rate) - left))
    parts.append(element('<path class="whisker" d="M{0} 25H{1}M{0} 20v10M{1} 20v10"/>', across(low), across(high)))
    bottom = 32
    if figure.baseline:
        always = figure.baseline
        words = f"always {quote(always.answer, 20)}: {_share(always.right, always.total)}"
        said.append(words)
        parts.append(words_at(left, 50, words, "start"))
        width = across(always.right / always.total) - left
        parts.append(element('<rect class="fill two" x="{}" y="56" width="{}" height="14"/>', left, width))
        bottom = 70
    for tier in sorted(figure.tiers, key=lambda tier: tier.right):
        # One line each: tiers of small files lie closer together than their words.
        x, bottom = across(tier.right / figure.total), bottom + 15
        parts.append(element('<path class="tier" d="M{} 18V{}"/>', x, bottom))
        words = f"{'all' if tier.score == '1' else quote(tier.score, 8)} from {tier.right} on"
        said.append(words)
        parts.append(words_at(x - 4 if x > WIDTH / 2 else x + 4, bottom, words, "end" if x > WIDTH / 2 else "start"))
    return image(WIDTH, bottom + 6, "; ".join(said), parts)


def _share(right: int, total: int) -> str:
    return f"{right}/{total} = {100 * right / total:.1f} %"
