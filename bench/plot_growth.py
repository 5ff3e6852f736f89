"""Draws the tables of growth_bench: bench/plot_growth.py TABLES.md PICTURE.svg

TABLES.md is what growth_bench prints: chains of growing length, batches of growing size. No packages
needed.
"""

import math
import sys

PANEL = (400, 270)
COLOURS = {"RNEA": "#1f6f8b", "ABA": "#c8553d"}
DASHES = {"one state": "2 3", "f32": "7 3"}


def tables(text):
    """Each table as (headings, rows of numbers)."""
    found, heads = [], None
    for line in text.splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            heads = None
        elif heads is None:
            heads = cells
            found.append((heads, []))
        elif not set(line) <= set("|-: "):
            found[-1][1].append([float(c) for c in cells])
    return found


class Axes:
    """A panel with logarithmic axes."""

    def __init__(self, left, top, x_range, y_range):
        self.left, self.top = left, top
        self.x_range, self.y_range = x_range, y_range

    def x(self, value):
        low, high = map(math.log, self.x_range)
        return self.left + PANEL[0] * (math.log(value) - low) / (high - low)

    def y(self, value):
        low, high = map(math.log, self.y_range)
        return self.top + PANEL[1] * (1 - (math.log(value) - low) / (high - low))


def text(x, y, words, anchor="middle", size=13, colour="#333", more=""):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"'
        f"{more}>{words}</text>\n"
    )


def number(value):
    if value >= 1e6:
        return f"{value / 1e6:g} million"
    return f"{value / 1e3:g}k" if value >= 1e4 else f"{value:g}"


def spread(labels, gap=15):
    """Moves labels at (y, ...) apart vertically."""
    labels = sorted(labels)
    for _ in range(200):
        for k in range(len(labels) - 1):
            lack = gap - (labels[k + 1][0] - labels[k][0])
            if lack > 0:
                labels[k] = (labels[k][0] - lack / 2, *labels[k][1:])
                labels[k + 1] = (labels[k + 1][0] + lack / 2, *labels[k + 1][1:])
    return labels


def panel(axes, title, x_title, x_ticks, y_ticks, heads, rows):
    out = text(axes.left, axes.top - 18, title, "start", 15, "#111")
    bottom = axes.top + PANEL[1]
    for tick in x_ticks:
        x = axes.x(tick)
        out += f'<path d="M{x:.1f} {axes.top}V{bottom}" stroke="#e6e6e6"/>\n'
        out += text(x, bottom + 18, number(tick))
    for tick in y_ticks:
        y = axes.y(tick)
        out += f'<path d="M{axes.left} {y:.1f}h{PANEL[0]}" stroke="#e6e6e6"/>\n'
        out += text(axes.left - 8, y + 4, number(tick), "end")
    out += text(axes.left + PANEL[0] / 2, bottom + 40, x_title)
    labels = []
    for column, head in enumerate(heads):
        colour = next((c for name, c in COLOURS.items() if head.startswith(name)), None)
        if colour is None:
            continue
        dash = next((d for kind, d in DASHES.items() if head.endswith(kind)), "")
        points = [(axes.x(row[0]), axes.y(row[column])) for row in rows]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        out += (
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"'
            f' stroke-dasharray="{dash}"/>\n'
        )
        out += "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in points)
        labels.append((points[-1][1], head, colour))
    for y, head, colour in spread(labels):
        out += text(axes.left + PANEL[0] + 8, y + 4, head, "start", 12, colour)
    return out


def limits(rows, columns):
    values = [row[k] for row in rows for k in columns]
    return (min(values) / 1.3, max(values) * 1.3)


def ticks(limits):
    marks = [m * 10**e for e in range(-1, 6) for m in (1, 2, 5)]
    return [m for m in marks if limits[0] <= m <= limits[1]]


def main(source, target):
    with open(source) as file:
        chains, batches = tables(file.read())
    timed = [k for k, head in enumerate(chains[0]) if head.split(",")[0] in COLOURS]
    low = limits(chains[1], timed)
    left = Axes(60, 60, (8, 256), low)
    picture = panel(
        left, "ns per state and link of a chain", "links", [8, 16, 32, 64, 128, 256], ticks(low), *chains
    )
    timed = [k for k, head in enumerate(batches[0]) if head.split(",")[0] in COLOURS]
    low = limits(batches[1], timed)
    right = Axes(60, 60 + 380, (1, 1e6), low)
    picture += panel(
        right,
        "ns per state of a quadruped",
        "states per batch",
        [1, 10, 100, 1000, 10000, 100000, 1000000],
        ticks(low),
        *batches,
    )
    with open(target, "w") as file:
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 790" width="640" height="790"'
            ' font-family="DejaVu Sans, Helvetica, sans-serif">\n'
            f'<rect width="640" height="790" fill="white"/>\n{picture}</svg>\n'
        )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.splitlines()[0])
    main(sys.argv[1], sys.argv[2])
