"""Every item of docs/lectures/items.txt has a section in its guide with a block that docs/snippets executes."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import run_snippets  # noqa: E402

LECTURES = ROOT / "docs/lectures"
HEADING = re.compile(r"^#+ .*\[([^\]]+)\]")
RANGE = re.compile(r"([A-K]-?)(\d+)(?:-\1?(\d+))?$")
EXECUTED = {"sh", "python", "cpp"}


def items_of(brackets):
    """A1-A3, B2 -> A1 A2 A3 B2; E-1 and E-2 are items, not a range."""
    for part in brackets.split(", "):
        match = RANGE.match(part)
        if match is None:
            raise ValueError(f"'{part}' is not an item or a range of items")
        first = int(match[2])
        for number in range(first, int(match[3] or first) + 1):
            yield f"{match[1]}{number}"


def sections(path):
    """(items, lines) of each section whose heading has items."""
    found, fenced = [], False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fenced ^= line.startswith("```")
        if not fenced and line.startswith("#"):
            heading = HEADING.match(line)
            found.append((list(items_of(heading[1])) if heading else [], number))
    ends = [start for _, start in found[1:]] + [10**9]
    return [(items, start, end) for (items, start), end in zip(found, ends)]


class LectureItemsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lines = [line for line in (LECTURES / "items.txt").read_text().splitlines() if not line.startswith("#")]
        cls.items = dict(line.split() for line in lines)
        cls.shown = {}  # item -> guides whose section has a command
        for path in sorted(LECTURES.glob("0*.md")):
            blocks = run_snippets.parse(path.name, path.read_text())
            for items, start, end in sections(path):
                if any(start < block.line < end and block.language in EXECUTED for block in blocks):
                    for item in items:
                        cls.shown.setdefault(item, set()).add(path.name[:3])

    def test_every_item_has_a_command(self):
        self.assertGreater(len(self.items), 90)
        self.assertEqual([item for item, guide in self.items.items() if guide not in self.shown.get(item, ())], [])

    def test_headings_name_known_items(self):
        self.assertEqual([item for item in self.shown if item not in self.items], [])

    def test_ranges(self):
        self.assertEqual(list(items_of("A1-A3, E-2, E-7, G10")), ["A1", "A2", "A3", "E-2", "E-7", "G10"])
        with self.assertRaises(ValueError):
            list(items_of("A1 to A3"))


if __name__ == "__main__":
    unittest.main()
