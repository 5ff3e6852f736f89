#!/usr/bin/env python3
"""Formats all C++ files with clang-format; --check only reports, and exits 77 without the tool."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import skips
from source_files import CPP, source_files

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail on a difference")
    check = parser.parse_args().check

    tool = shutil.which("clang-format")
    if tool is None:
        print("format: skipped, clang-format is not installed", file=sys.stderr)
        if check:
            skips.record([("all", "clang-format is not installed")])
        return skips.SKIPPED if check else 1
    files = [str(path) for path in source_files(ROOT) if path.suffix in CPP]
    mode = ["--dry-run", "-Werror"] if check else ["-i"]
    status = subprocess.run([tool, *mode, *files], cwd=ROOT).returncode
    if status == 0:
        print(f"format: {len(files)} files {'are formatted' if check else 'formatted'}")
    elif check:
        print("format: run ./run format", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
