#!/usr/bin/env python3
"""Prints why tests were skipped, one line per reason with the tests: skips.py FOLDER

Every test writes what it skips to the file LIMB_SKIPS, which ctest sets to FOLDER/<name of the test>.txt:
one line "case<TAB>reason" each. ./run test empties the folder first and calls this program last.
"""

import os
import sys
from pathlib import Path

SKIPPED = 77  # exit status


def record(skips: list[tuple[str, str]]) -> None:
    """Replaces the skips of this test by (case, reason) pairs; nothing outside of ctest."""
    path = os.environ.get("LIMB_SKIPS")
    if not path:
        return
    Path(path).unlink(missing_ok=True)
    if skips:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        lines = ("\t".join(" ".join(text.split()) for text in skip) + "\n" for skip in skips)
        Path(path).write_text("".join(lines))


def summary(folder: Path) -> list[str]:
    reasons: dict[str, dict[str, int]] = {}
    for path in sorted(folder.rglob("*.txt")):
        test = path.relative_to(folder).with_suffix("").as_posix()
        for line in path.read_text().splitlines():
            _, _, reason = line.partition("\t")
            tests = reasons.setdefault(reason, {})
            tests[test] = tests.get(test, 0) + 1
    return [f"skipped: {', '.join(f'{test} ({count})' for test, count in tests.items())}: {reason}"
            for reason, tests in reasons.items()]


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: skips.py FOLDER", file=sys.stderr)
        return 1
    for line in summary(Path(sys.argv[1])):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
