"""Pictures in docs/images are those that their commands draw: python3 cli/pictures_test.py build/limb

The commands are those of the pages. Elements, words and styles must be the same; numbers may differ by the rounding of
another compiler: a fifth of a pixel, twice the last digit.
"""

import math
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

LIMB = "limb"
DOCS = Path(__file__).resolve().parent.parent / "docs"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
PIXEL = 0.21


def difference(old, new):
    """Where two SVG texts differ, or None."""
    a, b = (list(ElementTree.fromstring(text).iter()) for text in (old, new))
    for one, other in zip(a, b):
        what = f"<{one.tag.rpartition('}')[2]}> {(one.text or '').strip()!r}"
        if one.tag != other.tag or (one.text or "").strip() != (other.text or "").strip():
            return f"{what} became <{other.tag.rpartition('}')[2]}> {(other.text or '').strip()!r}"
        if one.keys() != other.keys():
            return f"{what}: attributes {one.keys()} became {other.keys()}"
        for key in one.keys():
            before, after = one.get(key), other.get(key)
            if NUMBER.sub("#", before) != NUMBER.sub("#", after):
                return f"{what}: {key} {before!r} became {after!r}"
            for x, y in zip(NUMBER.findall(before), NUMBER.findall(after)):
                if abs(float(x) - float(y)) > PIXEL:
                    return f"{what}: {key} has {x} that became {y}"
    if len(a) != len(b):
        return f"{len(a)} elements became {len(b)}"
    return None


def race(path):
    """The log of the brachistochrone in docs/showpieces.md, integrated here."""
    g, r = 9.81, 0.5
    X, Y = math.pi * r, 2 * r
    k = math.pi * (1 - 1e-3)
    R = (X * X + Y * Y) / (2 * X)
    e = math.atan2(Y, R - X)

    def cycloid(u):
        p = math.pi - k * (1 - u)
        s, c = math.sin(p), math.cos(p)
        return (r * (p - s), r * (1 - c)), (r * k * (1 - c), r * k * s), (r * k * k * s, r * k * k * c)

    def arc(u):
        s, c = math.sin(e * u), math.cos(e * u)
        return (R * (1 - c), R * s), (R * e * s, R * e * c), (R * e * e * c, -R * e * e * s)

    def line(u):
        return (u * X, u * Y), (X, Y), (0, 0)

    def rate(track, u, v):
        _, d, dd = track(u)
        return (g * d[1] - (d[0] * dd[0] + d[1] * dd[1]) * v * v) / (d[0] ** 2 + d[1] ** 2)

    columns = []
    for track in (cycloid, arc, line):
        u, v, h, places = 0.0, 0.0, 1e-4, []
        for row in range(91):
            places.append(track(min(u, 1))[0])
            for _ in range(100):
                if u >= 1:
                    break
                a1 = rate(track, u, v)
                a2 = rate(track, u + h / 2 * v, v + h / 2 * a1)
                a3 = rate(track, u + h / 2 * v + h * h / 4 * a1, v + h / 2 * a2)
                a4 = rate(track, u + h * v + h * h / 2 * a2, v + h * a3)
                u += h * v + h * h / 6 * (a1 + a2 + a3)
                v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        columns.append(places)
    rows = ["t,x.cycloid,x.arc,x.line,depth.cycloid,depth.arc,depth.line"]
    for row in range(91):
        rows.append(",".join([f"{0.01 * row:g}"] + [f"{c[row][axis]:.5g}" for axis in (0, 1) for c in columns]))
    path.write_text("\n".join(rows) + "\n")


class PicturesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def drawn(self, page):
        """name of an image -> SVG text, from the commands of the page."""
        results, text = {}, (DOCS / page).read_text()
        made = None
        for command, image in re.findall(r"^(limb (?:simulate|plot|eval) .*)$|^!\[[^\]]*\]\((?:\.\./)?(images/[^)]*\.svg)\)", text, re.M):
            if image:
                if made is not None:
                    results[image] = made.read_text()
                made = None
                continue
            words = re.split(r" [>|] ", command)[0].split()[1:]
            words = [w.replace("/tmp/", self.folder.name + "/").replace(".html", ".svg") for w in words]
            words = [str(DOCS / w[5:]) if w.startswith("docs/") else w for w in words]
            if words[0] == "plot" and words[1].endswith("race.csv"):
                race(Path(words[1]))
            if words[0] == "simulate" and "-o" not in words or words[0] == "eval" and "--picture" not in words:
                continue
            result = subprocess.run([LIMB, *words], capture_output=True, text=True, timeout=1200)
            self.assertEqual(result.returncode, 0, result.stderr)
            option = {"plot": "-o", "eval": "--picture"}.get(words[0])
            made = Path(words[words.index(option) + 1]) if option else None
        return results

    def check(self, page, count):
        pictures = self.drawn(page)
        self.assertEqual(len(pictures), count, list(pictures))
        for name, text in pictures.items():
            with self.subTest(name):
                self.assertIsNone(difference((DOCS / name).read_text(), text))

    def test_showpieces(self):
        self.check("showpieces.md", 6)

    def test_simulation(self):
        self.check("simulation.md", 1)

    def test_lectures(self):
        self.check("lectures/003_lagrange.md", 2)
        self.check("lectures/004_operational_space.md", 1)

    def test_a_moved_line_is_found(self):
        svg = '<svg xmlns="http://www.w3.org/2000/svg"><title>a</title><line x1="1" y1="2.5"/></svg>'
        self.assertIsNone(difference(svg, svg.replace("2.5", "2.6")))
        self.assertIn("has 2.5 that became 2.8", difference(svg, svg.replace("2.5", "2.8")))
        self.assertIn("became", difference(svg, svg.replace(">a<", ">b<")))
        self.assertIn("elements", difference(svg, svg.replace("</svg>", "<line/></svg>")))


if __name__ == "__main__":
    LIMB = sys.argv.pop(1)
    unittest.main()
