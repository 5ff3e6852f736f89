"""`limb compile` and `limb bench`: python3 cli/compile_test.py build/limb"""

import json
import os
import re
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

    def test_filters_are_c_without_warnings(self):
        feet = "FL_foot,FR_foot,RL_foot,RR_foot"
        for kind in ("inekf", "eskf"):
            for precision in ([], ["--float"]):
                with tempfile.TemporaryDirectory() as folder:
                    out = self.ok("compile", "builtin:quadruped", "--target", "c", "--filter", kind, "--feet", feet,
                                  "-o", folder, *precision)
                    self.assertIn("stack: at most", out)
                    self.assertEqual(sorted(x.name for x in Path(folder).iterdir()),
                                     ["quadruped_filter.c", "quadruped_filter.h"])
                    made = subprocess.run(
                        "gcc -std=c99 -O1 -Wall -Wextra -Werror -pedantic -c quadruped_filter.c && nm -u quadruped_filter.o",
                        shell=True, cwd=folder, capture_output=True, text=True)
                    self.assertEqual(made.returncode, 0, made.stderr)
                    used = {line.split()[-1].removesuffix("f") for line in made.stdout.splitlines()}
                    used -= {"__stack_chk_fail", "memset", "memcpy", "_GLOBAL_OFFSET_TABLE_"}
                    self.assertLessEqual(used, {"sqrt", "sin", "cos", "fabs", "sincos"})
        common = ("compile", "builtin:quadruped", "--filter")
        self.assertIn("--filter is 'kalman', expected one of inekf, eskf", self.error(*common, "kalman", "--target", "c", "-o", "x"))
        self.assertIn("--feet", self.error(*common, "inekf", "--target", "c", "-o", "x"))
        self.assertIn("--target c", self.error(*common, "inekf", "--feet", feet))
        self.assertIn("needs --filter", self.error("compile", "builtin:quadruped", "--feet", feet))

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

    def rows(self, table, first):
        """Cells of the lines of a table whose first cell is given."""
        lines = [re.split(r" {2,}", line.strip()) for line in table.splitlines()]
        return [line for line in lines if line[0] == first]

    def test_reported_numbers_are_those_of_the_code(self):
        """Operations counted in the listing, bytes counted in the machine code."""
        # tau = m g l sin q = 4.1202 sin q [models/pendulum.toml]; M = m l^2, one constant.
        graph = self.ok("compile", "builtin:pendulum", "--functions", "gravity", "--show", "graph")
        sine, product = "v1 = sine q[0]\n", "v3 = mul 4.1202 v1\n"
        self.assertEqual(graph, f"gravity: 2 operations\n{sine}{product}tau[0] = v3\n")
        pendulum = json.loads(self.ok("compile", "builtin:pendulum", "--functions", "crba", "--jit", "--json"))
        for row in pendulum["functions"]:
            self.assertEqual(row["operations"], 0)
            self.assertEqual(row["constant_bytes"], 4 if row["code"] == "f32" else 8)
        arm = ["builtin:2r", "--functions", "crba"]
        graph = self.ok("compile", *arm, "--show", "graph").splitlines()
        counted = sum(re.match(r"v\d+ = ", line) is not None for line in graph)
        self.assertEqual(graph[0], f"crba: {counted} operations")
        self.assertEqual(sum(line.startswith("M[") for line in graph), 4)
        report = json.loads(self.ok("compile", *arm, "--jit", "--json"))
        self.assertEqual(report["robot"], "2r")
        if report["why_not_compiled"] != "":
            self.skipTest(report["why_not_compiled"])
        one, f64, f32 = report["functions"]
        self.assertEqual([x["code"] for x in (one, f64, f32)], ["one", "f64", "f32"])
        width = {"AVX2": 32, "AVX-512": 64}[one["isa"]]
        self.assertEqual([x["lanes"] for x in (one, f64, f32)], [1, width // 8, width // 4])
        for option, row in (([], one), (["--float"], f32)):
            shown = run("compile", *arm, *option, "--show", "asm")
            lines = shown.stdout.splitlines()
            states = "one state" if row is one else f"{row['lanes']} states"
            self.assertEqual(lines[0], f"crba, {states}, {row['isa']}, {row['code_bytes']} bytes")
            if "built without Zydis" in shown.stderr:
                self.assertEqual(sum(len(x.split()) - 1 for x in lines[1:]), row["code_bytes"])
            else:
                last = [x for x in lines if x.endswith("  ret")][-1]  # one byte
                self.assertEqual(int(last.split()[0], 16) + 1, row["code_bytes"])
        # The table has the same numbers; so has `limb bench`.
        table = self.ok("compile", *arm, "--jit")
        for cells, row in zip(self.rows(table, "crba"), (one, f64, f32)):
            keys = ("operations", "instructions", "code_bytes", "constant_bytes", "stack_bytes")
            numbers = [str(row[key]) for key in keys]
            self.assertEqual(cells[1:], [numbers[0], f"{row['isa']} {row['code']}", *numbers[1:]])
        short = ["-n", "24", "--time", "0.001", "--threads", "2"]
        bench = json.loads(self.ok("bench", *arm, *short, "--json"))
        self.assertEqual(bench["functions"][0]["operations"], one["operations"])
        self.assertEqual(bench["functions"][0]["code_bytes"], one["code_bytes"])
        self.assertEqual((bench["states"], bench["threads"], bench["isa"]), (24, 2, one["isa"]))
        self.assertEqual((bench["lanes_f64"], bench["lanes_f32"]), (f64["lanes"], f32["lanes"]))
        table = self.ok("bench", *arm, *short)
        lanes = f"{one['isa']}, {f64['lanes']} lanes of f64, {f32['lanes']} of f32"
        self.assertRegex(table, rf"^2r: compiled in [0-9.]+ ms; batches of 24; {lanes}\n")
        self.assertIn("f64, 2 threads", table.splitlines()[1])
        cells = self.rows(table, "crba")[0]
        self.assertEqual(cells[6:], [str(one["operations"]), str(one["code_bytes"])])

    def test_c_files_have_the_reported_sizes(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = ["builtin:2r", "--target", "c", "-o", folder]
            out = self.ok("compile", *arguments).splitlines()
            for line in out[:-1]:
                size, unit, path = line.split()
                self.assertEqual((int(size), unit), (Path(path).stat().st_size, "bytes"))
            report = json.loads(self.ok("compile", *arguments, "--json"))
            self.assertEqual(report["files"], [line.split()[2] for line in out[:-1]])
            self.assertEqual(out[-1], f"stack: at most {report['stack_bytes']} bytes")

    def test_strategies_of_the_table_are_those_of_the_report(self):
        arm = ["compile", "builtin:2r", "--functions", "rnea,crba", "--jit"]
        strategies = json.loads(self.ok(*arm, "--json"))["strategies"]
        table = self.ok(*arm).split("execution strategies\n")[1]
        for row in strategies:
            cells = self.rows(table, row["function"])[0]
            self.assertEqual(cells[1:], [row["one_state"], row["batch"], row["reason"]])
            self.assertEqual({row[key] for key in row if key.endswith("_ns")}, {0})
        measured = self.ok("compile", "builtin:2r", "--functions", "aba_derivatives", "--jit")
        if "no machine code" not in measured and "LIMB_NO_JIT" not in measured:
            self.assertRegex(
                measured,
                r"measured: \d+ ns, recursion \d+ ns; batches: \d+ ns, recursion \d+ ns, "
                r"split \d+ ns\n",
            )

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
            "limb compile: --target is 'fortran', expected one of c",
        )
        self.assertEqual(
            self.error(*arm, "--target", "c"), "limb compile: --target c needs a folder, -o FOLDER"
        )
        self.assertEqual(self.error(*arm, "-o", "x"), "limb compile: -o FOLDER needs --target c")
        self.assertEqual(
            self.error(*arm, "--show", "x"),
            "limb compile: --show is 'x', expected one of graph, asm, c, ptx",
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
            "limb compile: strategy is split, expected automatic (not a product of matrices)",
        )
        self.assertEqual(
            self.error(*arm, "--strategy", "loops"),
            "limb compile: --strategy is 'loops', expected one of automatic, straight_line, recursion, split",
        )
        self.assertEqual(
            self.error(*arm, "--strategy", "recursion", "--show", "c"),
            "limb compile: --strategy recursion has no code for --show c",
        )
        bench = ["bench", "builtin:2r"]
        self.assertIn("--states is 0", self.error(*bench, "-n", "0"))
        self.assertIn("--time is 0", self.error(*bench, "--time", "0"))
        self.assertIn("--threads is -1", self.error(*bench, "--threads", "-1"))
        self.assertIn("nowhere.urdf", self.error("bench", "nowhere.urdf"))


if __name__ == "__main__":
    LIMB = sys.argv.pop(1)
    unittest.main()
