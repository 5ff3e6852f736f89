#!/usr/bin/env python3
"""check_words.py must find each retired word, and must not report plain text."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from check_words import WORDS, check, check_text

TOOL = Path(__file__).resolve().parent / "check_words.py"

# At least one text per pattern of WORDS.
RETIRED = [
    "the rooms of limb", "There are two doors", "the customs of Pinocchio", "rnea and its kin", "a walk over the tree",
    "the outward pass", "stores past the caches", "at the begin of the run", "the wish of a contact",
    "math_wheels_test.py", "Skips where the wheel is missing", "the joint gives way", "where the truth is none",
    "the matrix is no rotation", "51 ns a state", "// Of the robot touch feet", "it mends the file", "starts anew",
    "is made sound again", "on a leash", "goes round in circles", "velocities never hear of it",
    "the energy books", "what one asks of it", "a bunch of joints", "the seam of two rows", "woven stores",
    "seen_from_root(model)", "in the laboratory", "of who holds it", "a pack of them", "torques at rest acceleration",
    "move the whole", "the point thereof", "limb info as a user meets it", "for who waits at a terminal",
    "null where there is none", "closed on the base", "12 us a step",
]
PLAIN = [
    "add_custom_command(OUTPUT x)", "kinematics and kinetic energy", "The robot walks over blocks.",
    "std::find(x.begin(), x.end(), y)", "There is no such file.", "It is no longer needed.", "none of them is zero",
    "51 ns per state", "a step of 1 ms", "Of course it holds.", "the wheels of the robot", "the wheel is built by pip",
    "forward pass, then backward pass", "the matrix is not a rotation", "a seamless page", "a recommended value",
    "It is no faster than before.", "the state is unknown", "one state per call",
]


class CheckWords(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_every_retired_text_is_found(self):
        for text in RETIRED:
            with self.subTest(text):
                self.assertTrue(check_text(text))

    def test_every_pattern_is_tested(self):
        found = {instead for text in RETIRED for _, _, instead in check_text(text)}
        self.assertEqual({instead for _, instead in WORDS} - found, set())

    def test_plain_text_passes(self):
        for text in PLAIN:
            with self.subTest(text):
                self.assertEqual(check_text(text), [])

    def test_findings_name_file_line_and_replacement(self):
        self.write("limb/math/so3.hpp", "// fine\n// another room\n")
        self.assertEqual(check(self.root), ["limb/math/so3.hpp:2: 'room': write module (code), workspace or buffer "
                                            "(memory)"])

    def test_only_text_below_the_given_paths(self):
        self.write("docs/a.md", "a door\n")
        self.write("limb/b.hpp", "// a door\n")
        self.write("models/mesh.stl", "a door\n")
        self.assertEqual(len(check(self.root)), 2)
        self.assertEqual(len(check(self.root, ["docs"])), 1)

    def test_exit_status(self):
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.write("a.md", "plain\n")
        self.assertEqual(self.status(), 0)
        self.write("a.md", "a door\n")
        self.assertEqual(self.status(), 1)

    def status(self):
        return subprocess.run([sys.executable, "-B", TOOL, self.root], capture_output=True).returncode


if __name__ == "__main__":
    unittest.main()
