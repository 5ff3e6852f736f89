#!/usr/bin/env python3
"""Checks the layering: an include may only point from a module to those that it depends on, as the
CMake files state (limb_module(NAME DEPENDS ...)), and includes form no cycle. Prints one line per
violation, FILE:LINE first, and exits 1 if there is any.

  check_modules.py [ROOT]
"""

import re
import sys
from pathlib import Path, PurePosixPath

from source_files import CPP, source_files

# An X_impl.hpp is internal to its module; these others instantiate it for their own scalars.
IMPL_READERS = {"model": {"dynamics", "symbolic", "codegen"},
                "dynamics": {"symbolic", "codegen"}, "codegen": {"batch"}}
INTERFACES = ("cli", "python", "web", "bench", "tests", "fuzz")

MODULE = re.compile(r"limb_module\(\s*(\w+)([^)]*)\)")
KEYWORDS = ("DEPENDS", "USES", "SOURCES", "TESTS")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def read_dependencies(root: Path) -> dict[str, tuple[str, ...]]:
    """Module -> modules that it may use directly, from the CMake files of limb/*."""
    dependencies = {}
    for file in sorted((root / "limb").glob("*/CMakeLists.txt")):
        text = re.sub(r"#.*", "", file.read_text())
        for name, arguments in MODULE.findall(text):
            words, found, keyword = arguments.split(), [], None
            for word in words:
                if word in KEYWORDS:
                    keyword = word
                elif keyword == "DEPENDS":
                    found.append(word)
            dependencies[name] = tuple(found)
    return dependencies


def reachable(dependencies: dict[str, tuple[str, ...]], module: str) -> set[str]:
    """All modules that `module` may use, directly or not."""
    modules, pending = set(), list(dependencies[module])
    while pending:
        below = pending.pop()
        if below not in modules:
            modules.add(below)
            pending += dependencies.get(below, ())
    return modules


def normalise(path: PurePosixPath) -> PurePosixPath:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return PurePosixPath(*parts)


def module_of(path: PurePosixPath) -> str | None:
    """Name of the module below limb/; None for the interfaces (cli, bench, ...) and libraries."""
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
            in_same_folder = normalise(file.parent / match[2])
            if match[1] == '"' and in_same_folder in known:  # the compiler looks in the same folder first
                target = in_same_folder
            found.append((number, target))
    return includes


def check_include(dependencies, file: PurePosixPath, target: PurePosixPath) -> str | None:
    """What is wrong with this include, or None."""
    module, used = module_of(file), module_of(target)
    if module is None:
        return None
    if module not in dependencies:
        return f"module '{module}' has no limb_module() in limb/{module}/CMakeLists.txt"
    if target.parts[0] in INTERFACES:
        return f"module '{module}' may not include {target}: modules do not use the interfaces"
    if used is None or used == module:
        return None
    allowed = reachable(dependencies, module)
    if used not in allowed:
        return (f"module '{module}' may not include {target}"
                f" (it may use: {', '.join(sorted(allowed)) or 'no module'})")
    if target.name.endswith("_impl.hpp") and module not in IMPL_READERS.get(used, ()):
        return f"module '{module}' may not include {target}: internal to module '{used}'"
    return None


def find_cycles(includes) -> list[list]:
    """Each cycle as the nodes along it, the first repeated at the end."""
    cycles, done, path = [], set(), []

    def visit(node):
        if node in path:
            cycles.append(path[path.index(node):] + [node])
        elif node not in done:
            path.append(node)
            for target in includes.get(node, ()):
                visit(target)
            path.pop()
            done.add(node)

    for node in includes:
        visit(node)
    return cycles


def check(root: Path) -> list[str]:
    dependencies = read_dependencies(root)
    errors = [f"limb/{cycle[0]}/CMakeLists.txt:1: modules depend on each other: {' -> '.join(cycle)}"
              for cycle in find_cycles(dependencies)]
    for module, used in dependencies.items():
        errors += [f"limb/{module}/CMakeLists.txt:1: depends on '{name}', which is not a module"
                   for name in used if name not in dependencies]
    files = [PurePosixPath(path) for path in source_files(root)]
    includes = read_includes(root, [file for file in files if file.suffix in CPP])
    for file, targets in includes.items():
        for number, target in targets:
            if problem := check_include(dependencies, file, target):
                errors.append(f"{file}:{number}: {problem}")
    targets_of = {file: [target for _, target in found] for file, found in includes.items()}
    for cycle in find_cycles(targets_of):
        line = next(number for number, target in includes[cycle[0]] if target == cycle[1])
        errors.append(f"{cycle[0]}:{line}: include cycle: {' -> '.join(map(str, cycle))}")
    return errors


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    errors = check(root)
    print("\n".join(errors) if errors else "check_modules: no forbidden include and no cycle")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
