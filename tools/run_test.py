#!/usr/bin/env python3
"""The run script: wrong use, and machines on which nothing can be installed."""

import hashlib
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

RUN = Path(__file__).resolve().parent.parent / "run"


def call(*arguments, path="", cwd=None):
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]}
    return subprocess.run([RUN, *arguments], cwd=cwd, env=environment, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)


class Run(unittest.TestCase):
    def test_help_in_all_spellings_and_from_any_folder(self):
        for spelling in ("help", "--help", "-h"):
            done = call(spelling, cwd="/")
            self.assertEqual(done.returncode, 0)
            self.assertIn("./run test", done.stdout)

    def test_help_names_every_verb(self):
        text = call("help").stdout
        for verb in ("build", "test", "sanitize", "bench", "fuzz", "docs", "format", "tidy", "help"):
            self.assertIn(f"./run {verb}", text)

    def test_unknown_verb_is_named_and_help_is_shown(self):
        for verb in ("tset", "packages", "verb_test", "-x", "a b"):
            done = call(verb)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"run: unknown verb '{verb}'", done.stderr)
            self.assertIn("./run test", done.stderr)

    def test_unknown_preset_lists_the_known(self):
        for verb in ("build", "test"):
            done = call(verb, "--preset", "relase")
            self.assertEqual(done.returncode, 1)
            self.assertIn("unknown " + verb + " preset 'relase', expected one of: release dev", done.stderr)

    def test_unknown_argument_of_build(self):
        done = call("build", "--wrong")
        self.assertEqual(done.returncode, 1)
        self.assertIn("build: unknown argument '--wrong'", done.stderr)

    def test_unknown_fuzz_target_lists_the_known(self):
        done = call("fuzz", "read_urdf", "read_udrf", "--time", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("fuzz: unknown target 'read_udrf', expected one of: read_urdf read_mjcf", done.stderr)

    def test_time_of_fuzz_is_a_number_of_seconds(self):
        for time in ("0", "-1", "1m"):
            done = call("fuzz", "read_urdf", "--time", time)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"fuzz: --time is '{time}', expected seconds", done.stderr)

    def test_unknown_option_of_fuzz(self):
        done = call("fuzz", "read_urdf", "--fats")
        self.assertEqual(done.returncode, 1)
        self.assertIn("fuzz: unknown option '--fats'", done.stderr)

    def test_missing_packages_that_cannot_be_installed_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            self.fake(folder, "dpkg-query", "echo installed cmake\nexit 1")
            self.fake(folder, "apt-get", "exit 1")
            self.fake(folder, "sudo", "exit 1")
            done = call("build", path=folder)
        self.assertEqual(done.returncode, 1)
        last = done.stderr.splitlines()[-1]
        self.assertIn("please install them by hand: build-essential ninja-build", last)
        self.assertNotIn("cmake", last)

    def test_only_missing_packages_are_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            self.fake(folder, "dpkg-query",
                      'for name in "$@"; do [ $name = libfmt-dev ] || echo installed $name; done')
            self.fake(folder, "apt-get", f'echo "$@" >> {folder}/log')
            self.fake(folder, "sudo", 'exec "$@"')
            call("build", "--preset", "stop-here", path=folder)
            log = Path(folder, "log").read_text().splitlines()
        self.assertEqual(len(log), 2, log)
        self.assertTrue(log[0].startswith("update"))
        self.assertTrue(log[1].endswith("--no-install-recommends libfmt-dev"))

    def test_sanitize_runs_both_presets_and_sums_them_up(self):
        """In a copy of the repository with a cmake that does nothing and a ctest that fails for one preset."""
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "limb")
            (copy / "tools").mkdir(parents=True)
            for name in ("run", "CMakePresets.json", "tools/skips.py", "tools/requirements-test.txt",
                         "tools/requirements-node.txt", "tools/requirements-build.txt"):
                shutil.copy(RUN.parent / name, copy / name)
            for name, kind in ((".venv", "test"), (".node", "node"), (".qp", "build")):  # as if installed
                (copy / name).mkdir()
                digest = hashlib.sha256((copy / f"tools/requirements-{kind}.txt").read_bytes()).hexdigest()
                (copy / name / ".requirements").write_text(f"{digest}  -\n")
            for name in ("asan-ubsan", "tsan"):
                (copy / f"build-{name}").mkdir()
            self.fake(folder, "dpkg-query", 'for name in "$@"; do echo installed $name; done')
            self.fake(folder, "cmake", 'case $1 in --list-presets=*) echo "  \\"asan-ubsan\\" - a"; echo "  \\"tsan\\"";; esac')
            self.fake(folder, "ctest", f'echo "$@" >> {folder}/log\n'
                      'case $2 in tsan) echo "50% tests passed, 1 tests failed out of 2"; exit 8;; esac\n'
                      'echo "100% tests passed, 0 tests failed out of 2"')
            environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "LIMB_JOBS": "3"}
            done = subprocess.run([copy / "run", "sanitize", "-R", "math"], env=environment, capture_output=True,
                                  text=True, stdin=subprocess.DEVNULL)
            log = Path(folder, "log").read_text().splitlines()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(log, ["--preset asan-ubsan --parallel 3 --label-exclude ^(tools|api)$ -R math",
                               "--preset tsan --parallel 3 --label-regex ^threads$ -R math"])
        self.assertEqual(done.stderr.splitlines()[-2:], [
            "run: asan-ubsan passed after 0 min: 100% tests passed, 0 tests failed out of 2",
            "run: tsan failed (status 8) after 0 min: 50% tests passed, 1 tests failed out of 2"])

    def fake(self, folder, name, script):
        path = Path(folder, name)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)


if __name__ == "__main__":
    unittest.main()
