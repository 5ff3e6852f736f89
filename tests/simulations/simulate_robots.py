"""Simulates every robot file at hand with the defaults of `limb simulate`, from its own pose and from random
ones, as it is and dropped on a plane, and prints a table: which runs finished, which ended with a reason,
how the energy changed, and the deepest overlap.

    python3 tests/simulations/simulate_robots.py --output runs.tsv
    ... --poses 1 --duration 0.5 --only cassie          fewer runs
    ... FOLDER ... --every 5                            every fifth file of other folders

Files are those of the agreement tests (tests/agreement/robot_collections.py), with the recipes of models/ and
of the reference folder, or those of the given folders. A run is one line of runs.tsv; a run of a robot that limb does
not accept counts as refused.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/agreement"))
from robot_collections import collections, is_mjcf, robot_files  # noqa: E402

LIMB = Path(os.environ.get("LIMB_CLI", ROOT / "build/limb")).resolve()
COLUMNS = ("file", "case", "verdict", "t", "energy_start", "energy_end", "closure", "exchanged", "penetration", "wall", "message")
# Robots that cannot be dropped.
CANNOT_FALL = ("needs a free base", "the robot has no shapes for contact", "no base link to set free")


def all_files():
    """(id, path) of every robot: URDF, MJCF, recipes."""
    files = robot_files(".urdf")[0] + robot_files(".xml")[0]
    for folder in [ROOT / "models", *(f for n, f, _ in collections(".urdf") if f and n.startswith("shared"))]:
        for path in sorted(folder.glob("*.toml")):
            files.append((f"{folder.name}/{path.name}", path))
    return files


def files_in(folders):
    """(id, path) of the URDF and MJCF files in these folders."""
    return [(path.relative_to(folder.resolve().parent).as_posix(), path) for folder in folders
            for path in sorted(folder.resolve().rglob("*"))
            if path.suffix == ".urdf" or (path.suffix in (".xml", ".mjcf") and path.is_file() and is_mjcf(path))]


def scenario(path, case, pose, duration, folder, clearance):
    """A scenario file of one case. In a random pose a free robot with a ground starts above it (clearance); for other
    robots that is an error."""
    text = f'model = "{path}"\nduration = {duration}\nseed = {pose}\n'
    dropped = case == "dropped"
    if dropped:
        # The bases of MJCF files and recipes are free where these say so.
        base = 'base = "free"\n' if path.suffix == ".urdf" else ""
        text += base + '[ground]\nkind = "plane"\n'
    initial = ('q = "random"\n' if pose > 0 else "") + ("clearance = 0.05\n" if clearance else "")
    if initial:
        text += "[initial]\n" + initial
    target = Path(folder) / "scenario.toml"
    target.write_text(text)
    return target


def simulate(target, max_wall):
    return subprocess.run([LIMB, "simulate", target, "--json", "--max-wall", str(max_wall)], capture_output=True,
                          text=True, timeout=10 * max_wall)


def run(name, path, case, pose, duration, max_wall):
    """The row of one run, as texts."""
    row = dict.fromkeys(COLUMNS, "")
    row |= {"file": name, "case": case if pose == 0 else f"{case}, pose {pose}"}
    start = time.time()
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = simulate(scenario(path, case, pose, duration, folder, case == "dropped" or pose > 0), max_wall)
            if case == "alone" and done.returncode == 1 and "clearance needs" in done.stderr:
                done = simulate(scenario(path, case, pose, duration, folder, False), max_wall)
        except subprocess.TimeoutExpired:
            return row | {"verdict": "hung", "wall": f"{time.time() - start:.1f}"}
    row["wall"] = f"{time.time() - start:.2f}"
    messages = [line for line in done.stderr.splitlines() if line]
    row["message"] = messages[-1].replace("\t", " ") if messages and done.returncode else ""
    if done.returncode not in (0, 1, 2):
        return row | {"verdict": f"crashed ({done.returncode})"}
    if done.returncode == 1:
        cannot_fall = any(why in row["message"] for why in CANNOT_FALL)
        return row | {"verdict": "not applicable" if cannot_fall else "refused"}
    summary = json.loads(done.stdout or "{}")  # empty if the run could not start
    balance = summary.get("balance") or {}
    values = summary | {key: balance.get(key) for key in ("closure", "exchanged")}
    for key in ("t", "energy_start", "energy_end", "closure", "exchanged", "penetration"):
        value = values.get(key)
        row[key] = "" if value is None else f"{value:.6g}"
    return row | {"verdict": "finished" if done.returncode == 0 else "ended"}


def cases(poses):
    return [(case, pose) for case in ("alone", "dropped") for pose in range(poses + 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, help="folders of robot files, default: the files at hand")
    parser.add_argument("--every", type=int, default=1, help="only every Nth file")
    parser.add_argument("--poses", type=int, default=5, help="random poses per robot and case, default 5")
    parser.add_argument("--duration", type=float, default=2, help="s simulated per run, default 2")
    parser.add_argument("--max-wall", type=float, default=60, help="s of computing per run, default 60")
    parser.add_argument("--only", default="", help="files whose name contains this")
    parser.add_argument("--case", default="", help="alone or dropped, default both")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--output", type=Path, help="all runs as a .tsv file")
    options = parser.parse_args()
    files = files_in(options.folders) if options.folders else all_files()
    jobs = [(name, path, case, pose) for name, path in files[::options.every] if options.only in name
            for case, pose in cases(options.poses) if options.case in ("", case)]
    rows = []
    with ThreadPoolExecutor(options.jobs) as pool, open(options.output or os.devnull, "w") as output:
        print("\t".join(COLUMNS), file=output)
        tasks = [pool.submit(run, *job, options.duration, options.max_wall) for job in jobs]
        for i, task in enumerate(tasks):
            rows.append(task.result())
            print("\t".join(rows[-1][c] for c in COLUMNS), file=output, flush=True)
            if sys.stderr.isatty():
                print(f"\r{i + 1} of {len(tasks)} runs", end="", file=sys.stderr)
    for case in ("alone", "dropped"):
        verdicts = Counter(row["verdict"] for row in rows if row["case"].startswith(case))
        print(f"{case}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    for row in rows:
        if row["verdict"] not in ("finished", "refused", "not applicable"):
            print("  ".join((row["file"], row["case"], row["verdict"], row["t"], row["message"])))


if __name__ == "__main__":
    main()
