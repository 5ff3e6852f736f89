"""`limb compile` and `limb bench` as a user meets them: python3 cli/compile_test.py build/limb"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LIMB = "limb"


def run(*arguments, **environment):
    return subprocess.run(
        [LIMB, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


class CompileTest(unittest.TestCase):
    def ok(self, *arguments, **environment):
        result = run(*arguments, **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def error(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stdout, "")
        return result.stderr.strip()

    def test_c_source_passes_its_own_test(self):
        with tempfile.TemporaryDirectory() as folder:
            out = self.ok("compile", "builtin:2r", "--target", "c", "-o", Path(folder) / "new" / "2r")
            self.assertIn("stack: at most", out)
            files = sorted(x.name for x in (Path(folder) / "new" / "2r").iterdir())
            self.assertEqual(
                files, ["Makefile", "robot_2r.c", "robot_2r.h", "robot_2r_test.c"]
            )
            made = subprocess.run(
                ["make", "-C", Path(folder) / "new" / "2r", "test"], capture_output=True, text=True
            )
            self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
            self.assertEqual(made.stdout.count("\nok "), 9)

    def test_single_precision_and_prefix(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = ["--target", "c", "--float", "--prefix", "leg", "--functions", "rnea"]
            out = self.ok("compile", "builtin:belt-leg", *arguments, "-o", folder, "--json")
            self.assertEqual(len(json.loads(out)["files"]), 4)
            self.assertIn("void leg_rnea(const float q[", (Path(folder) / "leg.h").read_text())

    def test_reports_machine_code(self):
        out = self.ok("compile", "builtin:arm7", "--jit", "--json")
        report = json.loads(out)
        self.assertLess(report["compile_ms"], 1000)
        if report["notice"] == "":
            self.assertEqual(len(report["functions"]), 9)
            self.assertTrue(all(f["code_bytes"] > 500 for f in report["functions"]))

    def test_shows_what_was_made(self):
        graph = self.ok("compile", "builtin:2r", "--functions", "gravity", "--show", "graph")
        self.assertTrue(graph.startswith("gravity: "))
        self.assertIn("= sine q[0]\n", graph)
        source = self.ok("compile", "builtin:2r", "--functions", "gravity", "--show", "c")
        self.assertTrue(source.startswith("void robot_2r_gravity(const double q[2], double tau[2])"))
        result = run("compile", "builtin:2r", "--functions", "gravity", "--show", "asm")
        if result.returncode == 0:
            self.assertRegex(result.stdout, r"(?m)^000000  ")
        else:
            self.assertIn("no machine code", result.stderr)

    def test_without_machine_code_there_is_one_notice(self):
        result = run("compile", "builtin:arm7", "--jit", "--json", LIMB_NO_JIT="1")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(
            result.stderr,
            "limb compile: no machine code: LIMB_NO_JIT is set; the templates serve\n",
        )
        self.assertEqual(json.loads(result.stdout)["functions"], [])
        shown = run("compile", "builtin:2r", "--show", "asm", LIMB_NO_JIT="1")
        self.assertEqual(shown.returncode, 2)

    def test_bench(self):
        out = self.ok("bench", "builtin:2r", "-n", "64", "--time", "0.001", "--json")
        report = json.loads(out)
        self.assertEqual([f["function"] for f in report["functions"]], ["rnea", "crba", "aba"])
        for f in report["functions"]:
            for column in ("template_ns", "compiled_ns", "f64_ns", "f32_ns", "threads_ns"):
                self.assertGreater(f[column], 0)
        table = self.ok("bench", "builtin:2r", "-n", "64", "--time", "0.001")
        self.assertIn("ns a state", table)

    def test_mistakes(self):
        arm = ["compile", "builtin:arm7"]
        self.assertEqual(
            self.error(*arm, "--target", "fortran", "-o", "x"),
            "limb compile: --target is 'fortran', expected c",
        )
        self.assertEqual(
            self.error(*arm, "--target", "c"), "limb compile: --target c needs a folder, -o DIR"
        )
        self.assertEqual(self.error(*arm, "-o", "x"), "limb compile: -o DIR needs --target c")
        self.assertEqual(
            self.error(*arm, "--show", "x"),
            "limb compile: --show is 'x', expected graph, asm or c",
        )
        self.assertIn("(closest: 'rnea')", self.error(*arm, "--functions", "rnae"))
        self.assertIn("frames is none", self.error(*arm, "--functions", "frame_poses"))
        self.assertIn(
            "(closest: 'tool')", self.error(*arm, "--functions", "frame_poses", "--frames", "toll")
        )
        self.assertIn("-n is 0", self.error("bench", "builtin:2r", "-n", "0"))


if __name__ == "__main__":
    LIMB = sys.argv.pop(1)
    unittest.main()
