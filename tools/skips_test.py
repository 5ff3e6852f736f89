#!/usr/bin/env python3
"""Skipped tests: what run_unittest.py records, how skips.py summarises it, and what ./run test prints."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import skips

TOOLS = Path(__file__).resolve().parent
CASES = """
import sys, unittest
class Cases(unittest.TestCase):
    def test_pass(self): pass
    def test_fail(self): self.fail()
    def test_skip(self): self.skipTest("two lines\\nof reason")
    @unittest.skip("never")
    def test_never(self): pass
    def test_parts(self):
        for part in (1, 2):
            with self.subTest(part=part):
                self.skipTest("no parts")
    def test_some_parts(self):
        for part in (1, 2):
            with self.subTest(part=part):
                if part == 2:
                    self.skipTest("no second part")
class NoClass(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise unittest.SkipTest("no class")
    def test_pass(self): pass
if __name__ == "__main__":
    unittest.main()
"""


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class RunUnittest(Folder):
    def run_cases(self, *names, text=CASES):
        """Exit status, and the reasons recorded."""
        record = self.write("skips/some_test.txt", "old\told\n")
        done = subprocess.run([sys.executable, "-B", TOOLS / "run_unittest.py", self.write("some_test.py", text), *names],
                              capture_output=True, text=True, env={**os.environ, "LIMB_SKIPS": str(record)})
        lines = record.read_text().splitlines() if record.exists() else []
        return done.returncode, [line.split("\t")[1] for line in lines]

    def test_status_and_reasons(self):
        for names, *expected in (
                (["Cases.test_pass"], 0, []),
                (["Cases.test_fail"], 1, []),
                (["Cases.test_skip"], 77, ["two lines of reason"]),
                (["Cases.test_skip", "Cases.test_never"], 77, ["two lines of reason", "never"]),
                (["Cases.test_skip", "Cases.test_pass"], 0, ["two lines of reason"]),
                (["Cases.test_skip", "Cases.test_fail"], 1, ["two lines of reason"]),
                (["Cases.test_parts"], 77, ["no parts", "no parts"]),
                (["Cases.test_some_parts"], 0, ["no second part"]),
                (["NoClass"], 77, ["no class"])):
            with self.subTest(names=names):
                self.assertEqual(self.run_cases(*names), tuple(expected))

    def test_other_programs_keep_their_status_and_arguments(self):
        program = "import sys, pathlib\nassert sys.path[0] == str(pathlib.Path(__file__).resolve().parent)\n"
        self.assertEqual(self.run_cases("3", text=program + "sys.exit(int(sys.argv[1]))\n"), (3, []))
        self.assertEqual(self.run_cases(text=program), (0, []))
        self.assertEqual(self.run_cases(text="raise ValueError\n"), (1, []))


class Summary(Folder):
    def test_one_line_per_reason(self):
        self.write("sim/a_test.txt", "A.b\tno robots\nA.c\tno robots\nA.d\tno solver\n")
        self.write("math/b_test.txt", "B.b\tno robots: set LIMB_SHARED\n")
        self.write("cli/c_test.txt", "C.c\tno robots\n")
        self.assertEqual(skips.summary(self.folder), [
            "skipped: cli/c_test (1), sim/a_test (2): no robots",
            "skipped: math/b_test (1): no robots: set LIMB_SHARED",
            "skipped: sim/a_test (1): no solver"])
        self.assertEqual(skips.summary(self.folder / "absent"), [])

    def test_records_are_one_line_each_and_replace_earlier_ones(self):
        path = self.folder / "sim/a_test.txt"
        with mock.patch.dict(os.environ, {"LIMB_SKIPS": str(path)}):
            skips.record([("A\tb", "two\nlines "), ("A.c", "why")])
            self.assertEqual(path.read_text(), "A b\ttwo lines\nA.c\twhy\n")
            skips.record([])
            self.assertFalse(path.exists())


class RunTest(Folder):
    def test_reasons_come_last_and_the_status_is_that_of_ctest(self):
        """run_tests() of ./run with a ctest that skips one test and fails."""
        self.write("ctest", "#!/bin/sh\nmkdir -p build/Testing/skips/a\n"
                            "printf 'A.b\\tno robots\\n' > build/Testing/skips/a/a_test.txt\n"
                            "echo \"ctest $*\"\nexit 8\n").chmod(0o755)
        self.write("build/Testing/skips/old_test.txt", "A.b\told\n")
        (self.folder / "tools").symlink_to(TOOLS)
        text = (TOOLS.parent / "run").read_text()
        start, end = text.index("\nbuild_dir()"), text.index("\nrun_tests()")
        script = "set -euo pipefail\npreset=release jobs=3" + text[start:text.index("\n", start + 1)] + \
            text[end:text.index("\n}\n", end) + 3] + "run_tests -R math"
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertEqual((done.returncode, done.stderr), (8, ""))
        self.assertEqual(done.stdout, "ctest --preset release --parallel 3 -R math\nskipped: a/a_test (1): no robots\n")


if __name__ == "__main__":
    unittest.main()
