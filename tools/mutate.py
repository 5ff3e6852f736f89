#!/usr/bin/env python3
"""Measures how many seeded faults the tests catch.

Draws mutants by rule from the sources (an operator exchanged, a number changed, a condition negated, a
statement removed), builds one copy of the tree that contains all of them behind a switch, and runs
for each mutant the tests that reach it, until one fails. Prints a table of killed and survived mutants
per module and a list of the survivors.

  mutate.py                        draw, build and run 360 mutants; continues where it was stopped
  mutate.py --count 600 --seed 2   another sample
  mutate.py --nan 60               plant also 60 NaNs in returned values
  mutate.py --module sim           only one module
  mutate.py --table                print the table of the last run
  mutate.py --again                run the survivors again, after an edit of the tests (and a new build)

Needs the Debian package python3-clang (run it with /usr/bin/python3) and a machine for an hour or
two; everything is written to build-mutate/.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import math
import os
import pickle
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from source_files import source_files

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build-mutate"
TREE = FOLDER / "limb"
BUILD = TREE / "build"
SWITCH = "limb/mutant_switch.hpp"
PER_FILE = 4            # at most, so that the sample is spread
SURPLUS = 1.2           # some mutants do not compile
MEMORY = 8 << 30        # bytes per process of a test; a mutant may allocate without bound
FACTOR, PATIENCE = 10, 30  # a test hangs after FACTOR times its time plus PATIENCE seconds
BUDGET = 90             # seconds of tests per mutant besides those of its own module, the shortest first
# Read or compile the sources themselves, or compare texts of the tree.
LEFT_OUT = re.compile(r"^(docs/|tools/|format|tests/consumer|install|api/)")


def say(text: str) -> None:
    print(text, flush=True)


def module_of(file: str) -> str:
    parts = file.split("/")
    return parts[1] if parts[0] == "limb" else parts[0]


def is_mutated(path: Path) -> bool:
    name = str(path)
    return (name.startswith(("limb/", "cli/")) and path.suffix in (".cpp", ".hpp") and "/testing/" not in name
            and "_test" not in path.stem)


def order(seed: int, *parts) -> str:
    """A key that depends on nothing but its arguments: edits elsewhere keep the sample."""
    return hashlib.sha1("\0".join(map(str, (seed, *parts))).encode()).hexdigest()


# ---- Draw

def compile_arguments(commands: list[dict]) -> dict[str, list[str]]:
    """File -> arguments for libclang; a header gets those of a source of its module."""
    result: dict[str, list[str]] = {}
    for entry in commands:
        words = shlex.split(entry["command"])
        kept, skip = [], False
        for word in words[1:]:
            if skip:
                skip = False
            elif word in ("-o", "-c", "-include", "-x"):
                skip = True
            elif word.startswith(("-I", "-D", "-std", "-isystem")) or not word.startswith("-"):
                kept.append(word)
        kept = [word for word in kept if not word.endswith((".cpp", ".o", "c++"))]
        path = Path(entry["file"])
        if path.is_relative_to(TREE):
            result[str(path.relative_to(TREE))] = kept
    return result


def arguments_for(file: str, known: dict[str, list[str]]) -> list[str]:
    flags = known.get(file)
    if flags is None:
        module = "/".join(file.split("/")[:2 if file.startswith("limb/") else 1]) + "/"
        flags = next((known[name] for name in sorted(known)
                      if name.startswith(module) and "_test" not in name), [])
    return ["-x", "c++", "-w", "-ferror-limit=0", *flags]


def candidates(file: str, arguments: list[str]) -> list:
    """All places of a file to which a rule applies; kept per content, because parsing takes seconds."""
    from mutation import find_mutants
    content = hashlib.sha1((ROOT / file).read_bytes()).hexdigest()
    kept = FOLDER / "candidates" / f"{find_mutants.VERSION}-{order(0, file, content)}"
    if kept.exists():
        return pickle.loads(kept.read_bytes())
    found = find_mutants.Finder(ROOT, Path(file), arguments).found
    kept.parent.mkdir(exist_ok=True)
    temporary = kept.with_suffix(f".{os.getpid()}")
    temporary.write_bytes(pickle.dumps(found))
    temporary.replace(kept)
    return found


def draw_file(job) -> list:
    """The mutants of one file in the order of the draw: no two overlap. Those of the rule nan are drawn apart."""
    file, arguments, seed, nan = job
    chosen, planted, seen = [], [], collections.Counter()
    lines = (ROOT / file).read_text().splitlines()
    keyed = []
    for mutant in candidates(file, arguments):
        text = lines[mutant.line - 1].strip()
        seen[(text, mutant.rule, mutant.change)] += 1
        keyed.append((order(seed, file, text, mutant.rule, mutant.change, mutant.column,
                            seen[(text, mutant.rule, mutant.change)]), mutant))
    def select(selected: list, limit: int, rule_is_nan: bool) -> None:
        for _, mutant in sorted(keyed, key=lambda entry: entry[0]):
            if len(selected) == limit:
                break
            if (mutant.rule == "nan") == rule_is_nan and all(mutant.end <= other.begin or other.end <= mutant.begin
                                                             for other in chosen + planted):
                selected.append(mutant)

    select(chosen, PER_FILE, False)
    if nan:
        select(planted, 1, True)
    return chosen + planted


def draw(count: int, nan: int, seed: int, module: str | None, jobs: int) -> list:
    """About `count` mutants and `nan` planted NaNs: per module in proportion to the root of its lines, at most
    PER_FILE and one NaN per file."""
    files = collections.defaultdict(list)
    for path in source_files(ROOT):
        if is_mutated(path) and module in (None, module_of(str(path))):
            files[module_of(str(path))].append(str(path))
    if not files:
        sys.exit(f"mutate: no module is named '{module}'")
    size = {name: math.sqrt(sum(len((ROOT / file).read_bytes().splitlines()) for file in members))
            for name, members in files.items()}
    known = compile_arguments(json.loads((BUILD / "compile_commands.json").read_text()))
    sample = []
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        for name, members in sorted(files.items()):
            share = SURPLUS * size[name] / sum(size.values())
            quota, nan_quota = math.ceil(count * share), math.ceil(nan * share)
            members.sort(key=lambda file: order(seed, file))
            found, planted = [], []
            step = 4 * jobs
            for start in range(0, len(members), step):
                for mutants in pool.map(draw_file, [(file, arguments_for(file, known), seed, nan > 0)
                                                    for file in members[start:start + step]]):
                    found += [mutant for mutant in mutants if mutant.rule != "nan"]
                    planted += [mutant for mutant in mutants if mutant.rule == "nan"]
                if len(found) >= quota and len(planted) >= nan_quota:
                    break
            sample += found[:quota] + planted[:nan_quota]
            say(f"mutate: {name}: {len(found[:quota])} mutants and {len(planted[:nan_quota])} NaNs "
                f"of {len(members)} files")
    return sample


# ---- Build

def copy_tree() -> None:
    TREE.mkdir(parents=True, exist_ok=True)
    tracked = set()
    for path in source_files(ROOT):
        tracked.add(str(path))
        target = TREE / path
        target.parent.mkdir(parents=True, exist_ok=True)
        content = (ROOT / path).read_bytes()
        if not target.exists() or (target.read_bytes() != content and not is_mutated(path)):
            shutil.copy(ROOT / path, target)  # patch() writes the files with mutants
    for path in list(TREE.rglob("*")):
        name = path.relative_to(TREE)
        if path.is_file() and not path.is_symlink() and name.parts[0] not in ("build", ".venv", ".qp", ".node") \
                and str(name) not in tracked and str(name) != SWITCH:
            path.unlink()
    for name in (".venv", ".qp", ".node"):
        if (ROOT / name).exists() and not (TREE / name).exists():
            (TREE / name).symlink_to((ROOT / name).resolve())
    shared = ROOT.parent / "shared"
    if shared.exists() and not (FOLDER / "shared").exists():
        (FOLDER / "shared").symlink_to(shared.resolve())
    write_if_changed(TREE / SWITCH, (ROOT / "tools/mutation/mutant_switch.hpp").read_bytes())


def write_if_changed(path: Path, content: bytes) -> None:
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)


def configure() -> None:
    subprocess.run(["cmake", "--preset", "release", "-DLIMB_WERROR=OFF", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"],
                   cwd=TREE, check=True, stdout=subprocess.DEVNULL)


def patch(mutants: dict[int, object]) -> None:
    from mutation.mutant import apply
    by_file = collections.defaultdict(list)
    for number, mutant in mutants.items():
        by_file[mutant.file].append((number, mutant))
    for path in source_files(ROOT):
        if not is_mutated(path):
            continue
        text = (ROOT / path).read_bytes()
        if str(path) in by_file:
            text = apply(text, by_file[str(path)])
            # On the first line, so that line numbers stay.
            text = b'#include "%s"\n#line 1\n' % SWITCH.encode() + text
        write_if_changed(TREE / path, text)


def build(mutants: dict[int, object], jobs: int) -> None:
    """Builds everything, the lowest modules first: their headers are part of all others."""
    modules = re.search(r"foreach\(module ([^)]*)\)", (ROOT / "CMakeLists.txt").read_text())[1].split()
    for target in (*(f"limb_{module}" for module in modules), "all"):
        build_target(target, mutants, jobs)


def build_target(target: str, mutants: dict[int, object], jobs: int) -> None:
    """Mutants on lines that a compile error names are taken out until the target builds."""
    while True:
        patch(mutants)
        say(f"mutate: building {target} with {len(mutants)} mutants")
        with (FOLDER / "build.log").open("w") as log:
            status = subprocess.run(["cmake", "--build", BUILD, "--parallel", str(jobs), "--target", target,
                                     "--", "-k", "0"], stdout=log, stderr=subprocess.STDOUT).returncode
        if status == 0:
            return
        named, files = set(), set()
        for block in re.split(r"^FAILED: ", (FOLDER / "build.log").read_text(), flags=re.M)[1:]:
            for line in block.splitlines():
                match = re.match(r"(\S+?):(\d+):(?:\d+:)?\s*(.*)", line)
                if match and ("error" in match[3] or "required" in match[3] or "note" in match[3]):
                    path = Path(match[1]) if Path(match[1]).is_absolute() else BUILD / match[1]
                    try:
                        file = str(Path(os.path.normpath(path)).relative_to(TREE))
                    except ValueError:
                        continue
                    named.add((file, int(match[2])))
                    files.add(file)
        blamed = [number for number, mutant in mutants.items()
                  if any((mutant.file, line) in named
                         for line in range(mutant.line - 1, mutant.line + 2))]
        if not blamed:
            blamed = [number for number, mutant in mutants.items() if mutant.file in files]
        if not blamed:
            sys.exit(f"mutate: the build fails and no mutant is to blame, see {FOLDER / 'build.log'}")
        say(f"mutate: {len(blamed)} mutants do not compile")
        for number in blamed:
            del mutants[number]


# ---- Run

@dataclasses.dataclass
class Test:
    name: str
    command: list[str]
    environment: dict[str, str]
    folder: str
    labels: list[str]
    skip: int | None
    seconds: float = 0.0
    reached: frozenset = frozenset()


def all_tests() -> list[Test]:
    shown = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"], check=True,
                           capture_output=True, text=True).stdout
    tests = []
    for entry in json.loads(shown)["tests"]:
        properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
        if LEFT_OUT.match(entry["name"]):
            continue
        environment = dict(line.split("=", 1) for line in properties.get("ENVIRONMENT", []))
        skip = properties.get("SKIP_RETURN_CODE")
        tests.append(Test(entry["name"], entry["command"], environment,
                          properties.get("WORKING_DIRECTORY", str(BUILD)), properties.get("LABELS", []), skip))
    return tests


def run_test(test: Test, mutant: int, limit: float, reached: Path | None = None) -> str:
    """passed, failed, skipped or hung."""
    environment = {**os.environ, **test.environment, "GTEST_FAIL_FAST": "1", "PYTEST_ADDOPTS": "-x"}
    if mutant:
        environment["LIMB_MUTANT"] = str(mutant)
    if reached:
        environment["LIMB_MUTANTS_REACHED"] = str(reached)
    process = subprocess.Popen(
        test.command, cwd=test.folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY)))
    try:
        status = process.wait(limit)
    except subprocess.TimeoutExpired:
        status = None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    if status is None:
        return "hung"
    if status == 0:
        return "passed"
    return "skipped" if status == test.skip else "failed"


def measure(test: Test) -> tuple[Test, str]:
    """Time of a test without a mutant, and the mutants that it reaches."""
    from_capacity = 1 << 14
    with tempfile.TemporaryDirectory() as scratch:
        reached = Path(scratch) / "reached"
        reached.write_bytes(bytes(from_capacity))
        start = time.monotonic()
        result = run_test(test, 0, 1500, reached)
        test.seconds = time.monotonic() - start
        test.reached = frozenset(number for number, byte in enumerate(reached.read_bytes()) if byte)
    return test, result


def judge(number: int, module: str, tests: list[Test]) -> dict:
    """The first test that fails with the mutant; tests of its module and short ones run first. Long tests of
    other modules that reach everything are left out, so that a survivor does not cost the whole suite."""
    reaching = [test for test in tests if number in test.reached]
    reaching.sort(key=lambda test: test.seconds * (0.2 if module in test.labels else 1.0))
    spent = 0.0
    for test in reaching:
        if module not in test.labels:
            spent += test.seconds
            if spent > BUDGET:
                continue
        result = run_test(test, number, FACTOR * test.seconds + PATIENCE)
        if result in ("failed", "hung"):
            return {"killed": test.name, "how": result, "reached": len(reaching)}
    return {"killed": None, "reached": len(reaching)}


def measure_all(jobs: int) -> tuple[list[Test], list[str]]:
    """All tests that pass without a mutant, and the names of those that do not; kept until the next build."""
    stamp = [str((BUILD / ".ninja_log").stat().st_mtime_ns),
             order(0, *((ROOT / path).read_bytes() for path in source_files(ROOT) if path.suffix == ".py"))]
    kept = FOLDER / "tests.pickle"
    if kept.exists():
        known, tests, failing = pickle.loads(kept.read_bytes())
        if known == stamp:
            return tests, failing
    tests, failing = [], []
    everything = all_tests()
    say(f"mutate: running {len(everything)} tests without a mutant")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for test, result in pool.map(measure, everything):
            if result in ("failed", "hung"):
                say(f"mutate: {test.name} {result} without a mutant; left out")
                failing.append(test.name)
            else:
                tests.append(test)
    kept.write_bytes(pickle.dumps((stamp, tests, failing)))
    return tests, failing


def save(path: Path, value) -> None:
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(value, indent=1))
    temporary.replace(path)


# ---- Report

def table(state: dict) -> str:
    results = state["results"]
    killed, total, hung = collections.Counter(), collections.Counter(), collections.Counter()
    rules, rules_killed = collections.Counter(), collections.Counter()
    for number, mutant in state["mutants"].items():
        if number not in results:
            continue
        module = module_of(mutant["file"])
        total[module] += 1
        rules[mutant["rule"]] += 1
        if results[number]["killed"]:
            killed[module] += 1
            rules_killed[mutant["rule"]] += 1
            hung[module] += results[number]["how"] == "hung"
    lines = [f"{'module':12} {'mutants':>8} {'killed':>8} {'survived':>9} {'killed %':>9}"]
    for module in sorted(total):
        lines.append(f"{module:12} {total[module]:8} {killed[module]:8} {total[module] - killed[module]:9} "
                     f"{100 * killed[module] / total[module]:9.1f}")
    everything, dead = sum(total.values()), sum(killed.values())
    if everything:
        lines.append(f"{'all':12} {everything:8} {dead:8} {everything - dead:9} {100 * dead / everything:9.1f}")
    lines.append("")
    lines += [f"{rule:12} {rules[rule]:8} {rules_killed[rule]:8} {rules[rule] - rules_killed[rule]:9} "
              f"{100 * rules_killed[rule] / rules[rule]:9.1f}" for rule in sorted(rules)]
    survivors = [(mutant["file"], mutant["line"], mutant["rule"], mutant["change"], results[number]["reached"])
                 for number, mutant in state["mutants"].items()
                 if number in results and not results[number]["killed"]]
    lines += ["", f"Survivors (tests that reach them): {len(survivors)}"]
    lines += [f"  {file}:{line}: {rule}: {change} ({reached})"
              for file, line, rule, change, reached in sorted(survivors)]
    if state.get("failing"):
        lines += ["", "Left out, because they fail without a mutant: " + ", ".join(state["failing"])]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=360, help="mutants to draw (default 360)")
    parser.add_argument("--nan", type=int, default=0, metavar="N",
                        help="plant also about N NaNs in returned values (default 0)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default 1)")
    parser.add_argument("--module", help="mutate only this module, for example sim or cli")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="parallel jobs (default: all cores)")
    parser.add_argument("--again", action="store_true", help="build again and run only what survived")
    parser.add_argument("--draw-only", action="store_true", help="print the mutants, do not build")
    parser.add_argument("--table", action="store_true", help="print the table of the last run")
    arguments = parser.parse_args()
    if arguments.count < 1 or arguments.jobs < 1 or arguments.nan < 0:
        parser.error("--count and --jobs are at least 1, --nan is at least 0")
    sys.path.insert(0, str(Path(__file__).parent))
    record = FOLDER / "mutants.json"
    state = json.loads(record.read_text()) if record.exists() else {}
    if arguments.table:
        if not state:
            sys.exit("mutate: there is no run to print yet")
        print(table(state))
        return 0
    try:
        import clang.cindex  # noqa: F401
    except ImportError:
        sys.exit("mutate: needs the Debian package python3-clang, and /usr/bin/python3 to run it")

    options = [arguments.count, arguments.nan, arguments.seed, arguments.module]
    copy_tree()
    configure()
    mutants = dict(enumerate(draw(arguments.count, arguments.nan, arguments.seed, arguments.module,
                                 arguments.jobs), 1))
    if arguments.draw_only:
        for mutant in mutants.values():
            print(f"{mutant.file}:{mutant.line}: {mutant.rule}: {mutant.change}")
        return 0
    build(mutants, arguments.jobs)

    tests, failing = measure_all(arguments.jobs)
    # Results of an earlier run of the same draw are kept: what was killed stays killed.
    earlier = {}
    if state.get("options") == options:
        earlier = {key(mutant): state["results"][number] for number, mutant in state["mutants"].items()
                   if number in state["results"]}
        if arguments.again:
            earlier = {name: result for name, result in earlier.items() if result["killed"]}
    state = {"options": options, "failing": failing, "results": {},
             "mutants": {str(number): {"file": mutant.file, "line": mutant.line, "rule": mutant.rule,
                                       "column": mutant.column, "change": mutant.change}
                         for number, mutant in mutants.items()}}
    pending = []
    for number, mutant in state["mutants"].items():
        if key(mutant) in earlier:
            state["results"][number] = earlier[key(mutant)]
        else:
            pending.append(number)
    say(f"mutate: {len(pending)} mutants to run")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        futures = {pool.submit(judge, int(number), module_of(state["mutants"][number]["file"]), tests): number
                   for number in pending}
        for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
            number = futures[future]
            mutant = state["mutants"][number]
            result = state["results"][number] = future.result()
            verdict = f"killed by {result['killed']}" if result["killed"] else "SURVIVED"
            say(f"[{done}/{len(pending)}] {mutant['file']}:{mutant['line']}: {mutant['change']}: {verdict}")
            save(record, state)
    save(record, state)
    print(table(state))
    return 0


def key(mutant: dict) -> tuple:
    return (mutant["file"], mutant["line"], mutant["column"], mutant["rule"], mutant["change"])


if __name__ == "__main__":
    sys.exit(main())
