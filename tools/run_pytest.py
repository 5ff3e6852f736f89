#!/usr/bin/env python3
"""Runs one pytest file with the first Python that has pytest: the one of .venv, then this one.

Exits as pytest does, but with 77 (skipped) if there is no pytest or every test was skipped. Skipped tests are
recorded with their reasons (tools/skips.py).
"""

import ast
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import skips

ROOT = Path(__file__).resolve().parent.parent
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


def reason_of(mark: ElementTree.Element) -> str:
    message = mark.get("message") or "no reason given"
    if message == "collection skipped":  # at import; the text is "(file, line, 'Skipped: reason')"
        message = ast.literal_eval(mark.text or "")[2].removeprefix("Skipped: ")
    return message


def read_report(report: Path) -> tuple[int, list[tuple[str, str]]]:
    """The number of tests, and those skipped with their reasons."""
    tests, skipped = 0, []
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        tests += 1
        if (mark := case.find("skipped")) is not None:
            skipped.append((case.get("name") or "", reason_of(mark)))
    return tests, skipped


def main() -> int:
    if len(sys.argv) < 2:
        print("usage: run_pytest.py FILE [pytest arguments]", file=sys.stderr)
        return 1
    python = python_with_pytest()
    if python is None:
        reason = "no Python with pytest (./run test installs it if there is a network)"
        print(f"skipped: {sys.argv[1]}: {reason}")
        skips.record([("all", reason)])
        return skips.SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        status = subprocess.run(
            [python, "-B", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider",
             f"--junitxml={report}", *sys.argv[1:]]).returncode
        tests, skipped = read_report(report) if report.exists() else (0, [])
        skips.record(skipped)
        if status in (0, NO_TESTS) and 0 < tests == len(skipped):
            return skips.SKIPPED
    return status


if __name__ == "__main__":
    sys.exit(main())
