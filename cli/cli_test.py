"""The command line: python3 cli/cli_test.py build/limb

Numbers are compared with closed forms written here, in Python, from the textbook two-link arm.
"""

import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

LIMB = "limb"
ROOT = Path(__file__).resolve().parent.parent
EPS = sys.float_info.epsilon
SVG = "{http://www.w3.org/2000/svg}"


def run(*arguments, **options):
    return subprocess.run([LIMB, *arguments], capture_output=True, text=True, timeout=1200, **options)


class HelpTest(unittest.TestCase):
    def test_main_help_has_usage_then_groups_of_verbs_then_examples(self):
        result = run("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        places = [result.stdout.index(text) for text in
                  ("Usage: limb VERB [options]", "Robots\n  info ", "Dynamics\n  eval ", "  simulate ", "Examples\n  limb info ")]
        self.assertEqual(places, sorted(places))
        self.assertIn("Exit: 0 ok, 1 bad input, 2 computation failed. Interrupted: 130 (SIGINT), 143 (SIGTERM).", result.stdout)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 100)
        for other in (["-h"], ["help"]):
            self.assertEqual(run(*other).stdout, result.stdout)

    @staticmethod
    def verbs():
        text = run("--help").stdout
        return re.findall(r"^  ([a-z]+) ", text[text.index("Robots"):text.index("Help\n")], re.MULTILINE)

    def test_every_listed_verb_has_help_with_usage_and_example_first(self):
        self.assertGreaterEqual(len(self.verbs()), 12)
        for verb in self.verbs():
            result = run(verb, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""), verb)
            self.assertLess(result.stdout.index(f"Usage: limb {verb}"), result.stdout.index(f"  limb {verb}"))
            self.assertLess(result.stdout.index(f"  limb {verb}"), result.stdout.index("--help"))
            self.assertLessEqual(max(map(len, result.stdout.splitlines())), 100)
            self.assertEqual(run("help", verb).stdout, result.stdout)
        self.assertEqual(run("help", "evl").stderr.strip(),
                         "limb: unknown verb 'evl', closest: 'eval' (see: limb --help)")

    def test_version(self):
        self.assertRegex(run("version").stdout, r"^limb [0-9]+\.[0-9]+\.[0-9]+\n$")
        self.assertEqual(run("version").stdout, run("--version").stdout)

    def test_list_names_every_builtin_robot(self):
        robots = json.loads(run("list", "--json").stdout)["robots"]
        self.assertEqual(sorted(robot["name"] for robot in robots),
                         sorted(f"builtin:{path.stem}" for path in ROOT.joinpath("models").glob("*.toml")))
        lines = run("list").stdout.splitlines()[1:]
        self.assertEqual(len(lines), len(robots))
        for line, robot in zip(lines, robots):
            self.assertTrue(line.startswith(robot["name"] + " ") and robot["description"] in line, line)
            self.assertLessEqual(len(line), 120)
            info = json.loads(run("info", robot["name"], "--json").stdout)
            self.assertEqual(robot["nv"], info["nv"])

    def complete(self, *words):
        """What bash offers for the last word."""
        script = (f'source <({LIMB} completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _limb; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        return subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True).stdout.split()

    def test_completion_of_bash(self):
        self.assertEqual(self.complete("limb", "si"), ["simulate"])
        self.assertTrue(set(self.verbs()) <= set(self.complete("limb", "")))
        self.assertEqual(self.complete("limb", "simulate", "--dur"), ["--duration"])
        self.assertEqual(self.complete("limb", "help", "ev"), ["eval"])
        self.assertIn("quadruped", self.complete("limb", "info", "builtin", ":"))
        self.assertEqual(self.complete("limb", "info", "builtin", ":", "arm"), ["arm6", "arm7"])
        self.assertIn("models", self.complete("limb", "info", "mod"))
        for shell in ("zsh", "fish"):
            text = run("completion", shell).stdout
            for verb in self.verbs():
                self.assertIn(verb, text)
            self.assertIn("builtin:quadruped", text)
        self.check_error("limb completion: SHELL is 'csh', expected one of bash, zsh, fish", "completion", "csh")
        self.check_error("limb completion: SHELL is required: bash, zsh or fish", "completion")
        for verb in (["completion", "bash"], ["version"], ["--version"], ["help", "info"]):
            self.check_error(f"limb {verb[0]}: unknown argument 'x' (see: limb --help)", *verb, "x")

    def options(self, verb):
        """Name and value of each option, from its manual page: {"--output": "FILE"}."""
        page = run("man", verb).stdout.replace("\\-", "-")
        page = page[page.index(".SH OPTIONS"):page.index(".SH EXAMPLES")]
        found = {}
        for line in re.findall(r"^\.TP\n(.*)$", page, re.MULTILINE):
            names, value = re.findall(r"\\fB(-[^\\]*)\\fR", line), re.findall(r"\\fI([^\\]*)\\fR", line)
            for name in names:
                found[name] = value[0] if value else ""
        return found

    def test_manual_pages_list_all_options(self):
        main = run("man").stdout
        self.assertTrue(main.startswith(".TH LIMB 1 "))
        for verb in self.verbs():
            self.assertIn(f"limb\\-{verb}", main)
            options = self.options(verb)
            text = run(verb, "--help").stdout
            self.assertEqual(sorted(name for name in options if name.startswith("--")),
                             sorted(set(re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", text, re.MULTILINE))), verb)
            for section in ("NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS"):
                self.assertIn(f"\n.SH {section}\n", run("man", verb).stdout)
        self.check_error("limb man: verb is 'x', expected one of " + ", ".join(self.verbs()), "man", "x")

    def test_an_option_has_one_spelling_in_all_verbs(self):
        values = {}
        for verb in self.verbs():
            options = self.options(verb)
            self.assertEqual("--output" in options, "-o" in options, verb)
            for former in ("--out", "--seconds", "--quantity", "--frame"):
                self.assertNotIn(former, options, verb)
            self.assertIn("--json", options, verb)
            for name in ("--frames", "--only", "--functions"):
                self.assertIn(options.get(name, "A,B,..."), ("A,B,...",), verb)
            for name, value in options.items():
                values.setdefault(name, {}).setdefault(value, []).append(verb)
        for name in ("--duration", "--seed", "--root", "--base", "--missing-meshes", "--unsupported", "--threads"):
            self.assertEqual(len(values[name]), 1, values[name])

    def test_colour_on_terminals_only(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.urdf")
            Path(path).write_text('<robot name="a"><link name="b"><inertial><mass value="-1"/><inertia ixx="1" iyy="1" izz="1" '
                                  'ixy="0" ixz="0" iyz="0"/></inertial></link></robot>')
            plain = run("check", path).stdout
            self.assertIn(": error: ", plain)
            self.assertNotIn("\033", plain)
            for environment, colour in (({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False),
                                        ({"TERM": "xterm", "NO_COLOR": "1"}, False)):
                head, tail = os.openpty()
                subprocess.run([LIMB, "check", path], stdout=tail, stderr=tail, env=environment, timeout=60)
                os.close(tail)
                text = os.read(head, 100_000).decode()
                os.close(head)
                self.assertEqual(": \033[1;31merror\033[0m: " in text, colour)
                self.assertEqual(re.sub("\033\\[[0-9;]*m", "", text).replace("\r", ""), plain)

    def test_former_names_of_options_still_work(self):
        self.assertEqual(run("derive", "builtin:rr", "--quantity", "M,G", "--frame", "link2").stdout,
                         run("derive", "builtin:rr", "--only", "M,G", "--frames", "link2").stdout)
        self.assertEqual(run("derive", "--only", "M,G", "builtin:rr").stdout,
                         run("derive", "builtin:rr", "--only", "M", "--only", "G").stdout)

    def check_error(self, message, *arguments):
        result = run(*arguments)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (1, "", message + "\n"))

    def test_examples_in_help_work(self):
        lines = run("demo", "--help").stdout.splitlines()
        examples = [line.strip() for line in lines if line.startswith("  limb demo")]
        self.assertGreaterEqual(len(examples), 3)
        with tempfile.TemporaryDirectory() as folder:
            # The file of the user.
            self.assertEqual(run("check", "builtin:quadruped", "--fix", "dog.urdf", cwd=folder).returncode, 0)
            for example in examples:
                words = example.split("   ")[0].split()[1:]
                self.assertEqual(run(*words, cwd=folder).returncode, 0, example)

    def test_version(self):
        result = run("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"\Alimb \d+\.\d+\.\d+\n\Z")


class DemoReportsTest(unittest.TestCase):
    def test_arm_force_follows_hookes_law(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("demo", "arm", "--json", cwd=folder)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            found = json.loads(result.stdout)
            page = os.path.join(folder, "out", "demo_arm.html")
            with open(page, encoding="utf-8") as file:
                html = file.read()
        hooke, soft, stiff = found["impedance_force_by_hooke"], found["impedance"], found["position"]
        self.assertLess(abs(soft["end_force"] / hooke - 1), 0.02)
        self.assertGreater(stiff["end_force"], 3 * soft["end_force"])
        for one in (soft, stiff):
            self.assertLess(one["tracking_error"], 1e-3)
        self.assertNotIn("http://", html.replace("http://www.w3.org", ""))
        self.assertNotIn("https://", html)
        self.assertEqual(html.count("<canvas"), 2)

    def test_lecture_is_derived_and_proven(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "lecture.html")
            result = run("demo", "lecture", "-o", page)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            with open(page, encoding="utf-8") as file:
                self.assertIn("<math", file.read())
        self.assertIn("give the same polynomials", result.stdout)
        self.assertRegex(result.stdout, r"Proven: (\d+) of \1 statements hold")

    def test_lecture_takes_any_robot(self):
        """A closed form where there is one of a few pages, otherwise the recursive form; floating bases too."""
        cases = {"builtin:craig-rp": True, "builtin:planar-monopod": True, "builtin:arm7": False, "builtin:quadruped": False}
        for robot, closed in cases.items():
            with tempfile.TemporaryDirectory() as folder:
                page = os.path.join(folder, "lecture.html")
                result = run("demo", "lecture", "--model", robot, "-o", page, "--json")
                self.assertEqual((result.returncode, result.stderr), (0, ""), robot)
                with open(page, encoding="utf-8") as file:
                    html = file.read()
            found = json.loads(result.stdout)
            self.assertEqual((found["closed_form"], found["equal_polynomials"]), (closed, closed), robot)
            self.assertEqual(found["statements"], found["proven"], robot)
            self.assertEqual(found["duration"], 6, robot)
            self.assertLess(found["energy_drift"], 1e-3, robot)
            self.assertEqual(html.count("<canvas"), 1)
            self.assertEqual("<math" in html, closed)
        for robot, message in (("nothing.urdf", "nothing.urdf"), ("builtin:nothing", "builtin")):
            result = run("demo", "lecture", "--model", robot)
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr)


class ErrorTest(unittest.TestCase):
    def check(self, code, message, *arguments):
        result = run(*arguments)
        self.assertEqual(result.stderr, message + "\n")
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.returncode, code)

    def test_no_verb(self):
        self.check(1, "limb: no verb given (see: limb --help)")

    def test_unknown_verb_names_the_nearest(self):
        self.check(1, "limb: unknown verb 'dmeo', closest: 'demo' (see: limb --help)", "dmeo")

    def test_unknown_verb_far_from_all_has_no_suggestion(self):
        self.check(1, "limb: unknown verb 'xyzzy' (see: limb --help)", "xyzzy")
        self.check(1, "limb: unknown verb '' (see: limb --help)", "")
        self.check(1, "limb: unknown option '--foo' (see: limb --help)", "--foo")

    def test_unknown_option_names_the_nearest(self):
        self.check(1, "limb demo: unknown argument '--q1-dg=3', closest: '--q1-deg'"
                   " (see: limb demo --help)", "demo", "planar", "--q1-dg=3")
        self.check(1, "limb demo: unknown argument 'stray' (see: limb demo --help)", "demo", "stray")

    def test_bad_numbers(self):
        self.check(1, "limb demo: --q1-deg is 'abc', expected a number", "demo", "planar", "--q1-deg",
                   "abc")
        self.check(1, "limb demo: --q1-deg is '3x', expected a number", "demo", "planar", "--q1-deg=3x")
        self.check(1, "limb demo: --qd1 is nan, expected a finite number", "demo", "planar",
                   "--qd1", "nan")
        self.check(1, "limb demo: --mass2 is '1e999', expected a number that a double can hold",
                   "demo", "planar", "--mass2", "1e999")
        self.check(1, "limb demo: mass of link 1 (kg) is 0, expected > 0 and finite",
                   "demo", "planar", "--mass1", "0")
        self.check(1, "limb demo: length of link 2 (m) is -1, expected > 0 and finite",
                   "demo", "planar", "--length2", "-1")

    def test_missing_and_repeated_values(self):
        for arguments in (["--q1-deg"], ["--q1-deg", "1", "--q1-deg", "2"], ["--json=3"]):
            result = run("demo", "planar", *arguments)
            self.assertEqual((result.returncode, result.stdout), (1, ""), arguments)
            self.assertRegex(result.stderr, r"\Alimb demo: .*(--q1-deg|json).*\n\Z")
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_result_beyond_double_is_a_failed_computation(self):
        text = "limb demo: the result is too large for a double (see lengths, masses, rates)"
        self.check(2, text, "demo", "planar", "--length1", "1e200")
        self.check(2, text, "demo", "planar", "--qd1", "1e200")

    def test_picture_that_cannot_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "absent", "arm.svg")
            self.check(1, f"limb demo: cannot write {path}: No such file or directory",
                       "demo", "planar", "--picture", path)

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_full_disk_is_reported(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([LIMB, "demo", "planar"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, "limb: cannot write to stdout: No space left on device\n")

    def test_closed_pipe_is_silent(self):
        for arguments in (["demo", "planar"], ["demo", "planar", "--json"], ["--help"]):
            reader, writer = os.pipe()
            os.close(reader)
            result = subprocess.run([LIMB, *arguments], stdout=writer, stderr=subprocess.PIPE)
            os.close(writer)
            self.assertEqual((result.returncode, result.stderr), (0, b""), arguments)


class Arm:
    """Closed forms of the planar arm with uniform rods."""

    def __init__(self, q1, q2, w1, w2, l1=1.0, l2=0.8, m1=2.0, m2=1.5):
        s1, c1, s12, c12 = math.sin(q1), math.cos(q1), math.sin(q1 + q2), math.cos(q1 + q2)
        self.elbow = (l1 * c1, l1 * s1)
        self.tip = (l1 * c1 + l2 * c12, l1 * s1 + l2 * s12)
        self.J = [[-l1 * s1 - l2 * s12, -l2 * s12], [l1 * c1 + l2 * c12, l2 * c12]]
        self.v = [row[0] * w1 + row[1] * w2 for row in self.J]
        self.w = w1 + w2
        I1, I2, r1, r2, c2 = m1 * l1**2 / 12, m2 * l2**2 / 12, l1 / 2, l2 / 2, math.cos(q2)
        m12 = I2 + m2 * (r2**2 + l1 * r2 * c2)
        self.M = [[I1 + I2 + m1 * r1**2 + m2 * (l1**2 + r2**2 + 2 * l1 * r2 * c2), m12],
                  [m12, I2 + m2 * r2**2]]
        self.T = (self.M[0][0] * w1**2 + 2 * m12 * w1 * w2 + self.M[1][1] * w2**2) / 2
        self.com = [(m1 * r1 * a + m2 * (l1 * a + r2 * b)) / (m1 + m2)
                    for a, b in ((c1, c12), (s1, s12))]


class DemoTest(unittest.TestCase):
    # Sums of a few products of numbers near 1 on both sides; 64 eps of the scale allows for another
    # libm.
    def assert_near(self, found, expected, scale):
        self.assertLessEqual(abs(found - expected), 64 * EPS * scale)

    def assert_all_near(self, found, expected, scale):
        self.assertEqual(len(found), len(expected))
        for a, b in zip(found, expected):
            self.assert_near(a, b, scale)

    STATES = [(30, 60, 1.0, 0.5), (-110, 47.5, -2.0, 3.5), (0, 0, 1, 1), (15, 180, 0, 0),
              (720, -90, 0.25, -1)]

    def test_json_agrees_with_closed_forms(self):
        for q1, q2, w1, w2 in self.STATES:
            with self.subTest(q1=q1, q2=q2, w1=w1, w2=w2):
                result = run("demo", "planar", "--json", "--q1-deg", str(q1), f"--q2-deg={q2}", "--qd1",
                             str(w1), "--qd2", str(w2))
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                data = json.loads(result.stdout)
                arm = Arm(math.radians(q1), math.radians(q2), w1, w2)
                # Angles of several turns have the rounding error of the degrees.
                scale = 4 * (1 + abs(w1) + abs(w2)) * (1 + math.radians(abs(q1) + abs(q2)))
                frames, tip = data["frames"], data["tip"]
                self.assert_all_near(frames["X_WB2"]["p"], [*arm.elbow, 0], scale)
                self.assert_all_near(frames["X_WE"]["p"], [*arm.tip, 0], scale)
                self.assert_all_near(tip["v_WE"], [*arm.v, 0], scale)
                self.assert_all_near(tip["V_WE_E"][3:], [0, 0, arm.w], scale)
                # The same twist about the origin: v - w x p.
                at_origin = [arm.v[0] + arm.w * arm.tip[1], arm.v[1] - arm.w * arm.tip[0], 0]
                self.assert_all_near(tip["V_WE_W"], [*at_origin, 0, 0, arm.w], scale)
                self.assert_all_near(data["inertia"]["I_W"]["com"], [*arm.com, 0], scale)
                for name in ("kinetic_energies", "closed_form"):
                    for found, expected in zip(data["mass_matrix"][name], arm.M):
                        self.assert_all_near(found, expected, scale)
                self.assert_near(data["mass_matrix"]["composite_11"], arm.M[0][0], scale)
                for name in ("bodies", "mass_matrix"):
                    self.assert_near(data["kinetic_energy"][name], arm.T, scale * scale)
                # Half axes of the ellipse are the singular values of J.
                a, b = tip["velocity_ellipse"]["half_axes"]
                (j11, j12), (j21, j22) = arm.J
                self.assert_near(a * b, abs(j11 * j22 - j12 * j21), scale)
                self.assert_near(a * a + b * b, j11**2 + j12**2 + j21**2 + j22**2, scale)

    def test_other_links(self):
        result = run("demo", "planar", "--json", "--length1", "0.3", "--length2", "2", "--mass1", "7",
                     "--mass2", "0.1")
        arm = Arm(math.radians(30), math.radians(60), 1.0, 0.5, 0.3, 2, 7, 0.1)
        for found, expected in zip(json.loads(result.stdout)["mass_matrix"]["kinetic_energies"],
                                   arm.M):
            self.assert_all_near(found, expected, 1)

    def test_tables_have_the_same_numbers(self):
        text = run("demo", "planar").stdout
        arm = Arm(math.radians(30), math.radians(60), 1.0, 0.5)
        row = "  from kinetic energies {:15.6f} {:9.6f} {:9.6f}".format(
            arm.M[0][0], arm.M[0][1], arm.M[1][1])
        self.assertIn(row.split(), [line.split() for line in text.splitlines()])
        self.assertIn(f"sum over the links  {arm.T:.6f}", text)
        self.assertNotIn("-0.000000", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_small_numbers_are_not_rounded_to_zero(self):
        text = run("demo", "planar", "--length1", "1e-5", "--length2", "1e-5").stdout
        self.assertRegex(text, r"X_WE   tip +\d\.\d{5}e-06 +\d\.\d{5}e-05")


class PictureTest(unittest.TestCase):
    def draw(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "arm.svg")
            result = run("demo", "planar", "--picture", path, *arguments)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual(result.stdout, run("demo", "planar", *arguments).stdout)
            with open(path, encoding="utf-8") as file:
                return file.read()

    def test_well_formed_and_inside_its_frame(self):
        for arguments in ([], ["--q2-deg", "0"], ["--qd1", "0", "--qd2", "0"],
                          ["--length1", "1e-6", "--length2", "1e-6", "--q2-deg", "180"],
                          ["--length1", "4e5", "--q1-deg", "-160"]):
            with self.subTest(arguments=arguments):
                text = self.draw(*arguments)
                self.assertNotIn("nan", text)
                self.assertNotIn("inf", text)
                root = ET.fromstring(text)
                self.assertEqual(root.tag, SVG + "svg")
                width, height = float(root.get("width")), float(root.get("height"))
                circles = root.findall(SVG + "circle")
                self.assertGreaterEqual(len(circles), 8)
                for circle in circles:
                    self.assertTrue(0 < float(circle.get("cx")) < width)
                    self.assertTrue(0 < float(circle.get("cy")) < height)
                self.assertEqual(len(root.findall(SVG + "ellipse")), 2)

    def test_the_stored_picture_is_the_one_the_program_draws(self):
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "..", "docs", "images", "demo.svg"), encoding="utf-8") as file:
            self.assertEqual(file.read(), self.draw())


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: cli_test.py PATH_OF_LIMB [unittest options]")
    LIMB = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
