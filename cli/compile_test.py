"""`limb compile` and `limb bench`: python3 cli/compile_test.py build/limb"""

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
        timeout=1200,
        env={**os.environ, **environment},
    )


FOUR_BAR = """<mujoco model="four-bar"><worldbody>
  <body name="crank"><joint name="a" axis="0 1 0"/>
    <geom type="capsule" size=".02" fromto="0 0 0 0 0 .2"/>
    <body name="coupler" pos="0 0 .2"><joint name="b" axis="0 1 0"/>
      <geom type="capsule" size=".02" fromto="0 0 0 .4 0 0"/></body></body>
  <body name="rocker" pos=".4 0 0"><joint name="c" axis="0 1 0"/>
    <geom type="capsule" size=".02" fromto="0 0 0 0 0 .2"/></body></worldbody>
<equality><connect body1="coupler" body2="rocker" anchor=".4 0 0"/></equality></mujoco>
"""


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
                files,
                ["Makefile", "robot_2r.c", "robot_2r.h", "robot_2r_test.c", "robot_2r_test.h"],
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
            self.assertEqual(len(json.loads(out)["files"]), 5)
            self.assertIn("void leg_rnea(const float q[", (Path(folder) / "leg.h").read_text())

    def test_batches_and_cpp(self):
        with tempfile.TemporaryDirectory() as folder:
            out = self.ok(
                "compile", "builtin:quadruped", "--target", "c", "--simd", "--cpp", "--functions",
                "rnea,frame_poses", "--frames", "FL_calf", "-o", folder,
            )
            self.assertIn("stack of batches: at most", out)
            made = subprocess.run(["make", "-C", folder, "test"], capture_output=True, text=True)
            self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
            self.assertNotIn("FAILED", made.stdout)
            self.assertEqual(made.stdout.count("by rows"), 12)
            self.assertIn("namespace limb_quadruped", (Path(folder) / "quadruped.hpp").read_text())

    def test_reports_machine_code(self):
        out = self.ok("compile", "builtin:arm7", "--jit", "--json")
        report = json.loads(out)
        self.assertGreater(report["compile_ms"], 0)
        if report["why_not_compiled"] == "":
            self.assertEqual(len(report["functions"]), 9)
            self.assertTrue(all(f["code_bytes"] > 500 for f in report["functions"]))

    def test_shows_graph_source_and_machine_code(self):
        graph = self.ok("compile", "builtin:2r", "--functions", "gravity", "--show", "graph")
        self.assertTrue(graph.startswith("gravity: "))
        self.assertIn("= sine q[0]\n", graph)
        source = self.ok("compile", "builtin:2r", "--functions", "gravity", "--show", "c")
        self.assertTrue(source.startswith("void robot_2r_gravity(const double q[2], double tau[2])"))
        result = run("compile", "builtin:2r", "--functions", "gravity", "--show", "asm")
        if result.returncode != 0:
            self.assertIn("no machine code", result.stderr)
        elif "built without Zydis" in result.stderr:
            self.assertEqual(result.stderr.count("\n"), 1)
            self.assertRegex(result.stdout, r"(?m)^000000  55 ")
        else:
            self.assertEqual(result.stderr, "")
            self.assertRegex(result.stdout, r"(?m)^000000  push rbp$")
            self.assertRegex(result.stdout, r"(?m)^[0-9a-f]{6}  vmulsd xmm")
            self.assertRegex(result.stdout, r"(?m)^[0-9a-f]{6}  ret$")
            self.assertNotRegex(result.stdout, r"(?m)^[0-9a-f]{6}  db ")

    def test_without_machine_code_there_is_one_notice(self):
        result = run("compile", "builtin:arm7", "--jit", "--json", LIMB_NO_JIT="1")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(
            result.stderr,
            "limb compile: no machine code: LIMB_NO_JIT is set; using the templates\n",
        )
        self.assertEqual(json.loads(result.stdout)["functions"], [])
        shown = run("compile", "builtin:2r", "--show", "asm", LIMB_NO_JIT="1")
        self.assertEqual(shown.returncode, 2)

    def test_where_memory_cannot_be_executed_there_is_one_notice(self):
        before = os.path.join(os.path.dirname(__file__), "forbid_execution.py")
        for verb in ("compile", "bench"):
            arguments = ["--jit"] if verb == "compile" else ["-n", "8", "--time", "0.001"]
            result = subprocess.run(
                [sys.executable, before, LIMB, verb, "builtin:2r", *arguments],
                capture_output=True, text=True, timeout=1200,
            )
            if result.returncode == 77:
                self.skipTest("no seccomp filters here")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn("no machine code: ", result.stderr)
            self.assertIn("using the templates", result.stderr)

    def test_bench(self):
        out = self.ok("bench", "builtin:2r", "-n", "64", "--time", "0.001", "--json")
        report = json.loads(out)
        self.assertEqual([f["function"] for f in report["functions"]], ["rnea", "crba", "aba"])
        for f in report["functions"]:
            for column in ("template_ns", "compiled_ns", "f64_ns", "f32_ns", "threads_ns"):
                self.assertGreater(f[column], 0)
        table = self.ok("bench", "builtin:2r", "-n", "64", "--time", "0.001")
        self.assertIn("ns per state", table)

    def test_strategies_are_reported_and_forced(self):
        both = ["builtin:arm7", "--functions", "rnea,rnea_derivatives", "--json"]
        short = ["-n", "16", "--time", "0.001"]
        for verb, more in (("compile", ["--jit"]), ("bench", short)):
            report = json.loads(self.ok(verb, *both, *more))
            rnea, derivatives = report["strategies"]
            if report["why_not_compiled"] == "":
                self.assertEqual(rnea["one_state"], "straight_line")
                self.assertEqual(rnea["reason"], "always faster")
                self.assertEqual(derivatives["reason"], "measured")
                for times in ("straight_line_ns", "recursion_ns", "batch_straight_line_ns"):
                    self.assertGreater(derivatives[times], 0)
                faster = derivatives["recursion_ns"] < derivatives["straight_line_ns"]
                self.assertEqual(
                    derivatives["one_state"], "recursion" if faster else "straight_line"
                )
                report = json.loads(self.ok(verb, *both, *more, "--strategy", "straight_line"))
                self.assertEqual(
                    {(f["one_state"], f["batch"], f["reason"]) for f in report["strategies"]},
                    {("straight_line", "straight_line", "requested")},
                )
            report = json.loads(self.ok(verb, *both, *more, "--strategy", "recursion"))
            self.assertEqual(
                {(f["one_state"], f["batch"], f["reason"]) for f in report["strategies"]},
                {("recursion", "recursion", "requested")},
            )
            split = ["builtin:arm7", "--functions", "aba_derivatives", "--json", "--strategy", "split"]
            report = json.loads(self.ok(verb, *split, *more))
            if report["why_not_compiled"] == "":
                self.assertEqual(report["strategies"][0]["batch"], "split")
                self.assertEqual(report["strategies"][0]["reason"], "requested")

    def test_closed_loops_run_by_the_templates(self):
        why = "1 closed loop, whose rank depends on the state"
        with tempfile.TemporaryDirectory() as folder:
            robot = Path(folder) / "four_bar.xml"
            robot.write_text(FOUR_BAR)
            for verb, more in (("compile", ["--jit"]), ("bench", ["-n", "8", "--time", "0.001"])):
                for functions in ("rnea,crba_packed,aba", "aba"):
                    table = self.ok(verb, robot, "--functions", functions, *more)
                    self.assertRegex(table, r"(?m)^  aba +recursion +recursion +" + why + "$")
            self.assertIn(why, self.error("compile", robot, "--jit", "--strategy", "straight_line"))
            self.assertIn(why, self.error("compile", robot, "--functions", "aba", "--show", "c"))

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
        self.assertIn("frames is empty", self.error(*arm, "--functions", "frame_poses"))
        self.assertIn(
            "(closest: 'tool')", self.error(*arm, "--functions", "frame_poses", "--frames", "toll")
        )
        self.assertEqual(
            self.error(*arm, "--simd"), "limb compile: --simd needs --target c"
        )
        self.assertEqual(
            self.error(*arm, "--functions", "aba_derivatives", "--strategy", "split", "--show", "c"),
            "limb compile: --strategy split has no code for --show c",
        )
        self.assertEqual(
            self.error(*arm, "--jit", "--strategy", "split"),
            "rnea: strategy is split, expected automatic (not a product of matrices)",
        )
        self.assertEqual(
            self.error(*arm, "--strategy", "loops"),
            "limb compile: --strategy is 'loops', expected automatic, straight_line, recursion or split",
        )
        self.assertEqual(
            self.error(*arm, "--strategy", "recursion", "--show", "c"),
            "limb compile: --strategy recursion has no code for --show c",
        )
        bench = ["bench", "builtin:2r"]
        self.assertIn("-n is 0", self.error(*bench, "-n", "0"))
        self.assertIn("--time is 0", self.error(*bench, "--time", "0"))
        self.assertIn("--threads is -1", self.error(*bench, "--threads", "-1"))
        self.assertIn("nowhere.urdf", self.error("bench", "nowhere.urdf"))


if __name__ == "__main__":
    LIMB = sys.argv.pop(1)
    unittest.main()
