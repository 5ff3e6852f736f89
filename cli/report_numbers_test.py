"""The numbers of the reports of each verb, against --json and closed forms:
python3 cli/report_numbers_test.py build/limb"""

import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

LIMB = "limb"
EPS = sys.float_info.epsilon
FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]


def run(*arguments, code=0, **options):
    result = subprocess.run([LIMB, *map(str, arguments)], capture_output=True, text=True, timeout=1200, **options)
    assert result.returncode == code, f"{arguments}: {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout


def cells(x, *more):
    """Numbers as a table prints them: six decimals, or five digits after the point if small or large."""
    values = [x, *more]
    largest = sorted(map(abs, values))[-1]
    fixed = largest == 0 or 1e-3 <= largest < 1e6
    return [f"{v:.6f}".replace("-0.000000", "0.000000") if fixed else f"{v:.5e}" for v in values]


def row(text, label):
    """The cells of the line that starts with the label."""
    found = [line for line in text.splitlines() if line.strip().startswith(label)]
    assert len(found) == 1, (label, found)
    return found[0].strip()[len(label):].split()


class TwoLinks:
    """The planar arm builtin:2r: point masses of 2 kg and 1.5 kg at the ends of links of 1 m and 0.8 m, gravity
    along -y [Craig 2005, Sec. 6.7]."""
    l1, l2, m1, m2, g = 1.0, 0.8, 2.0, 1.5, 9.81

    def dynamics(self, q, v):
        """Mass matrix, bias and total energy."""
        l1, l2, m1, m2 = self.l1, self.l2, self.m1, self.m2
        c2, s2 = math.cos(q[1]), math.sin(q[1])
        m12 = m2 * (l2**2 + l1 * l2 * c2)
        M = ((m1 * l1**2 + m2 * (l1**2 + l2**2 + 2 * l1 * l2 * c2), m12), (m12, m2 * l2**2))
        h, gravity = m2 * l1 * l2 * s2, self.gravity(q)
        bias = (-h * (2 * v[0] * v[1] + v[1]**2) + gravity[0], h * v[0]**2 + gravity[1])
        kinetic = (M[0][0] * v[0]**2 + 2 * m12 * v[0] * v[1] + M[1][1] * v[1]**2) / 2
        elbow = l1 * math.sin(q[0])
        return M, bias, kinetic + self.g * (m1 * elbow + m2 * (elbow + l2 * math.sin(q[0] + q[1])))

    def gravity(self, q):
        second = self.m2 * self.g * self.l2 * math.cos(q[0] + q[1])
        return (self.g * (self.m1 + self.m2) * self.l1 * math.cos(q[0]) + second, second)

    def accelerations(self, q, v):
        ((a, b), (_, d)), (h1, h2), _ = self.dynamics(q, v)
        det = a * d - b * b
        return ((-d * h1 + b * h2) / det, (b * h1 - a * h2) / det)

    def fall(self, q, steps, dt):
        """Semi-implicit Euler without torques: q, v and the energy before each step and at the end. Forces quadratic
        in velocity are those of the mean velocity of the step, unless it is slow."""
        q, v, energies = list(q), [0.0, 0.0], []
        for _ in range(steps):
            energies.append(self.dynamics(q, v)[2])
            a = self.accelerations(q, v)
            if abs(v[0]) + abs(v[1]) > 0.1:
                a = self.accelerations(q, [x + dt * y / 2 for x, y in zip(v, a)])
            v = [x + dt * y for x, y in zip(v, a)]
            q = [x + dt * y for x, y in zip(q, v)]
        energies.append(self.dynamics(q, v)[2])
        return q, v, energies


def entries(balance):
    """Where the energy went, without the sums and the error."""
    return {name: x for name, x in balance.items() if name not in ("change", "closure", "exchanged")}


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return Path(self.folder.name) / name

    def write(self, name, text):
        self.path(name).write_text(text)
        return self.path(name)


ARM = """<robot name="arm"><link name="base"/>
  <link name="a"><inertial><origin xyz="0 0 0.1"/><mass value="2.25"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="b"><inertial><mass value="0.5"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 -1 0"/>
    <limit lower="-1.25" upper="2.5" effort="12.5" velocity="3.75"/></joint>
  <joint name="slide" type="prismatic"><parent link="a"/><child link="b"/><origin xyz="0.125 0 -0.25"/>
    <axis xyz="0.6 0 0.8"/><limit lower="-0.5" upper="0.75" effort="7" velocity="2"/></joint></robot>"""


class InfoTest(Folder):
    def test_table_has_the_numbers_of_the_file(self):
        arm = self.write("arm.urdf", ARM)
        text = run("info", arm, "--frames")
        self.assertEqual(row(text, "mass "), ["2.75", "kg", "in", "2", "moving", "bodies"])
        self.assertIn("dof       nq = 2, nv = 2; fully actuated", text)
        self.assertIn("gravity   (0, 0, -9.81) m/s^2", text)
        self.assertEqual(row(text, "turn  "), "revolute -y 0 0 -1.25 .. 2.5 3.75 12.5 2.25".split())
        self.assertEqual(row(text, "slide "), "prismatic 0.6 0 0.8 1 1 -0.5 .. 0.75 2 7 0.5".split())
        frames = {line.split()[0]: line.split()[1:] for line in text.split("on their body")[1].splitlines()[2:]}
        self.assertEqual(frames["a"], ["turn", "0.000000", "0.000000", "0.000000"])
        self.assertIn(f"{len(frames)} frames:", text)
        data = json.loads(run("info", arm, "--json"))
        self.assertEqual(len(data["frames"]), len(frames))
        self.assertEqual(data["joints"][1]["placement_p"], [0.125, 0, -0.25])
        self.assertEqual(data["joints"][0]["com"], [0, 0, 0.1])
        for joint, limit in zip(data["joints"], ((-1.25, 2.5, 3.75, 12.5), (-0.5, 0.75, 2, 7))):
            found = joint["limits"][0]
            self.assertEqual((found["lower"], found["upper"], found["velocity"], found["effort"]), limit)
        self.assertEqual((data["motors"], data["actuated_dofs"], data["passive_dofs"]), (2, 2, 0))

    def test_free_base(self):
        text = run("info", self.write("arm.urdf", ARM), "--base", "free")
        self.assertIn("nq = 9, nv = 8; underactuated: 6 of 8 degrees of freedom have no motor (the free base)", text)
        self.assertIn("3 moving bodies", text)
        self.assertEqual(row(text, "root_joint  ")[:5], ["free", "-", "0..6", "0..5", "-"])
        self.assertEqual(row(text, "turn  ")[2:4], ["7", "6"])
        self.assertEqual(row(text, "slide ")[4:6], ["8", "7"])


class CheckTest(Folder):
    def test_counts(self):
        arm = self.write("arm.urdf", ARM.replace('"0 -1 0"', '"0 -2 0"').replace('lower="-1.25"', 'lower="4"'))
        fixed = self.path("fixed.urdf")
        text = run("check", arm, code=1)
        data = json.loads(run("check", arm, "--json", "--fix", fixed))
        counts = {kind: sum(d["severity"] == kind for d in data["findings"]) for kind in ("error", "warning", "note")}
        summary = re.search(r"arm\.urdf: (\d+) errors?, (\d+) warnings?, (\d+) notes?$", text, re.M)
        self.assertEqual([int(x) for x in summary.groups()], list(counts.values()))
        self.assertGreater(counts["error"] + counts["warning"], 1)
        self.assertEqual(sum(line.startswith("    why: ") for line in text.splitlines()),
                         sum(bool(d["reason"]) for d in data["findings"]))
        remaining = sum(d["severity"] == "error" for d in data["remaining"])
        self.assertEqual(data["errors_remaining"], remaining)
        # Each repair changes numbers of one line; the others stay.
        changed = sum(a != b for a, b in zip(arm.read_text().splitlines(), fixed.read_text().splitlines()))
        self.assertTrue(1 <= changed <= len(data["changes"]))
        printed = run("check", arm, "--fix", fixed, code=1 if remaining else 0)
        self.assertIn(f"fixed.urdf: {len(data['changes'])} change", printed)
        again = {kind: sum(d["severity"] == kind for d in data["remaining"]) for kind in counts}
        after = re.search(r"remaining: (\d+) errors?, (\d+) warnings?, (\d+) notes? \(before: (\d+) err", printed)
        self.assertEqual([int(x) for x in after.groups()], [*again.values(), counts["error"]])
        quiet = json.loads(run("check", arm, "--quiet", "--json", code=1 if counts["error"] else 0))
        self.assertEqual([d["severity"] for d in quiet["findings"]],
                         [d["severity"] for d in data["findings"] if d["severity"] != "note"])


class EvalTest(Folder):
    def test_two_links(self):
        q, v, a = (0.3, -0.7), (0.4, 1.1), (0.5, -0.6)
        states = self.write("s.json", json.dumps({"states": [{"q": q, "v": v, "a": a, "tau": [1, 2]}]}))
        found = json.loads(run("eval", "builtin:2r", "--input", states))["states"][0]
        M, bias, _ = TwoLinks().dynamics(q, v)
        tau = [M[i][0] * a[0] + M[i][1] * a[1] + bias[i] for i in (0, 1)]
        # Sums of about ten products of numbers up to 30.
        for name, expected in (("tau_rnea", tau), ("M", M), ("g", TwoLinks().gravity(q))):
            flat = [x for r in expected for x in (r if isinstance(r, tuple) else [r])]
            actual = [x for r in found[name] for x in (r if isinstance(r, list) else [r])]
            self.assertEqual(len(actual), len(flat))
            for x, y in zip(actual, flat):
                self.assertLess(abs(x - y), 32 * EPS * 30, name)


class ProveTest(Folder):
    def test_table_has_the_numbers_of_json(self):
        arguments = ["prove", "builtin:2r", "-n", 4, "--seed", 9]
        text, data = run(*arguments), json.loads(run(*arguments, "--json"))
        self.assertTrue(text.startswith("2r: 4 random states (seed 9), 2 degrees of freedom\n"))
        self.assertEqual((data["states"], data["seed"], data["holds"]), (4, 9, True))
        self.assertEqual(text.count(" holds\n"), len(data["rows"]))
        for one in data["rows"]:
            self.assertEqual(row(text, one["statement"] + " "),
                             [f"{one['worst']:.1e}", f"{one['tolerance']:.0e}", "holds"])
            self.assertLessEqual(one["worst"], one["tolerance"])
        # The finite differences have errors of rounding at least; the polynomials have none.
        self.assertTrue(any(one["worst"] > EPS for one in data["rows"]))
        self.assertEqual((data["rows"][-1]["worst"], data["rows"][-1]["tolerance"]), (0, 0))


class DeriveTest(Folder):
    def test_the_limit_of_terms_is_exact(self):
        # The limit is checked after each stage, with the number of terms so far; the last number suffices.
        terms, stages = 1, 0
        while True:
            text = subprocess.run([LIMB, "derive", "builtin:2r", "--max-terms", str(terms)], capture_output=True, text=True)
            if text.returncode == 0:
                break
            self.assertEqual(text.returncode, 2)
            match = re.search(rf"the closed forms have at least (\d+) terms, more than the limit of {terms} \(--max-terms\); "
                              r"the recursive form \(--recursive\) has (\d+) assignments", text.stderr)
            self.assertTrue(match, text.stderr)
            self.assertGreater(int(match[1]), terms)
            terms, stages = int(match[1]), stages + 1
        self.assertGreater(stages, 0)
        run("derive", "builtin:2r", "--max-terms", terms - 1, code=2)
        recursive = json.loads(run("derive", "builtin:2r", "--recursive", "--json"))
        self.assertEqual(int(match[2]), recursive["assignments"])
        # Operations that an output depends on.
        nodes, needed = recursive["nodes"], set()
        pending = [i for output in recursive["outputs"].values() for i in output["nodes"]]
        while pending:
            i = pending.pop()
            if i not in needed:
                needed.add(i)
                pending += [nodes[i][k] for k in "ab" if k in nodes[i]]
        self.assertEqual(sum(nodes[i]["op"] not in ("input", "constant") for i in needed), recursive["assignments"])


class CompileTest(Folder):
    def test_table_has_the_numbers_of_json(self):
        arguments = ["compile", "builtin:arm7", "--jit", "--functions", "gravity,crba"]
        text, data = run(*arguments), json.loads(run(*arguments, "--json"))
        if data["why_not_compiled"]:
            self.skipTest("no machine code here")
        rows = [line.split() for line in text.split("\n\n")[0].splitlines()[2:]]
        self.assertEqual(rows, [[f["function"], str(f["operations"]), *f["isa"].split(), f["code"], str(f["instructions"]),
                                 str(f["code_bytes"]), str(f["constant_bytes"]), str(f["stack_bytes"])]
                                for f in data["functions"]])
        for f in data["functions"]:
            self.assertEqual(f["lanes"] == 1, f["code"] == "one")
            self.assertLess(f["instructions"], f["code_bytes"])
        self.assertEqual([f["lanes"] for f in data["functions"] if f["code"] == "f32"],
                         [2 * f["lanes"] for f in data["functions"] if f["code"] == "f64"])
        shown = run("compile", "builtin:arm7", "--functions", "gravity", "--show", "asm")
        size = next(f["code_bytes"] for f in data["functions"] if f["function"] == "gravity" and f["code"] == "one")
        self.assertRegex(shown.splitlines()[0], rf"^gravity, one state, \S+, {size} bytes$")

    def test_sizes_of_generated_files(self):
        folder = self.path("c")
        text = run("compile", "builtin:2r", "--target", "c", "--simd", "-o", folder)
        data = json.loads(run("compile", "builtin:2r", "--target", "c", "--simd", "-o", folder, "--json"))
        sizes = {match[2]: int(match[1]) for match in re.finditer(r"^ *(\d+) bytes  (.+)$", text, re.M)}
        self.assertEqual(sizes, {str(p): p.stat().st_size for p in folder.iterdir()})
        self.assertEqual(sorted(data["files"]), sorted(sizes))
        self.assertIn(f"stack: at most {data['stack_bytes']} bytes\n", text)
        self.assertIn(f"stack of batches: at most {data['simd_stack_bytes']} bytes\n", text)
        self.assertGreater(data["simd_stack_bytes"], data["stack_bytes"])

    def test_bench(self):
        arguments = ["builtin:2r", "--functions", "gravity,aba"]
        bench = [*arguments, "-n", 37, "--threads", 1, "--time", "1e-4"]
        text, data = run("bench", *bench), json.loads(run("bench", *bench, "--json"))
        compiled = json.loads(run("compile", *arguments, "--jit", "--json"))["functions"]
        self.assertRegex(text, r"^2r: compiled in [\d.]+ ms; batches of 37; ")
        self.assertIn("f64, 1 threads", text)
        self.assertEqual((data["states"], data["threads"]), (37, 1))
        if data["why_not_compiled"]:
            self.skipTest("no machine code here")
        for f in data["functions"]:
            one = next(c for c in compiled if c["function"] == f["function"] and c["code"] == "one")
            self.assertEqual((f["operations"], f["code_bytes"]), (one["operations"], one["code_bytes"]))
            printed = row(text.split("\n\n")[0], f["function"] + " ")
            self.assertEqual(printed[5:], [str(f["operations"]), str(f["code_bytes"])])
            times = [f[k] for k in ("template_ns", "compiled_ns", "f64_ns", "f32_ns", "threads_ns")]
            self.assertTrue(all(0 < x < 1e7 for x in times), times)  # ns per state, not s or ns per batch


class SimulateTest(Folder):
    def text_and_json(self, *arguments):
        return run("simulate", *arguments), json.loads(run("simulate", *arguments, "--json"))

    def test_falling_arm(self):
        scenario = self.write("s.toml", 'model = "builtin:2r"\nduration = 0.5\nlog_period = 0.001\nstep = 0.001\n'
                              '[initial]\nq = [0.3, -0.7]\n')
        text, data = self.text_and_json(scenario)
        q, v, energies = TwoLinks().fall((0.3, -0.7), 500, 1e-3)
        self.assertEqual((data["robot"], data["steps"], data["failure"]), ("2r", 500, None))
        self.assertLess(abs(data["t"] - 0.5), 500 * EPS)
        # 500 steps add rounding of some 10 eps each, which the motion makes larger, up to 10 times.
        for x, y in zip([*data["q"], *data["v"]], [*q, *v]):
            self.assertLess(abs(x - y), 500 * 100 * EPS)
        self.assertLess(abs(data["energy_start"] - energies[0]), 32 * EPS * 20)
        self.assertLess(abs(data["energy_end"] - energies[-1]), 500 * 1000 * EPS)
        self.assertTrue(all(map(math.isfinite, energies)))
        change = sorted(abs(e - energies[0]) for e in energies)[-1]
        self.assertGreater(change, 1.01 * abs(energies[-1] - energies[0]))  # not only that at the end
        self.assertLess(abs(data["largest_energy_change"] - change), 500 * 1000 * EPS)
        self.assertEqual(data["peak_torque"], [0, 0])
        self.assertEqual((data["target_error"], data["dissipated"], data["programs"]), (None, 0, None))
        self.assertGreater(data["real_time_factor"], 0)
        lines = text.splitlines()
        self.assertEqual(lines[0], "semi-implicit-euler, step 0.001 s; implicit: nothing")
        self.assertEqual((data["integrator"], data["step"], data["implicit"], data["contact_shapes"]),
                         ("semi-implicit-euler", 0.001, "nothing", 0))
        self.assertEqual(lines[1], f"2r: {data['t']:.6f} s by semi-implicit-euler in 500 steps")
        self.assertEqual(lines[2], "energy {} J at the start, {} J at the end".format(
            cells(data["energy_start"])[0], cells(data["energy_end"])[0]))
        self.assertNotIn("target", text)
        for i, joint in enumerate(("joint1", "joint2")):
            self.assertEqual(row(text, joint), [cells(data[k][i])[0] for k in ("q", "v", "peak_torque")])
        # No force but gravity: the change of energy is the error of integration.
        ledger, energy = data["balance"], data["energy"]
        self.assertLess(abs(ledger["closure"] - (data["energy_end"] - data["energy_start"])), 500 * 100 * EPS)
        self.assertEqual(set(entries(ledger).values()), {0})
        self.assertEqual(row(text, "error of integration"), cells(ledger["closure"]))
        for part in ("kinetic", "potential"):
            start, end = energy["start"][part], energy["end"][part]
            self.assertEqual(row(text, part), cells(start, end, end - start))

    def test_ledger_of_a_pushed_arm(self):
        """The entries of summary, JSON and log sum to the change of energy, and the log ends as the summary."""
        scenario, log = self.write("s.toml", 'model = "builtin:2r"\nduration = 0.5\n[initial]\nq = [0.3, -0.7]\n'
                                   '[controller]\ntype = "pd"\nkp = 10\nkd = 1\ntarget = [0.5, 0.2]\n'
                                   '[[push]]\nframe = "tool"\nforce = [0, 9, 0]\n'
                                   '[[spring]]\njoint = "joint2"\nstiffness = 5\ndamping = 0.5\n'), self.path("l.csv")
        text, data = self.text_and_json(scenario)
        run("simulate", scenario, "-o", log)
        ledger = data["balance"]
        work = {name: x for name, x in entries(ledger).items() if x != 0}
        self.assertEqual(set(work), {"motors", "external", "springs"})
        total = sum(work.values()) + ledger["closure"]
        self.assertLess(abs(total - (data["energy_end"] - data["energy_start"])), 1000 * EPS * ledger["exchanged"])
        self.assertLess(abs(ledger["closure"]), 0.01 * ledger["exchanged"])
        self.assertLess(work["springs"], 0)
        for name, x in work.items():
            self.assertEqual(row(text, name), cells(x))
        with log.open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        for name, x in (*entries(ledger).items(), ("closure", ledger["closure"])):
            self.assertEqual(float(rows[0][f"energy.work.{name}"]), 0)
            self.assertLess(abs(float(rows[-1][f"energy.work.{name}"]) - x), 8 * EPS * ledger["exchanged"], name)

    def test_free_joint_in_world_axes(self):
        """A body that turns by a quarter about z and moves along its own x: along y in the world."""
        half = math.sqrt(0.5)
        self.write("b.toml", 'name = "b"\ngravity = [0, 0, 0]\n[[joint]]\nname = "f"\ntype = "free"\nparent = "world"\n'
                   'child = "b"\n[[link]]\nname = "b"\nmass = 1\ncom = [0, 0, 0]\ninertia = [1, 1, 1]\n')
        scenario = self.write("s.toml", 'model = "b.toml"\nduration = 0.5\n[initial]\n'
                              f'q = [1, 2, 3, 0, 0, {half}, {half}]\nv = [0.4, 0, 0, 0.1, 0, 0]\n')
        text, data = self.text_and_json(scenario)
        (name, body), = data["free_joints"].items()
        for found, expected in zip([*body["position"], *body["velocity_world"], *body["angular_velocity_world"]],
                                   [1, 2.2, 3, 0, 0.4, 0, 0, 0.1, 0], strict=True):
            self.assertLess(abs(found - expected), 1000 * EPS)
        self.assertEqual(row(text, f"{name} velocity"), cells(*body["velocity_world"]))
        self.assertEqual(row(text, f"{name} position"), cells(*body["position"]))
        self.assertEqual(len(row(text, f"{name} quaternion")), 4)
        own = run("simulate", scenario, "--axes", "body")
        self.assertEqual(row(own, f"{name} velocity"), cells(*data["v"][:3]))

    def test_gravity_compensation_needs_the_torques_of_gravity(self):
        scenario = self.write("s.toml", 'model = "builtin:2r"\nduration = 0.1\n[initial]\nq = [0.3, -0.7]\n'
                              '[controller]\ntype = "gravity"\ntarget = [0.3, -0.7]\n')
        text, data = self.text_and_json(scenario)
        for x, y in zip(data["peak_torque"], TwoLinks().gravity((0.3, -0.7))):
            self.assertLess(abs(x - abs(y)), 64 * EPS * 30)
        self.assertLess(data["target_error"], 1e-12)
        self.assertIn(f"distance to the target {cells(data['target_error'])[0]}", text)

    def test_distance_to_the_target_and_saturated_motors(self):
        q = (0.3, -0.7)
        scenario = self.write("s.toml", f'model = "builtin:2r"\nduration = 0.1\n[initial]\nq = [{q[0]}, {q[1]}]\n'
                              '[controller]\ntype = "gravity"\ntarget = [1.3, -0.5]\nkp = 0\nkd = 0\n'
                              '[[actuator]]\njoint = "joint1"\ntorque_limit = 1\n'
                              '[[actuator]]\njoint = "joint2"\ntorque_limit = 100\n')
        text, data = self.text_and_json(scenario)
        expected = math.hypot(data["q"][0] - 1.3, data["q"][1] + 0.5)
        self.assertLess(abs(data["target_error"] - expected), 4 * EPS)
        self.assertEqual(data["peak_torque"][0], 1)
        self.assertEqual(data["saturated_periods"], 100)  # the shoulder needs about 30 N m
        self.assertIn("motors at their limits in 100 of 100 control periods\n", text)

    def test_contacts_dissipate_the_energy_of_a_fall(self):
        root = Path(__file__).resolve().parent.parent
        text, data = self.text_and_json(root / "docs/scenarios/bouncing_ball.toml")
        lost = data["energy_start"] - data["energy_end"]
        self.assertGreater(data["dissipated"], 0)
        # No motors and no damping: contacts alone take energy; the steps of the fall are exact to first order.
        self.assertLess(abs(data["dissipated"] - lost), 0.02 * lost)
        self.assertIn(f"dissipated by contacts {cells(data['dissipated'])[0]} J\n", text)

    def test_batch_of_two(self):
        scenario = self.write("s.toml", 'model = "builtin:2r"\nduration = 0.1\n[initial]\nq = [0.3, -0.7]\n'
                              '[controller]\ntype = "pd"\n[batch]\nmass = 0.1\ninitial = "5 deg"\n')
        text, data = self.text_and_json(scenario, "--batch", 2)
        self.assertTrue(text.startswith("2r: 2 runs of 0.100000 s, 0 failed\n"))
        self.assertEqual((data["runs"], data["failed"]), (2, 0))
        tables = {"energy change, J": data["balance"]["change"], "distance to the target": data["target_error"],
                  **{f"peak torque, {joint}": x for joint, x in data["peak_torque"].items()}}
        self.assertEqual(len(tables), 4)
        for label, s in tables.items():
            self.assertEqual(row(text, label), cells(s["mean"], s["deviation"], s["min"], s["max"]))
            # Two numbers: the mean is half the sum, the deviation the difference over sqrt(2).
            scale = abs(s["min"]) + abs(s["max"])
            self.assertLess(s["min"], s["max"])
            self.assertLess(abs(s["mean"] - (s["min"] + s["max"]) / 2), 8 * EPS * scale)
            self.assertLess(abs(s["deviation"] - (s["max"] - s["min"]) / math.sqrt(2)), 8 * EPS * scale)

    def test_identical_runs_give_the_single_run(self):
        one = json.loads(run("simulate", "builtin:2r", "--duration", "0.1", "--controller", "pd", "--json"))
        many = json.loads(run("simulate", "builtin:2r", "--duration", "0.1", "--controller", "pd", "--json", "--batch", 3))
        change = one["energy_end"] - one["energy_start"]
        for found, expected in ((many["balance"]["change"], change), (many["target_error"], one["target_error"])):
            for kind in ("mean", "min", "max"):
                self.assertLess(abs(found[kind] - expected), 8 * EPS * abs(expected))
        self.assertEqual([x["max"] for x in many["peak_torque"].values()], one["peak_torque"])


class EstimateTest(Folder):
    def test_errors_are_those_of_the_written_estimate(self):
        walk, log = self.path("walk.csv"), self.path("est.csv")
        arguments = ["estimate", walk, "--model", "builtin:quadruped", "--feet", ",".join(FEET)]
        text = run(*arguments, "--make-walk", 5, "--seed", 3)
        data = json.loads(run(*arguments, "--json", "-o", log))
        with log.open(newline="") as stream:
            estimate = list(csv.DictReader(stream))
        with walk.open(newline="") as stream:
            truth = {r["t"]: r for r in csv.DictReader(stream)}
        joint = next(k for k in next(iter(truth.values())) if k.startswith("truth.q.")).split(".")[2]
        names = [k for k in next(iter(truth.values())) if k.startswith(f"truth.q.{joint}")]
        self.assertEqual(len(names), 7)
        rows = [r for r in estimate if r["t"] in truth]
        self.assertEqual(len(rows), len(estimate))
        errors = [[float(r[f"estimate.p.{axis}"]) - float(truth[r["t"]][name]) for axis, name in zip("xyz", names)]
                  for r in rows]
        for k in range(3):
            rms = math.sqrt(sum(e[k]**2 for e in errors) / len(errors))
            self.assertLess(abs(data["rms_position"][k] - rms), 1e-12)
        change = [b - a for a, b in zip(errors[0], errors[-1])]
        self.assertLess(abs(data["drift_position"] - math.hypot(*change)), 1e-12)
        self.assertLess(abs(data["drift_height"] - change[2]), 1e-12)
        path = [[float(truth[r["t"]][name]) for name in names[:2]] for r in rows]
        distance = sum(math.dist(a, b) for a, b in zip(path, path[1:]))
        self.assertGreater(distance, 0.1)
        self.assertLess(abs(data["distance"] - distance), 1e-12)
        self.assertEqual(data["begin"], float(rows[0]["t"]))
        self.assertLess(abs(data["seconds"] - (float(rows[-1]["t"]) - float(rows[0]["t"]))), 1e-12)
        self.assertEqual(data["end"][:3], [float(rows[-1][f"estimate.p.{axis}"]) for axis in "xyz"])
        self.assertEqual(data["counts"]["imu_samples"], len(truth))
        self.assertGreater(data["microseconds_per_sample"], 0)
        # The same run as text.
        degrees = 180 / math.pi
        expected = {
            "estimate from": f"{data['begin']:.3f} s, for {data['seconds']:.3f} s",
            "distance over ground": f"{data['distance']:.3f} m",
            "position error, rms": "{:.4f}  {:.4f}  {:.4f} m".format(*data["rms_position"]),
            "rotation error, rms": "{:.4f}  {:.4f}  {:.4f} deg".format(*(degrees * x for x in data["rms_rotation"])),
            "velocity error, rms": "{:.4f}  {:.4f}  {:.4f} m/s".format(*data["rms_velocity"]),
            "position drift": f"{data['drift_position']:.4f} m, "
                              f"{100 * data['drift_position'] / data['distance']:.3f} % of the distance",
            "height drift, yaw drift": f"{data['drift_height']:.4f} m, {degrees * data['drift_yaw']:.3f} deg",
            "NEES, mean": f"{data['nees']:.2f} (9 expected)",
            "NIS, mean per row": f"{data['nis_per_row']:.3f} (1 expected)",
            **{name.replace("_", " "): str(n) for name, n in data["counts"].items() if n},
        }
        printed = {line[2:26].strip(): line[27:] for line in text.splitlines()[1:]}
        self.assertEqual(text.splitlines()[0], "quadruped by inekf")
        self.assertEqual(printed.pop("verdict").split(":")[0], data["verdict"]["verdict"])
        self.assertIn(f"gyroscope {data['noise']['gyro']:.2g} rad/s/sqrt(Hz)", printed.pop("noise"))
        for name, foot in data["feet"].items():
            self.assertEqual(printed.pop(name), f"used {foot['used']} of {foot['measured']}, NIS per row "
                             f"{foot['nis_per_row']:.2f}, slips {foot['slips']}, refused at most "
                             f"{foot['longest_refusal']:.2f} s")
        self.assertEqual(printed, expected)


class PlotTest(Folder):
    def test_motor_table(self):
        n, dt = 200, 0.01
        rows = [(i * dt, math.sin(i * dt), 2 * math.cos(3 * i * dt)) for i in range(n + 1)]  # t, speed, torque
        log = self.write("run.csv", "t,state.q.joint1,state.q.joint2,state.v.joint1,state.v.joint2,torque.motor.joint1,"
                         "torque.motor.joint2\n" + "".join(f"{t!r},0,0,{v!r},0,{tau!r},-1.5\n" for t, v, tau in rows))
        page = self.path("run.html")
        printed = run("plot", log, "--model", "builtin:2r", "-o", page)
        self.assertEqual(printed, f"{page}: 201 rows of 2 topics, 0 s to 2 s\n")
        power = [v * tau for _, v, tau in rows]
        work = sum((a + b) / 2 * dt for a, b in zip(power, power[1:]))
        rms = math.sqrt(sum(tau**2 for _, _, tau in rows) / len(rows))
        text = page.read_text()
        self.assertIn(f"<tr><td>joint1</td><td>N m</td><td>2</td><td>{rms:.4g}</td><td>{work:.4g}</td></tr>", text)
        self.assertIn("<tr><td>joint2</td><td>N m</td><td>1.5</td><td>1.5</td><td>0</td></tr>", text.replace("<td>-0</td>", "<td>0</td>"))


class DemoTest(Folder):
    def both(self, *arguments):
        return (run("demo", *arguments, cwd=self.folder.name),
                json.loads(run("demo", *arguments, "--json", cwd=self.folder.name)))

    def test_arm(self):
        text, data = self.both("arm")
        a, b = data["position"], data["impedance"]
        self.assertEqual(row(text, "largest error on the circle, mm"),
                         [f"{1e3 * x['tracking_error']:.3f}" for x in (a, b)])
        for label, key in (("peak force on the wall, N", "peak_force"), ("force at the end, N", "end_force")):
            self.assertEqual(row(text, label), [f"{x[key]:.1f}" for x in (a, b)])
        self.assertEqual(row(text, "periods with a motor at its limit"), [str(x["saturated_periods"]) for x in (a, b)])
        self.assertEqual((a["periods"], b["periods"]), (4500, 4500))  # 4.5 s at 1 kHz
        # Two springs in series, 300 N/m and the wall of 50 kN/m, are 100 mm short: F = d / (1/k + 1/K).
        hooke = 0.1 / (1 / 300 + 1 / 5e4)
        self.assertLess(abs(data["impedance_force_by_hooke"] - hooke), 32 * EPS * hooke)
        self.assertIn(f"An impedance of 300 N/m, 100 mm short of its goal, exerts {hooke:.1f} N.", text)

    def test_charts_of_the_arm_fill_the_picture(self):
        run("demo", "arm", "--picture", "arm.svg", cwd=self.folder.name)
        root = ElementTree.parse(Path(self.folder.name) / "arm.svg").getroot()
        svg = "{http://www.w3.org/2000/svg}"
        width, height = (float(x) for x in root.get("viewBox").split()[2:])
        self.assertEqual(width, 600)
        texts = list(root.iter(f"{svg}text"))
        titles = {e.text: (float(e.get("x")), float(e.get("y"))) for e in texts}
        places = [titles[t] for t in ("Tool along y", "Force on the wall", "Distance from the reference")]
        self.assertEqual([x for x, _ in places], [4, 4, 4])
        self.assertEqual(places[0][1], 18)
        # The legend of the first has one more row; the last chart ends with the picture.
        self.assertAlmostEqual(places[1][1] - places[0][1], places[2][1] - places[1][1] + 20)
        self.assertAlmostEqual(height + 18 - places[2][1], places[2][1] - places[1][1])
        self.assertEqual([e.text for e in texts if e.text in ("mm", "N")], ["mm", "N", "mm"])
        background = next(root.iter(f"{svg}rect"))
        self.assertEqual((float(background.get("width")), float(background.get("height"))), (width, height))

    def test_lecture(self):
        text, data = self.both("lecture")
        self.assertEqual((data["proven"], data["equal_polynomials"]), (data["statements"], True))
        self.assertIn(f"Proven: {data['proven']} of {data['statements']} statements hold", text)
        self.assertIn(f"energy drift {data['energy_drift']:.1e} J.", text)
        self.assertTrue(0 < data["energy_drift"] < 1e-6)  # Runge-Kutta of order 4 at 1 ms

    def test_quadruped(self):
        text, data = self.both("--duration", "2", "--speed", "0.4", "--push", "3", "--flat")
        walk, proof, degrees = data["walk"], data["proof"], 180 / math.pi
        self.assertEqual(walk["command"], 0.4)
        self.assertIn("prove    {statements} statements about the dynamics at {states} random states: all hold, largest "
                      "difference {largest_difference:.0e}".format(**proof), text)
        self.assertIn("check    {errors} errors, {warnings} warnings".format(**data["check"]), text)
        forward = walk["mean_velocity"][0]
        if not walk["walks"]:
            self.skipTest("built without a solver of quadratic programs")
        self.assertIn(f"Walked {walk['end']:g} s: stand, trot at 0.4 m/s", text)
        self.assertIn("push of 3 N s", text)
        for line in (
                f"true velocity         {forward:.3f} m/s forward, {100 * (forward / 0.4 - 1):+.1f} % of the command; "
                f"tilt up to {degrees * walk['largest_tilt']:.1f} deg",
                f"base estimate         error {100 * walk['position_error']:.1f} cm after {walk['distance']:.1f} m, "
                f"yaw {degrees * walk['yaw_error']:.1f} deg; velocity {walk['velocity_error']:.3f} m/s rms",
                f"beyond 3 sigma      {100 * walk['beyond_three_sigma']:.2f} % of all components",
                f"friction used         {100 * walk['friction_share']:.0f} % of the cone (99th percentile); "
                f"sliding {100 * walk['slid_share']:.1f} % of the time",
                f"torque used           {100 * walk['torque_share']:.0f} % of the limit of "):
            self.assertIn(line, text)
        self.assertIn(f"at most {100 * walk['max_torque_share']:.0f} %", text)
        self.assertIn(f"({walk['end']:.1f} s simulated in ", text)
        for name, times in walk["step_us"].items():
            printed = row(text.split("Time per control step")[1], name + " ")[-5:]
            self.assertEqual(printed[-1], str(times["steps"]))  # the times differ from run to run
            self.assertLessEqual(times["mean"], times["max"])
            self.assertLessEqual(times["p99"], times["p999"])
            self.assertLessEqual(times["p999"], times["max"])
        # At 0.4 m/s for 2 s, less the acceleration.
        self.assertTrue(0.2 < walk["distance"] < 1.2)


if __name__ == "__main__":
    LIMB = os.path.abspath(sys.argv.pop(1))
    unittest.main()
