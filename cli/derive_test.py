"""`limb derive`: python3 cli/derive_test.py build/limb

Generated functions are compiled or executed here and compared with `limb eval`, which computes numerically
from the same file.
"""

import ctypes
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LIMB = "limb"
ROOT = Path(__file__).resolve().parent.parent
# Thousands of rounded terms of the size of the result.
TOLERANCE = 1e-12


FRACTIONS = """name = "fractions"
gravity = [0, "-9.81/k", 0]
[parameters]
c = {c}
k = {k}
r = {r}
[[standard_dh]]
type = "revolute"
a = "1/k"
mass = "3*c/k"
damping = "c/(2*r)"
[[standard_dh]]
type = "revolute"
a = "r/k^3"
mass = "c/r^2"
damping = "1/(k^2*r)"
"""


def run(*arguments):
    return subprocess.run([LIMB, *map(str, arguments)], capture_output=True, text=True, timeout=1200)


def derive(*arguments):
    result = run("derive", *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def with_random_parameters(name, generator, folder):
    """models/NAME.toml with random values of its parameters: the new file and the values."""
    values = {}
    lines, inside = [], False
    for line in (ROOT / "models" / f"{name}.toml").read_text().splitlines():
        if line.startswith("["):
            inside = line.strip() == "[parameters]"
        found = re.match(r"(\w+) *= *[0-9.]+", line) if inside else None
        if found:
            values[found[1]] = round(generator.uniform(0.2, 2), 6)
            line = f"{found[1]} = {values[found[1]]}"
        lines.append(line)
    path = Path(folder) / f"{name}.toml"
    path.write_text("\n".join(lines) + "\n")
    return path, values


def numbers(path, states, *options):
    """tau, M, g and V of `limb eval`, without Coulomb friction, which these robots do not have."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "in.json"
        file.write_text(json.dumps({"states": states}))
        out = run("eval", path, "--input", file, "--only", "tau_rnea,M,g,nle", *options)
        assert out.returncode == 0, out.stderr
        return json.loads(out.stdout)["states"]


def compiled(source, folder, name):
    """The C source as a loaded library."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    c = Path(folder) / f"{name}.c"
    c.write_text(source)
    library = c.with_suffix(".so")
    flags = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(c), "-o", str(library), "-lm"], check=True, timeout=1200)
    return ctypes.CDLL(str(library))


def call(function, p, state, n):
    array = lambda x: (ctypes.c_double * max(1, len(x)))(*x)
    outputs = [array([0] * size) for size in (n * n, n, n, n)]
    function(array(p), array(state["q"]), array(state["v"]), array(state["a"]), *outputs)
    return [list(x) for x in outputs]


class Derive(unittest.TestCase):
    def close(self, found, expected, what):
        size = max(1, *map(abs, expected))
        for x, y in zip(found, expected, strict=True):
            self.assertLess(abs(x - y), TOLERANCE * size, what)

    def compare(self, results, expected, damping, state, what):
        M, V, G, tau = results
        self.close(M, [x for row in expected["M"] for x in row], f"M of {what}")
        self.close(G, expected["g"], f"G of {what}")
        torques = [d * v for d, v in zip(damping, state["v"], strict=True)]
        bias = [h - g - t for h, g, t in zip(expected["nle"], expected["g"], torques, strict=True)]
        self.close(V, bias, f"V of {what}")
        self.close(tau, expected["tau_rnea"], f"tau of {what}")

    def states(self, generator, nq, nv, free=False):
        draw = lambda n: [generator.uniform(-1, 1) for _ in range(n)]
        states = [{"q": draw(nq), "v": draw(nv), "a": draw(nv)} for _ in range(3)]
        for state in states if free else []:
            size = sum(x * x for x in state["q"][3:7]) ** 0.5
            state["q"][3:7] = [x / size for x in state["q"][3:7]]
        return states

    def test_functions_of_recipes(self):
        generator = random.Random(11)
        for name in ["2r", "rp", "craig-rp", "pr", "pp", "rr", "belt-leg", "pendulum", "cartpole"]:
            with tempfile.TemporaryDirectory() as folder:
                path, values = with_random_parameters(name, generator, folder)
                identifier = re.sub(r"\W", "_", name)
                identifier = identifier if identifier[0].isalpha() else "robot_" + identifier
                text = derive(ROOT / "models" / f"{name}.toml", "--format", "c")
                order = re.search(r"Parameters p: (.*?)\. Results", text)[1].split(", ")
                p = [values[x] for x in order]
                n = 1 if name == "pendulum" else 2
                states = self.states(generator, n, n)
                expected = numbers(path, states)
                function = getattr(compiled(text, folder, identifier), identifier)
                space = {}
                exec(derive(ROOT / "models" / f"{name}.toml", "--format", "python"), space)
                for state, right in zip(states, expected, strict=True):
                    self.compare(call(function, p, state, n), right, [0] * n, state, f"{name} in C")
                    result = space[identifier](p, state["q"], state["v"], state["a"])
                    self.compare(result, right, [0] * n, state, f"{name} in Python")

    def test_negative_powers(self):
        """Masses, lengths and gravity that are fractions of parameters, in both languages and both forms."""
        values = {"c": 0.9, "k": 1.7, "r": 0.6}
        generator = random.Random(13)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "fractions.toml"
            path.write_text(FRACTIONS.format(**values))
            states = self.states(generator, 2, 2)
            expected = numbers(path, states)
            damping = [values["c"] / (2 * values["r"]), 1 / (values["k"] ** 2 * values["r"])]
            for option in ([], ["--recursive"]):
                text = derive(path, "--format", "c", *option)
                self.assertIn("Parameters p: c, k, r. Results", text)
                self.assertIn("/", text.split("{", 1)[1])
                library = compiled(text, folder, "fractions" + "".join(option).replace("-", "_"))
                space = {}
                exec(derive(path, "--format", "python", *option), space)
                self.assertEqual(space["fractions_defaults"], list(values.values()))
                for state, right in zip(states, expected, strict=True):
                    p = list(values.values())
                    self.compare(call(library.fractions, p, state, 2), right, damping, state, f"C {option}")
                    result = space["fractions"](p, state["q"], state["v"], state["a"])
                    self.compare(result, right, damping, state, f"Python {option}")

    def test_coulomb_friction(self):
        """tau contains it in every form and language, also of a coupled joint and for both signs of the velocity."""
        recipe = """name = "rubbing"
gravity = [0, -9.81, 0]
[parameters]
l = 0.5
[[standard_dh]]
name = "first"
type = "revolute"
a = "l"
mass = 2
friction = 0.3
damping = 0.1
[[standard_dh]]
name = "second"
type = "revolute"
a = "l"
mass = 1
[[standard_dh]]
name = "third"
type = "revolute"
a = "l"
mass = 1
friction = 0.2
[[coupling]]
joint = "third"
terms = [{joint = "first", ratio = 0.5}, {joint = "second", ratio = -2}]
"""
        generator = random.Random(15)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rubbing.toml"
            path.write_text(recipe)
            states = self.states(generator, 2, 2)
            states.append({"q": [0.1, 0.2], "v": [0.0, 0.0], "a": [0.3, -0.4]})
            expected = numbers(path, states)
            for options in ([], ["--symbolic-parameters"], ["--recursive"], ["--recursive", "--symbolic-parameters"],
                            ["--recursive", "--numeric-parameters"]):
                c = derive(path, "--format", "c", *options)
                library = compiled(c, folder, "rubbing" + "".join(options).replace("-", "_"))
                space = {}
                exec(derive(path, "--format", "python", *options), space)
                p = space["rubbing_defaults"]
                for state, right in zip(states, expected, strict=True):
                    for found in (call(library.rubbing, p, state, 2), space["rubbing"](p, *state.values())):
                        self.close(found[3], right["tau_rnea"], f"tau {options}")
            page = derive(path)
            self.assertIn("0.3 sgn(qd1)", page.replace("3/10", "0.3"))
            self.assertIn("- 2/5 sgn(1/2 (qd1 - 4 qd2))", page)
            data = json.loads(derive(path, "--json"))
            self.assertEqual(data["friction"][1], {"joint": "third", "size": ["1/10", "-2/5"],
                                                   "velocity": "1/2*qd1 - 2*qd2"})

    def test_functions_of_larger_robots(self):
        """Six joints in closed form; a humanoid on a free base in recursive form."""
        generator = random.Random(12)
        cases = [("arm6", [], 6, 6), ("arm6", ["--symbolic-parameters"], 6, 6), ("arm6", ["--recursive"], 6, 6),
                 ("humanoid", ["--recursive"], None, None), ("quadruped", ["--recursive"], None, None)]
        for name, options, nq, nv in cases:
            if nq is None:
                info = json.loads(run("info", f"builtin:{name}", "--json").stdout)
                nq, nv = info["nq"], info["nv"]
            text = derive(f"builtin:{name}", "--format", "c", *options)
            states = self.states(generator, nq, nv, free=nq > nv)
            with tempfile.TemporaryDirectory() as folder:
                library = compiled(text, folder, name)
                function = getattr(library, name)
                count = re.search(name + r"_defaults\[(\d+)\]", text)
                p = list((ctypes.c_double * int(count[1])).in_dll(library, name + "_defaults")) if count else []
                for state, right in zip(states, numbers(f"builtin:{name}", states), strict=True):
                    found = call(function, p, state, nv)
                    # Drives of these robots have no damping; armature is in M of both.
                    self.close(found[3], right["tau_rnea"], f"tau of {name} {options}")
                    self.close(found[0], [x for row in right["M"] for x in row], f"M of {name} {options}")
                    self.close(found[2], right["g"], f"G of {name} {options}")

    def test_text(self):
        text = derive("builtin:2r", "--only", "M,G,tau")
        self.assertIn("    M = [ (m1 + m2) l1^2 + m2 (2 l1 l2 c2 + l2^2)  m2 (l1 l2 c2 + l2^2) ]\n", text)
        self.assertIn("        [ m2 l2 g c12                     ]\n", text)
        agreement = "\nDerived from the Lagrangian and by the Newton-Euler recursion: both give the same polynomials.\n"
        self.assertIn(agreement, text)
        for way in ["--lagrange", "--newton-euler"]:
            other = derive("builtin:2r", way, "--only", "M,G,tau")
            self.assertEqual(other, text.replace(agreement, ""))

    def test_steps_of_welded_links_with_symbolic_masses(self):
        """The mass centre of the sum is not a symbol then, so the page has first moment and inertia instead."""
        inertial = ('<inertial><origin xyz="{}"/><mass value="{}"/>'
                    '<inertia ixx="0.01" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>')
        urdf = ('<robot name="welded"><link name="base"/>'
                f'<link name="a">{inertial.format("0.3 0 0", 2)}</link><link name="b">{inertial.format("0.1 0 0", 1)}</link>'
                '<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>'
                '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
                '<joint name="f" type="fixed"><parent link="a"/><child link="b"/><origin xyz="0.5 0 0"/></joint></robot>')
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "welded.urdf"
            path.write_text(urdf)
            for form in ("text", "html", "latex", "markdown"):
                page = derive(path, "--steps", "--symbolic-parameters", "--format", form)
                self.assertIn("first moment", page)
            page = derive(path, "--steps", "--symbolic-parameters")
        self.assertIn("has mass m1 + m1b, first moment h and inertia I about its origin", page)

    def test_fixed_base(self):
        """--base fixed overrides the free joint of the file, in both forms, as it does in eval."""
        generator = random.Random(14)
        states = self.states(generator, 12, 12)
        expected = numbers("builtin:quadruped", states, "--base", "fixed")
        for option in ([], ["--recursive"]):
            text = derive("builtin:quadruped", "--base", "fixed", "--format", "python", *option)
            space = {}
            exec(text, space)
            for state, right in zip(states, expected, strict=True):
                results = space["quadruped"](space["quadruped_defaults"], state["q"], state["v"], state["a"])
                self.close(results[0], [x for row in right["M"] for x in row], f"M {option}")
                self.close(results[2], right["g"], f"G {option}")
                self.close(results[3], right["tau_rnea"], f"tau {option}")

    def test_routes(self):
        """Each route alone gives the same page, and all three are compared on the page with steps."""
        pages = [derive("builtin:rr", "--route", route, "--only", "M,G,tau")
                 for route in ("lagrange", "newton-euler", "modern-robotics")]
        self.assertEqual(len(set(pages)), 1)
        page = derive("builtin:rr", "--route", "all", "--steps")
        for text in ("d/dt dL/dqd1 - dL/dq1 = ", "V = Md qd - 1/2 u", "G = -sum_{i} Jvi^T mi g", "    A1 = ", "    Vd2 = ",
                     "tau2^Lagrange - tau2^(Newton-Euler) = 0", "tau2^Lagrange - tau2^(Modern Robotics) = 0"):
            self.assertIn(text, page)
        data = json.loads(derive("builtin:arm6", "--route", "all", "--json", "--only", "tau"))
        self.assertEqual((data["method"], data["equal"]), ("all", True))

    def test_notation(self):
        page = derive("builtin:belt-leg", "--expanded", "--only", "K")
        self.assertIn("K = 2/3 m l^2 qd1^2 + 1/2 m l^2 cos(q2 - q1) qd1 qd2 + 1/6 m l^2 qd2^2", page)
        page = derive("builtin:rr", "--letters", "DCg", "--long-functions")
        self.assertIn("tau = D(q) qdd + C(q, qd) qd + g(q)", page)
        self.assertIn("cos(q1 + q2)", page)
        self.assertNotIn("c12", page)
        self.assertIn("c1,2", derive("builtin:rr", "--comma-indices"))
        self.assertIn("tau = M(q) qdd + c(q, qd) + g(q)", derive("builtin:rr", "--letters", "Mcg"))

    def test_answers(self):
        right = run("derive", "builtin:rr", "--check", "M22 = m2 lc2^2 + I2")
        self.assertEqual((right.returncode, right.stdout), (0, "M22: equal\n"))
        wrong = run("derive", "builtin:rr", "--check", "M22 = m2 lc2^2 + I2", "--check", "G_2 = m_2 g l_{c2} c_1", "--json")
        self.assertEqual(wrong.returncode, 2)
        data = json.loads(wrong.stdout)
        self.assertEqual([x["equal"] for x in data["answers"]], [True, False])
        self.assertFalse(data["equal"])
        bad = run("derive", "builtin:rr", "--check", "M22 = ")
        self.assertEqual(bad.returncode, 1)
        self.assertIn("the formula ends too early", bad.stderr)

    def test_json(self):
        data = json.loads(derive("builtin:rr", "--json", "--frame", "link2"))
        self.assertTrue(data["equal"])
        self.assertGreater(data["terms"], 20)
        self.assertTrue(1000 < data["peak_bytes"] < 10_000_000)
        self.assertEqual(data["M"][1][1], "m2*lc2^2 + I2")
        self.assertEqual(data["coriolis"], [["-2*m2*l1*lc2*sin(q2)"], ["0"]])
        self.assertEqual([x["ijk"] for x in data["christoffel"]], [[1, 1, 2], [1, 2, 2], [2, 1, 1]])
        self.assertEqual(data["frames"][0]["J"][5], ["1", "1"])
        self.assertEqual([x["joint"] for x in data["coordinates"]], ["joint1", "joint2"])
        recursive = json.loads(derive("builtin:rr", "--json", "--recursive"))
        self.assertEqual(recursive["outputs"]["M"]["rows"], 2)
        self.assertEqual(recursive["parameters"]["m1"], 2.0)

    def test_output_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "out.txt"
            self.assertEqual(derive("builtin:2r", "-o", file), "")
            self.assertEqual(file.read_text(), derive("builtin:2r"))

    def test_too_large_offers_the_recursive_form(self):
        result = run("derive", "builtin:arm7")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"^limb derive: the closed forms have at least \d+ terms, more than the limit of "
                                        r"20000 \(--max-terms\); the recursive form \(--recursive\) has \d+ "
                                        r"assignments\n$")
        self.assertEqual(result.stdout, "")
        self.assertIn("tau7", derive("builtin:arm7", "--only", "tau", "--max-terms", "100000"))

    def test_bad_input(self):
        cases = [
            (["builtin:humanoid"], r"joint 'base' is free and the robot has \d+ other joints, expected at most 3"),
            (["builtin:2r", "--only", "m"], r"derive: quantity 'm' is not one of: M C B .*"),
            (["builtin:2r", "--only", "J"], r"derive: J needs a frame, expected its name \(--frames\)"),
            (["builtin:2r", "--frame", "tol"], r"no frame is named 'tol' \(closest: 'tool'\)"),
            (["builtin:2r", "--format", "odt"], r"--format is 'odt', expected one of beamer, c, "),
            (["builtin:2r", "--lagrange", "--newton-euler"], r"excludes"),
            (["builtin:2r", "--recursive", "--only", "K"], r"K has no recursive form"),
            (["nowhere.urdf"], r"nowhere\.urdf"),
        ]
        for arguments, text in cases:
            result = run("derive", *arguments)
            self.assertEqual(result.returncode, 1, arguments)
            self.assertRegex(result.stderr, text)
            self.assertEqual(result.stderr.count("\n"), 1)
            self.assertEqual(result.stdout, "")


if __name__ == "__main__":
    LIMB = sys.argv.pop(1)
    unittest.main()
