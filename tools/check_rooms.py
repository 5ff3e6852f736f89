#!/usr/bin/env python3
"""Checks the shape of the repository: includes follow the arrows between rooms, no include cycles,
no long files. Prints one line per violation, FILE:LINE first, and exits 1 if there is any.

  check_rooms.py [ROOT]
"""

import re
import sys
from pathlib import Path, PurePosixPath

from source_files import CPP, source_files

# Room -> rooms it may use; what those may use follows.
ARROWS = {
    "base": (),
    "math": ("base",),
    "model": ("math",),
    "dynamics": ("model",),
    "symbolic": ("dynamics",),
    "codegen": ("symbolic",),
    "batch": ("codegen", "dynamics"),
    "sim": ("dynamics", "batch", "control"),
    "estimate": ("dynamics",),
    "control": ("dynamics",),  # never sim: a controller must run on hardware
    "legged": ("control", "estimate", "sim"),
}
# An X_impl.hpp belongs to its room; these others instantiate it for scalars of their own.
IMPL_READERS = {"model": {"dynamics", "symbolic", "codegen"},
                "dynamics": {"symbolic", "codegen"}, "codegen": {"batch"}}

MAX_LINES = 400
COUNTED = CPP + (".py", ".ts", ".cmake")
LONG_FILES = "tools/long_files.txt"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def reachable(room: str) -> set[str]:
    rooms = set(ARROWS[room])
    for below in ARROWS[room]:
        rooms |= reachable(below)
    return rooms


def normalise(path: PurePosixPath) -> PurePosixPath:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return PurePosixPath(*parts)


def room_of(path: PurePosixPath) -> str | None:
    """Name of the room below limb/; None for the doors (cli, bench, ...) and outside libraries."""
    return path.parts[1] if len(path.parts) > 2 and path.parts[0] == "limb" else None


def read_includes(root: Path, files: list[PurePosixPath]):
    """file -> list of (line number, included path relative to root)."""
    known = set(files)
    includes = {}
    for file in files:
        found = includes[file] = []
        for number, line in enumerate((root / file).read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match is None:
                continue
            target = normalise(PurePosixPath(match[2]))
            beside = normalise(file.parent / match[2])
            if match[1] == '"' and beside in known:  # the compiler looks beside the file first
                target = beside
            found.append((number, target))
    return includes


def check_arrow(file: PurePosixPath, target: PurePosixPath) -> str | None:
    """What is wrong with this include, or None."""
    room, used = room_of(file), room_of(target)
    if room is None:
        return None
    if room not in ARROWS:
        return f"room '{room}' is unknown to tools/check_rooms.py"
    if target.parts[0] in ("cli", "python", "web", "bench", "tests"):
        return f"room '{room}' may not include {target}: rooms do not know the doors"
    if used is None or used == room:
        return None
    allowed = reachable(room)
    if used not in allowed:
        return (f"room '{room}' may not include {target}"
                f" (it may use: {', '.join(r for r in ARROWS if r in allowed) or 'no room'})")
    if target.name.endswith("_impl.hpp") and room not in IMPL_READERS.get(used, ()):
        return f"room '{room}' may not include {target}: internal to room '{used}'"
    return None


def find_cycles(includes) -> list[list[PurePosixPath]]:
    """Each cycle as the files along it, the first repeated at the end."""
    cycles, done, path = [], set(), []

    def visit(file):
        if file in path:
            cycles.append(path[path.index(file):] + [file])
        elif file not in done:
            path.append(file)
            for _, target in includes.get(file, ()):
                visit(target)
            path.pop()
            done.add(file)

    for file in includes:
        visit(file)
    return cycles


def is_counted(file: PurePosixPath) -> bool:
    return file.suffix in COUNTED or file.name in ("run", "CMakeLists.txt")


def check_lengths(root: Path, files: list[PurePosixPath]) -> list[str]:
    lengths = {str(f): len((root / f).read_text().splitlines()) for f in files if is_counted(f)}
    long_files = {name for name, lines in lengths.items() if lines > MAX_LINES}
    errors, excused = [], set()
    listing = root / LONG_FILES
    lines = listing.read_text().splitlines() if listing.exists() else []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, reason = line.strip().partition(" ")
        excused.add(name)
        if not reason.strip():
            errors.append(f"{LONG_FILES}:{number}: {name} has no reason")
        if name not in long_files:
            errors.append(f"{LONG_FILES}:{number}: {name} is no file of more than {MAX_LINES} lines;"
                          " remove the entry")
    errors += [f"{name}:{MAX_LINES + 1}: {lengths[name]} lines, at most {MAX_LINES} are allowed;"
               " find the missing concept and split" for name in sorted(long_files - excused)]
    return errors


def check(root: Path) -> list[str]:
    files = [PurePosixPath(path) for path in source_files(root)]
    includes = read_includes(root, [file for file in files if file.suffix in CPP])
    errors = []
    for file, targets in includes.items():
        for number, target in targets:
            if problem := check_arrow(file, target):
                errors.append(f"{file}:{number}: {problem}")
    for cycle in find_cycles(includes):
        line = next(number for number, target in includes[cycle[0]] if target == cycle[1])
        errors.append(f"{cycle[0]}:{line}: include cycle: {' -> '.join(map(str, cycle))}")
    return errors + check_lengths(root, files)


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    errors = check(root)
    print("\n".join(errors) if errors else "check_rooms: all arrows, cycles and lengths are fine")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
