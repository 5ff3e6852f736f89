#!/usr/bin/env python3
"""Runs one pytest file with the first Python that has pytest: the one of .venv, then this one.

Exits as pytest does, but with 77 (skipped) if there is no pytest or every test was skipped.
"""

import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = 77
NO_TESTS = 5  # pytest's status when a whole file skips at import, or has no test


def python_with_pytest() -> str | None:
    for python in (ROOT / ".venv/bin/python", sys.executable, "python3"):
        try:
            found = subprocess.run([python, "-c", "import pytest"], capture_output=True)
        except OSError:
            continue
        if found.returncode == 0:
            return str(python)
    return None


def all_skipped(report: Path) -> bool:
    suites = ElementTree.parse(report).getroot().iter("testsuite")
    counts = [(int(suite.get("tests", 0)), int(suite.get("skipped", 0))) for suite in suites]
    tests, skipped = map(sum, zip(*counts))
    return 0 < tests == skipped


def main() -> int:
    if len(sys.argv) < 2:
        print("usage: run_pytest.py FILE [pytest arguments]", file=sys.stderr)
        return 1
    python = python_with_pytest()
    if python is None:
        print(f"skipped {sys.argv[1]}: no pytest (./run test installs it if there is a network)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        status = subprocess.run(
            [python, "-B", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider",
             f"--junitxml={report}", *sys.argv[1:]]).returncode
        if status in (0, NO_TESTS) and report.exists() and all_skipped(report):
            return SKIPPED
    return status


if __name__ == "__main__":
    sys.exit(main())
