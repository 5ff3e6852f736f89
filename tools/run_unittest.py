#!/usr/bin/env python3
"""Runs one Python test program: run_unittest.py FILE [arguments]

The program runs as if called itself, and its status is kept. If it calls unittest.main(), the skipped cases are
recorded (tools/skips.py), and the status is 77 if nothing failed and every case was skipped.
"""

import runpy
import sys
import unittest
from pathlib import Path

import skips


class Result(unittest.TextTestResult):
    """Counts what passed, too: skipped subtests do not make a passed test."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        self.passed += error is None


def unittest_main(*arguments, **options):
    options |= {"exit": False, "testRunner": unittest.TextTestRunner(resultclass=Result)}
    result = unittest.TestProgram(*arguments, **options).result
    found = [(str(test), reason) for test, reason in result.skipped]
    skips.record(found)
    for test, reason in found:
        print(f"skipped: {test}: {reason}")
    if result.wasSuccessful() and found and result.passed == 0:
        sys.exit(skips.SKIPPED)
    sys.exit(not result.wasSuccessful())


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("usage: run_unittest.py FILE [arguments]")
    sys.dont_write_bytecode = True
    skips.record([])
    del sys.argv[0]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    unittest.main = unittest_main
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
