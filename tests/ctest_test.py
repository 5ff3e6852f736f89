#!/usr/bin/env python3
"""Properties of every test of this build: a limit against hangs, an exit status for "skipped" and a record of skips."""

import collections
import json
import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("LIMB_BUILD_DIR", ROOT / "build"))
SHORTEST_LIMIT_S = 600  # limits are for hangs: ten times what a slow machine needs


def listed_tests():
    text = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"], capture_output=True, text=True,
                          check=True).stdout
    for test in json.loads(text)["tests"]:
        yield test["name"], {entry["name"]: entry["value"] for entry in test.get("properties", [])}


class Properties(unittest.TestCase):
    def setUp(self):
        self.tests = dict(listed_tests())
        self.assertGreater(len(self.tests), 100)

    def test_every_test_has_a_limit_for_hangs(self):
        short = [name for name, test in self.tests.items() if test.get("TIMEOUT", 0) < SHORTEST_LIMIT_S]
        self.assertEqual(short, [])

    def test_every_test_can_be_skipped(self):
        self.assertEqual([name for name, test in self.tests.items() if test.get("SKIP_RETURN_CODE") != 77], [])

    def test_every_test_has_its_own_record_of_skips(self):
        records = collections.Counter()
        for name, test in self.tests.items():
            found = [value.partition("=")[2] for value in test.get("ENVIRONMENT", []) if value.startswith("LIMB_SKIPS=")]
            self.assertEqual([Path(path).parts[-len(Path(name).parts):] for path in found],
                             [Path(name + ".txt").parts], name)
            records.update(found)
        self.assertEqual(set(records.values()), {1})

    def test_python_tests_write_no_byte_code(self):
        for name, test in self.tests.items():
            if "LIMB_BUILD_DIR" in str(test.get("ENVIRONMENT")):
                self.assertIn("PYTHONDONTWRITEBYTECODE=1", test["ENVIRONMENT"], name)

    def test_every_test_file_is_registered(self):
        """A *_test file that no build runs is a test that never fails."""
        names = {name.rpartition("/")[2] for name in self.tests}
        listing = subprocess.run(["git", "-C", ROOT, "ls-files", "*_test.cpp", "*_test.py"], capture_output=True, text=True)
        if listing.returncode != 0:
            self.skipTest("not a git checkout")
        # Not in a sanitizer build: those of the Python package and of the installation.
        sanitized = re.search(r"^LIMB_SANITIZE:STRING=.+$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
        renamed = {"api_test": "vocabulary", "consumer_test": "consumer", "lecture_items_test": "lecture_items"}
        for file in map(Path, listing.stdout.splitlines()):
            if sanitized and (file.parts[0] == "python" or file.stem == "consumer_test"):
                continue
            self.assertIn(renamed.get(file.stem, file.stem), names, file)


if __name__ == "__main__":
    unittest.main()
