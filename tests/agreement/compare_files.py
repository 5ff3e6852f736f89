"""Compares the robot files of any folders with MuJoCo (MJCF) and Pinocchio (URDF, fixed base), by the criteria of the
agreement tests, and prints a table: how many agree, who refuses which with what message, and which differ.

    .venv/bin/python tests/agreement/compare_files.py FOLDER ... --output verdicts.tsv
"""

import argparse
import re
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import agreement_vs_mujoco_test as mujoco_files
import agreement_vs_pinocchio_test as pinocchio_files
from robot_collections import is_mjcf


def robots(folders):
    for folder in folders:
        for path in sorted(Path(folder).resolve().rglob("*")):
            if path.suffix == ".urdf" or (path.suffix in (".xml", ".mjcf") and path.is_file() and is_mjcf(path)):
                yield folder, path


def verdict_of(folder, path, work):
    if path.suffix == ".urdf":
        return pinocchio_files.verdict_of(path, "fixed", work)
    mujoco_files.FOLDERS = {str(folder): Path(folder).resolve()}
    return mujoco_files.verdict_of(f"{folder}/{path.name}", path, work)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--output", type=Path, help="all verdicts as a .tsv file")
    parser.add_argument("--only", default="", help="files whose path contains this")
    options = parser.parse_args()
    rows, reasons = [], defaultdict(list)
    with tempfile.TemporaryDirectory() as work:
        for folder, path in robots(options.folders):
            if options.only not in str(path):
                continue
            try:
                verdict = verdict_of(folder, path, work)
            except Exception as error:  # noqa: BLE001  such as a crash of limb: one of the results
                verdict = mujoco_files.Verdict("failed", f"{type(error).__name__}: {error}")
            detail = " ".join(verdict.detail.split())
            worst = ", ".join(f"{what} {error:.2g}" for what, error in verdict.worst.items())
            rows.append("\t".join((str(path), verdict.kind, detail, worst)))
            # One line per reason: without names and numbers of the file.
            reason = re.sub(r"'[^']*'|\d[\d.e+-]*|\S*/\S*", "*", detail) if verdict.kind != "differs" else detail
            reasons[(verdict.kind, reason[:140])].append(path)
            print(f"\r{len(rows)} files", end="", file=sys.stderr)
    if options.output:
        options.output.write_text("\n".join(rows) + "\n")
    print(f"\r{len(rows)} files: {dict(Counter(row.split(chr(9))[1] for row in rows))}")
    for (kind, reason), paths in sorted(reasons.items(), key=lambda item: (item[0][0], -len(item[1]))):
        print(f"{len(paths):5d}  {kind}{': ' if reason else ''}{reason}" + (f"   ({paths[0]})" if reason else ""))


if __name__ == "__main__":
    main()
