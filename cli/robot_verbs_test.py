"""limb info and limb check: python3 cli/robot_verbs_test.py build/limb

Every broken robot of tests/broken is checked through the command line against its manifest.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LIMB = "limb"
ROOT = Path(__file__).resolve().parent.parent
BROKEN = ROOT / "tests" / "broken"

ARM = """<robot name="arm">
  <!-- a comment that must survive -->
  <link name="base"/>
  <link name="tip">
    <inertial><origin xyz="0 0 0.1"/><mass value="2"/>
      <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="turn" type="revolute">
    <parent link="base"/><child link="tip"/><axis xyz="0 0 2"/>
    <limit lower="90" upper="-90" effort="10" velocity="3"/>
  </joint>
</robot>
"""


def run(*arguments, **options):
    return subprocess.run(
        [LIMB, *map(str, arguments)], capture_output=True, text=True, timeout=1200, **options
    )


class InfoTest(unittest.TestCase):
    def test_shows_tree_joints_and_degrees_of_freedom(self):
        out = run("info", "builtin:quadruped").stdout
        self.assertIn("nq = 19, nv = 18; underactuated: 6 of 18", out)
        self.assertIn("`- base -> trunk", out)
        self.assertIn("FL_knee", out)

    def test_json_agrees_with_itself(self):
        for robot in ("builtin:arm7", "builtin:humanoid", "builtin:belt-leg"):
            info = json.loads(run("info", robot, "--json").stdout)
            self.assertEqual(sum(j["uncoupled_nv"] for j in info["joints"]), info["uncoupled_nv"])
            self.assertEqual(sum(j["uncoupled_nq"] for j in info["joints"]), info["uncoupled_nq"])
            self.assertEqual((sum(j["nq"] for j in info["joints"]), sum(j["nv"] for j in info["joints"])),
                             (info["nq"], info["nv"]))
            self.assertEqual(info["independent_dofs"], info["nv"])
            mass = sum(j["mass"] for j in info["joints"])
            self.assertAlmostEqual(mass, info["mass"], delta=1e-12 * mass)
            start = 0
            for joint in info["joints"]:
                self.assertEqual(joint["uncoupled_v_index"], start)
                start += joint["uncoupled_nv"]

    def test_missing_mesh_is_an_error_or_ignored(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.xml"
            path.write_text("<mujoco><asset><mesh name='m' file='m.stl'/></asset><worldbody><body name='b'>"
                            "<joint/><geom size='1' mass='2'/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>")
            refused = run("info", path)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("robot.xml:1: mesh 'm': file 'm.stl' was not found", refused.stderr)
            ignored = run("info", path, "--missing-meshes", "ignore", "--json")
            self.assertEqual(json.loads(ignored.stdout)["mass"], 2)
            box = run("info", path, "--missing-meshes", "box", "--json")
            self.assertAlmostEqual(json.loads(box.stdout)["mass"], 8002, delta=1e-9)
            self.assertIn("a box of 2 x 2 x 2 m at [0, 0, 0] has its mass, 8000 kg", box.stderr)

    def test_unsupported_element_is_an_error_or_ignored(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.xml"
            path.write_text("<mujoco><worldbody><body><joint type='ball' limited='true' range='0 60'/><geom size='1' mass='2'/>"
                            "</body></worldbody></mujoco>")
            for verb in ("info", "prove", "simulate", "bench"):
                refused = run(verb, path)
                self.assertEqual(refused.returncode, 1, verb)
                self.assertIn("robot.xml:1: <joint>: the range of a ball joint, 60, is not supported (to leave it out: "
                              "--unsupported ignore)", refused.stderr)
            ignored = run("simulate", path, "--unsupported", "ignore", "--duration", "0.01")
            self.assertEqual(ignored.returncode, 0)
            self.assertIn("1 warning in", ignored.stderr)

    def test_sizes_are_those_of_q_and_v(self):
        info = json.loads(run("info", "builtin:belt-leg", "--json").stdout)
        self.assertEqual((info["nq"], info["nv"]), (2, 2))
        self.assertEqual((info["uncoupled_nq"], info["uncoupled_nv"]), (3, 3))
        self.assertIn("uncoupled nq = 3, nv = 3 before couplings", run("info", "builtin:belt-leg").stdout)
        self.assertNotIn("uncoupled", run("info", "builtin:arm7").stdout)

    def test_base_changes_the_degrees_of_freedom(self):
        with tempfile.TemporaryDirectory() as folder:
            arm = Path(folder) / "arm.urdf"
            arm.write_text(ARM)
            fixed = json.loads(run("info", arm, "--json").stdout)
            free = json.loads(run("info", arm, "--base", "free", "--json").stdout)
        self.assertEqual((free["nq"], free["nv"]), (fixed["nq"] + 7, fixed["nv"] + 6))
        self.assertEqual(free["joints"][0]["name"], "root_joint")
        result = run("info", "builtin:arm7", "--base", "free")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no base link to set free", result.stderr)

    def test_frames_on_request(self):
        self.assertIn("--frames lists them", run("info", "builtin:2r").stdout)
        self.assertIn("position (m) on their body", run("info", "builtin:2r", "--frames").stdout)

    def test_mistakes_are_one_line_with_exit_1(self):
        for arguments, text in (
            (("info", "builtin:quadrped"), "closest: 'builtin:quadruped'"),
            (("info", "none.urdf"), "none.urdf: no such file"),
            (("info", "builtin:2r", "--base", "glued"), "--base"),
            (("info",), "MODEL"),
        ):
            result = run(*arguments)
            self.assertEqual(result.returncode, 1, arguments)
            self.assertEqual(result.stdout, "")
            self.assertIn(text, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)


class FindingsTest(unittest.TestCase):
    """Every verb says what is wrong with a robot that it can read."""

    def test_one_line_on_stderr(self):
        robot = BROKEN / "transmission_missing.urdf"
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        states = Path(folder.name) / "states.json"
        states.write_text('{"states": [{"q": [0.1]}]}')
        verbs = (["info"], ["eval", "--input", states], ["derive"], ["compile"], ["simulate", "--duration", 0.001],
                 ["bench", "--functions", "rnea", "--time", 0.001])
        message = (f"1 warning in {robot}, first: <transmission> names joint 'neck', no such joint "
                   "(-v lists all, limb check says more)")
        for verb, *options in verbs:
            with self.subTest(verb):
                result = run(verb, robot, *options)
                self.assertEqual((result.returncode, result.stderr), (0, f"limb {verb}: {message}\n"))
                result = run(verb, robot, *options, "-v")
                self.assertEqual(result.stderr, f"{robot}:{LINE}: warning: <transmission> names joint 'neck', no such joint "
                                                "[actuator-unknown-joint]\n")
        self.assertEqual(run("prove", robot).returncode, 0)

    def test_impossible_robots_are_named_and_not_proven(self):
        for name, message in (("mass_negative.urdf", "link 'arm': mass is -2, expected > 0"),
                              ("inertia_negative.urdf", "are not all positive"),
                              ("limits_swapped.urdf", "lower limit 1 is above the upper limit -1")):
            with self.subTest(name):
                robot = BROKEN / name
                result = run("info", robot)
                self.assertEqual(result.returncode, 0)
                self.assertRegex(result.stderr, rf"\Alimb info: 1 error in {robot}, first: .*\n\Z")
                self.assertIn(message, result.stderr)
                result = run("prove", robot)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stdout, "")
                self.assertRegex(result.stderr, rf"\Alimb prove: no robot like this exists, so nothing is proven: {robot}:\d+: .*\n\Z")
                self.assertIn(message, result.stderr)


LINE = 1 + next(i for i, line in enumerate((BROKEN / "transmission_missing.urdf").read_text().splitlines())
                if "transmission" in line)


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.arm = self.path / "arm.urdf"
        self.arm.write_text(ARM)

    def tearDown(self):
        self.folder.cleanup()

    def test_every_finding_has_line_reason_and_fix(self):
        result = run("check", self.arm, "--json")
        found = json.loads(result.stdout)["findings"]
        rules = {d["rule"] for d in found}
        self.assertIn("axis-not-unit", rules)
        self.assertTrue(any(rule.startswith("limit") for rule in rules), rules)
        for d in found:
            self.assertGreater(d["line"], 0)
            self.assertTrue(d["reason"])

    def test_fix_repairs_and_keeps_everything_else(self):
        fixed = self.path / "fixed.urdf"
        result = run("check", self.arm, "--fix", fixed)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("remaining: 0 errors, 0 warnings", result.stdout)
        text = fixed.read_text()
        self.assertIn("<!-- a comment that must survive -->", text)
        self.assertEqual(self.arm.read_text(), ARM)
        changed = [a for a, b in zip(ARM.splitlines(), text.splitlines()) if a != b]
        self.assertEqual(len(changed), 2, changed)
        again = self.path / "again.urdf"
        run("check", fixed, "--fix", again)
        self.assertEqual(again.read_text(), text)

    def test_fix_writes_other_formats_too(self):
        recipe = self.path / "arm.toml"
        self.assertEqual(run("check", self.arm, "--fix", recipe).returncode, 0)
        before = json.loads(run("info", self.arm, "--json").stdout)
        after = json.loads(run("info", recipe, "--json").stdout)
        self.assertEqual(after["joints"][0]["axis"], before["joints"][0]["axis"])
        self.assertAlmostEqual(after["mass"], before["mass"], delta=1e-14)
        result = run("check", self.arm, "--fix", self.path / "arm.stl")
        self.assertEqual(result.returncode, 1)
        self.assertIn("ends in .urdf, .toml or, for an MJCF file, .xml", result.stderr)

    def test_check_alone_reads_the_size_of_meshes(self):
        (self.path / "box.obj").write_text(
            "v 0 -50 -40\nv 400 50 -40\nv 400 -50 40\nv 0 50 40\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n")
        robot = self.path / "robot.urdf"
        robot.write_text(
            '<robot name="r"><link name="base"/><link name="arm"><inertial><origin xyz="0.2 0 0"/>'
            '<mass value="2"/><inertia ixx="2.73" iyy="27.7" izz="28.3" ixy="0" ixz="0" iyz="0"/>'
            '</inertial><visual><geometry><mesh filename="box.obj" scale="0.001 0.001 0.001"/>'
            '</geometry></visual></link><joint name="j" type="continuous"><parent link="base"/>'
            '<child link="arm"/><axis xyz="0 0 1"/></joint></robot>')
        found = run("check", robot)
        self.assertEqual(found.returncode, 1)
        self.assertIn("[inertia-units]", found.stdout)
        self.assertIn("g m^2 where kg m^2 is expected", found.stdout)
        self.assertNotIn("inertia", run("info", robot, "-v").stderr)
        fixed = self.path / "fixed.urdf"
        self.assertEqual(run("check", robot, "--fix", fixed).returncode, 0)
        self.assertIn('ixx="0.00273"', fixed.read_text())
        (self.path / "box.obj").unlink()
        self.assertNotIn("[inertia-units]", run("check", robot).stdout)

    def test_builtin_robots_are_clean(self):
        for name in ("arm6", "arm7", "quadruped", "humanoid"):
            result = run("check", f"builtin:{name}")
            self.assertEqual(result.returncode, 0)
            self.assertIn("0 errors, 0 warnings", result.stdout, name)

    def test_broken_robots_get_their_documented_diagnostics(self):
        rows = [
            line.split("\t")
            for line in (BROKEN / "expected.tsv").read_text().splitlines()
            if not line.startswith("#")
        ]
        self.assertGreaterEqual(len(rows), 60)
        for name, code, expected in rows:
            with self.subTest(name):
                result = run("check", name, "--json", cwd=BROKEN)
                self.assertEqual(result.returncode, int(code), result.stderr)
                if result.stdout:
                    rules = [d["rule"] for d in json.loads(result.stdout)["findings"]]
                    self.assertTrue(expected in rules or (expected == "-" and not rules), rules)
                else:
                    self.assertIn(expected.split(": ", 1)[-1], result.stderr)

    def test_100_megabytes_of_nothing_are_refused(self):
        big = self.path / "big.urdf"
        with big.open("w") as f:
            for _ in range(100):
                f.write(" " * (1 << 20))
        result = run("check", big)
        self.assertEqual(result.returncode, 1)
        self.assertIn("has more than 67108864 bytes", result.stderr)


if __name__ == "__main__":
    LIMB = str(Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=1)
