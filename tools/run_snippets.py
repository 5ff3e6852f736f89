#!/usr/bin/env python3
"""Executes every fenced block of README.md and docs/**/*.md and compares what it prints.

  sh    each line runs in the repository root with the built `limb` on PATH and must exit 0.
        Lines are independent shells. Lines of ./run are only checked to name a verb of it,
        except the bare ./run, whose output is that of `limb demo`.
  cpp   a complete program: compiled against the build tree, linked with limb::limb, run.
  toml  a complete recipe: `limb check` must read it and find no error.
  python  the blocks of a document run in one session with the package of the build.
  text  directly after sh, cpp or python: exactly what that block prints on stdout.

Blocks of any other kind are listed, not executed. /tmp/ in a block is replaced by a folder of this
run. A failure is reported as FILE:LINE: what.
"""

import argparse
import difflib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import skips

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*([^\s`]*)")
BUILT_CLI = re.compile(r"(?<![\w/.-])(\./)?build/limb(?![\w/.-])")
RUN_VERB = re.compile(r"^verb_(\w+)\(\)", re.MULTILINE)
LOOKS_LIKE_SHELL = {"bash", "shell", "console", "zsh", "bash-console", "shell-session", "sh-session"}
# A document test must not change the machine or depend on a network.
NEVER_RUN = {"sudo", "apt", "apt-get", "pip", "git", "curl", "wget"}
TIMEOUT_S = 3600  # only against hangs: a busy machine needs a tenth of it
TEMPORARY = re.compile(r"(?<![\w.])/tmp/")
NO_SOLVER = "limb was built without a solver of quadratic programs"  # limb/control/qp/qp.cpp

CMAKE_PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(snippets LANGUAGES CXX)
find_package(limb REQUIRED)
foreach(name {names})
  add_executable(${{name}} ${{name}}.cpp)
  target_link_libraries(${{name}} PRIVATE limb::limb)
endforeach()
"""

# Runs the blocks of a document one after the other; tracebacks name the document and its line.
PYTHON_SESSION = """\
import contextlib, io, json, sys, traceback
scope, results = {"__name__": "__main__"}, []
for file, line, text in json.load(sys.stdin):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile("\\n" * (line - 1) + text, file, "exec"), scope)
        results.append([out.getvalue(), ""])
    except BaseException:
        results.append(["", traceback.format_exc()])
json.dump(results, sys.stdout)
"""


class Failure(Exception):
    """Text starts with FILE:LINE."""


class Skipped(Exception):
    """A block that this build cannot run: FILE:LINE, and the reason."""


@dataclass
class Block:
    file: str
    line: int  # of the first line inside the fence
    language: str
    lines: list[str]
    follows: "Block | None"  # the block that ends just above, with only blank lines between

    def where(self, offset: int = 0) -> str:
        return f"{self.file}:{self.line + offset}"

    def text(self) -> str:
        return "".join(line + "\n" for line in self.lines)


def parse(file: str, text: str) -> list[Block]:
    blocks: list[Block] = []
    current = fence = above = None
    indent = 0
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if current is not None:
            if match and match[2].startswith(fence) and line.strip() == match[2]:
                blocks.append(current)
                current, above = None, current
            else:
                current.lines.append(line[min(indent, len(line) - len(line.lstrip(" "))):])
        elif match:
            indent, fence = len(match[1]), match[2]
            current = Block(file, number + 1, match[3], [], above)
        elif line.strip():
            above = None
    if current is not None:
        raise Failure(f"{current.where(-1)}: this fence is never closed")
    return blocks


def commands(block: Block):
    """(offset, command) for each line, comments and blank lines left out, continuations joined."""
    start, joined = 0, ""
    for offset, line in enumerate(block.lines):
        if not joined:
            start = offset
        joined += line
        if joined.endswith("\\"):
            joined = joined[:-1] + " "
            continue
        if joined.strip() and not joined.lstrip().startswith("#"):
            yield start, joined
        joined = ""
    if joined:
        raise Failure(f"{block.where(start)}: the block ends in the middle of a command")


def first_words(command: str, where: str) -> list[list[str]]:
    """The words of each simple command in the line."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|()<>")
    lexer.whitespace_split = True
    parts: list[list[str]] = [[]]
    try:
        for word in lexer:
            if set(word) <= set(";&|()"):
                parts.append([])
            else:
                parts[-1].append(word)
    except ValueError as error:
        raise Failure(f"{where}: not a shell command ({error}): {command}") from None
    return [part for part in parts if part]


class Runner:
    def __init__(self, root: Path, build: Path, compiler: str, flags: str):
        self.root, self.build, self.compiler, self.flags = root, build, compiler, flags
        self.cli = build / "limb"
        self.verbs = set(RUN_VERB.findall((root / "run").read_text()))
        self.scratch = build / "snippets"
        self.skipped: list[tuple[str, str]] = []  # FILE:LINE and the reason
        self.temporary = tempfile.TemporaryDirectory(prefix="limb_snippets_")
        # Built without proxsuite (cmake/LimbProxsuite.cmake): blocks that need it are left out.
        commands_file = build / "compile_commands.json"
        self.without_solver = commands_file.exists() and "qp_none.cpp" in commands_file.read_text()

    def skip(self, where: str, reason: str) -> None:
        print(f"{where}: not executed: {reason}")
        self.skipped.append((where, reason))

    def with_own_folder(self, text: str) -> str:
        """The text of a block with /tmp/ replaced by the temporary folder of this run."""
        return TEMPORARY.sub(lambda _: self.temporary.name + "/", text)

    def with_tmp(self, printed: str) -> str:
        """The inverse, for what a block prints."""
        return printed.replace(self.temporary.name + "/", "/tmp/")

    def execute(self, command: list[str], where: str) -> str:
        environment = {**os.environ, "PATH": f"{self.build}{os.pathsep}{os.environ['PATH']}"}
        try:
            done = subprocess.run(command, cwd=self.root, env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise Failure(f"{where}: still running after {TIMEOUT_S} s") from None
        if done.returncode != 0:
            if self.without_solver and NO_SOLVER in done.stderr:
                raise Skipped(where, NO_SOLVER)
            raise Failure(f"{where}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return self.with_tmp(done.stdout)

    def run_shell(self, block: Block) -> str | None:
        """What the block prints; None if that is unknown, because it calls ./run."""
        output: str | None = ""
        for offset, command in commands(block):
            where = block.where(offset)
            parts = first_words(command, where)
            for words in parts:
                if words[0] in NEVER_RUN:
                    raise Failure(f"{where}: '{words[0]}' is not run here; write it as prose")
            if any(words[0] == "./run" for words in parts):
                if len(parts) > 1:
                    raise Failure(f"{where}: ./run must be the only command of its line")
                verb = parts[0][1] if len(parts[0]) > 1 else None
                if verb is not None:
                    if verb.lstrip("-") not in self.verbs:
                        raise Failure(f"{where}: ./run has no verb '{verb}'"
                                      f" (it has: {', '.join(sorted(self.verbs))})")
                    output = None
                    continue
                command = "limb demo"
            command = BUILT_CLI.sub(lambda _: shlex.quote(str(self.cli)), self.with_own_folder(command))
            printed = self.execute(["bash", "-euo", "pipefail", "-c", command], where)
            output = None if output is None else output + printed
        return output

    def run_python(self, blocks: list[Block]) -> dict[int, str | Failure]:
        """What each block prints; blocks of one document share their variables."""
        if not blocks:
            return {}
        if not (self.build / "python/limb/__init__.py").exists():
            for block in blocks:
                self.skip(block.where(), "the Python package is not built")
            return {}
        python = self.root / ".venv/bin/python"
        environment = {**os.environ, "PYTHONPATH": str(self.build / "python")}
        results: dict[int, str | Failure] = {}
        for file in dict.fromkeys(block.file for block in blocks):
            session = [block for block in blocks if block.file == file]
            done = subprocess.run(
                [str(python) if python.exists() else sys.executable, "-B", "-c", PYTHON_SESSION],
                input=json.dumps([[b.file, b.line, self.with_own_folder(b.text())] for b in session]),
                cwd=self.root,
                env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
            if done.returncode != 0:
                raise Failure(f"{session[0].where()}: the session died\n{done.stderr}")
            for block, (printed, trace) in zip(session, json.loads(done.stdout)):
                results[id(block)] = (Failure(f"{block.where()}: {trace}") if trace
                                      else self.with_tmp(printed))
        return results

    def check_recipe(self, block: Block) -> None:
        self.scratch.mkdir(exist_ok=True)
        path = self.scratch / (re.sub(r"\W", "_", f"{block.file}_{block.line}") + ".toml")
        # Messages then name the line of the document.
        path.write_text("\n" * (block.line - 1) + block.text())
        self.execute([str(self.cli), "check", str(path)], block.where())

    def compile(self, blocks: list[Block]) -> dict[int, Path]:
        """Builds all cpp blocks as one CMake project; returns the program of each by id()."""
        if not blocks:
            return {}
        self.scratch.mkdir(exist_ok=True)
        programs = {}
        for block in blocks:
            name = re.sub(r"\W", "_", f"{block.file}_{block.line}")
            # Compiler messages then name the document and its line.
            source = f'#line {block.line} "{block.file}"\n{self.with_own_folder(block.text())}'
            path = self.scratch / f"{name}.cpp"
            if not path.exists() or path.read_text() != source:
                path.write_text(source)
            programs[id(block)] = self.scratch / "build" / name
        names = " ".join(program.name for program in programs.values())
        (self.scratch / "CMakeLists.txt").write_text(CMAKE_PROJECT.format(names=names))
        places = " ".join(block.where() for block in blocks)
        self.execute(["cmake", "-S", str(self.scratch), "-B", str(self.scratch / "build"),
                      "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-Dlimb_DIR={self.build}",
                      f"-DCMAKE_CXX_COMPILER={self.compiler}", f"-DCMAKE_CXX_FLAGS={self.flags}"],
                     places)
        self.execute(["cmake", "--build", str(self.scratch / "build")], places)
        return programs

    def run(self, blocks: list[Block]) -> list[Failure]:
        failures = []
        programs: dict[int, Path] = {}
        try:
            programs = self.compile([block for block in blocks if block.language == "cpp"])
        except Failure as failure:
            failures.append(failure)
        try:
            sessions = self.run_python([block for block in blocks if block.language == "python"])
        except Failure as failure:
            failures.append(failure)
            sessions = {}
        outputs: dict[int, str | None] = {}
        for block in blocks:
            try:
                if id(block) in sessions:
                    result = sessions[id(block)]
                    if isinstance(result, Failure):
                        if self.without_solver and NO_SOLVER in str(result):
                            raise Skipped(block.where(), NO_SOLVER)
                        raise result
                    outputs[id(block)] = result
                elif block.language == "sh":
                    outputs[id(block)] = self.run_shell(block)
                elif block.language == "cpp" and id(block) in programs:
                    outputs[id(block)] = self.execute([str(programs[id(block)])], block.where())
                elif block.language == "toml":
                    self.check_recipe(block)
                elif block.language == "text" and id(block.follows) in outputs:
                    compare(block, outputs[id(block.follows)])
                elif block.language in LOOKS_LIKE_SHELL:
                    raise Failure(f"{block.where(-1)}: write sh, not {block.language}")
                elif block.language not in ("cpp", "text", "python"):
                    print(f"{block.where(-1)}: not executed: {block.language or '(no language)'}")
            except Skipped as skipped:
                self.skip(*skipped.args)
            except Failure as failure:
                failures.append(failure)
        return failures


def compare(block: Block, printed: str | None) -> None:
    if printed is None:
        raise Failure(f"{block.where()}: output of a ./run verb cannot be checked; remove this block")
    expected = block.text()
    if printed != expected:
        difference = difflib.unified_diff(expected.splitlines(), printed.splitlines(),
                                          "written", "printed", lineterm="")
        raise Failure(f"{block.where()}: the block above prints something else\n" +
                      "\n".join(difference))


def documents(root: Path) -> list[Path]:
    found = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return [path for path in found if path.is_file()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    parser.add_argument("--build", type=Path, required=True, help="its build folder")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--flags", default="", help="for the compiler, for example -fsanitize=address")
    options = parser.parse_args()

    root = options.root.resolve()
    failures, blocks = [], []
    for path in documents(root):
        try:
            blocks += parse(str(path.relative_to(root)), path.read_text())
        except Failure as failure:
            failures.append(failure)
    executed = sum(block.language in ("sh", "cpp", "toml", "python") for block in blocks)
    if executed == 0 and not failures:
        failures.append(Failure("README.md:1: no sh, cpp, toml or python block to execute"))
    runner = Runner(root, options.build.resolve(), options.compiler, options.flags)
    failures += runner.run(blocks)
    skips.record(runner.skipped)
    for failure in failures:
        print(failure, file=sys.stderr)
    executed -= len(runner.skipped)
    print(f"snippets: {executed} blocks executed, {len(runner.skipped)} skipped, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
