"""`limb demo`: the quadruped, its report and its numbers."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from shared_folder import shared_path, why_no_shared  # noqa: E402

LIMB = "limb"
VOID = {"meta", "input", "br", "line", "rect", "circle", "polyline", "path", "ellipse"}


def run(*arguments, **options):
    return subprocess.run([LIMB, *arguments], capture_output=True, text=True, timeout=1200, **options)


class Outline(HTMLParser):
    """Collects unclosed elements, headings and external references of a page."""

    def __init__(self):
        super().__init__()
        self.open, self.headings, self.outside, self.problems = [], [], [], []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("src", "href") or (value or "").startswith("http") and name != "xmlns":
                self.outside.append((tag, name, value))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.problems.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


class QuadrupedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.result = run("demo", "--duration", "6", "--json", "--picture", "strip.svg",
                         cwd=cls.folder.name)
        cls.page = (Path(cls.folder.name) / "out/demo.html").read_text()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_numbers(self):
        self.assertEqual((self.result.returncode, self.result.stderr), (0, ""))
        numbers = json.loads(self.result.stdout)
        self.assertEqual(numbers["check"]["errors"], 0)
        self.assertTrue(numbers["proof"]["holds"])
        self.assertEqual([f["function"] for f in numbers["compile"]["functions"]],
                         ["rnea", "crba", "aba"])
        walk = numbers["walk"]
        self.assertFalse(walk["fell"])
        self.assertLess(walk["position_error"], 0.1)
        self.assertLess(walk["beyond_three_sigma"], 0.02)
        self.assertLess(walk["slid_share"], 0.05)
        self.assertLess(walk["torque_share"], 0.95)
        self.assertLessEqual(walk["max_torque_share"], 1 + 1e-12)
        self.assertGreater(walk["step_us"]["estimator"]["mean"], 0)
        if not walk["walks"]:
            self.skipTest("limb was built without a solver of quadratic programs")
        self.assertAlmostEqual(walk["mean_velocity"][0], 0.5, delta=0.075)  # 15 %
        self.assertEqual(walk["fell_back"], 0)
        self.assertEqual(set(walk["step_us"]),
                         {"estimator", "kinematics and dynamics", "plan", "forces over the horizon",
                          "whole-body program", "whole step", "whole step, this thread"})

    def test_page_is_self_contained(self):
        outline = Outline()
        outline.feed(self.page)
        self.assertEqual((outline.open, outline.problems, outline.outside), ([], [], []))
        self.assertEqual(outline.headings,
                         ["Walk", "Base: truth and estimate", "Contact forces in their cones",
                          "Torque budget", "Time per control step", "Model check",
                          "Equations of motion", "Computation times"])
        self.assertNotIn("nan", re.sub(r"<script>.*?</script>", "", self.page, flags=re.S))

    def test_pictures_are_well_formed(self):
        # Pictures start at the beginning of a line; inside they clip with further ones.
        pictures = re.findall(r"<svg xmlns.*?</svg>(?=\n+(?:<h2>|<p>|<svg xmlns|</body>))", self.page, flags=re.S)
        self.assertEqual(len(pictures), 6)
        for picture in pictures:
            root = ET.fromstring(picture)
            self.assertTrue(root.findtext("{http://www.w3.org/2000/svg}title"))
        self.assertEqual(pictures[0] + "\n", (Path(self.folder.name) / "strip.svg").read_text())

    def test_animation_has_the_run(self):
        frames = json.loads(re.search(r"const frames=(\[.*?\]\]);", self.page, flags=re.S)[1])
        times = json.loads("[" + re.search(r"const times=\[(.*?)\]", self.page)[1] + "]")
        self.assertEqual(len(frames), len(times))
        self.assertGreater(len(frames), 80)  # 30 per second
        # Trunk, four legs of four points, four forces; and the estimated trunk once there is one.
        self.assertEqual({len(f) for f in frames}, {12 + 48 + 12, 12 + 48 + 12 + 12})
        for f in frames[-10:]:
            for a, b in zip(f[:3], f[72:75]):
                self.assertAlmostEqual(a, b, delta=0.1)


    def test_ground_of_the_animation_covers_the_path(self):
        tiles = json.loads("[" + re.search(r"const blocks=\[(.*?\])\],pushes", self.page, flags=re.S)[1] + "]")
        frames = json.loads(re.search(r"const frames=(\[.*?\]\]);", self.page, flags=re.S)[1])
        first, last = frames[0][0], frames[-1][0]
        far = 2.5 * frames[0][2]  # times the height of the trunk
        squares = [t for t in tiles if abs(t[1] - t[0] - 0.25) < 2e-3 and abs(t[3] - t[2] - 0.25) < 2e-3]
        blocks = [t for t in tiles if t not in squares]
        for x0, x1, y0, y1, _ in tiles:
            self.assertLess(x0, x1)
            self.assertLess(y0, y1)
        ends = [sorted(t[i] for t in tiles) for i in range(4)]
        # Whole squares of 25 cm, so up to one more on each side; blocks of 26 cm by their middles.
        for found, expected in ((ends[0][0], first - far - 0.125), (ends[1][-1], last + far),
                                (ends[2][0], -far - 0.5 - 0.125), (ends[3][-1], far + 0.5 + 0.125)):
            self.assertAlmostEqual(found, expected, delta=0.15)
        # No square has its middle in a block, and there are blocks along the whole path.
        for x0, x1, y0, y1, _ in squares:
            x, y = (x0 + x1) / 2, (y0 + y1) / 2
            self.assertEqual(sum(b[0] + 2e-3 < x < b[1] - 2e-3 and b[2] + 2e-3 < y < b[3] - 2e-3 for b in blocks), 0)
        self.assertGreater(len(blocks), 20)
        self.assertGreater(sorted(b[1] for b in blocks)[-1], last)
        self.assertTrue(all(abs(t[4]) <= 0.021 for t in tiles))  # +-2 cm


class OptionsTest(unittest.TestCase):
    def check(self, message, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            result = run("demo", *arguments, cwd=folder)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertEqual(result.stderr, message + "\n")

    def test_bad_values_are_named(self):
        self.check("limb demo: --duration is 0, expected a number from 1 to 120", "--duration", "0")
        self.check("limb demo: --speed is 3, expected a number from -0.8 to 0.8", "--speed", "3")
        self.check("limb demo: --push is 500, expected a number from -200 to 200", "--push", "500")
        self.check("limb demo: --speed is 'fast', expected a number from -0.8 to 0.8", "--speed", "fast")

    def test_options_belong_to_their_demo(self):
        self.check("limb demo: --mass1 is an option of 'limb demo planar'", "--mass1", "2")
        self.check("limb demo: --duration is an option of 'limb demo'", "planar", "--duration", "3")

    def test_feet_and_posture_are_checked(self):
        self.check("limb demo: --posture has 'FL_knee', expected joint=angle, in rad",
                   "--posture", "FL_knee")
        self.check("limb demo: --posture has 'FL_knee=bent', expected joint=angle, in rad",
                   "--posture", "FL_hip=0,FL_knee=bent")
        self.check("limb demo: --feet is an option of 'limb demo'", "arm", "--feet", "a,b,c,d")
        result = run("demo", "--feet", "FL_foot,FR_foot")
        self.assertEqual(result.returncode, 1)
        self.assertIn("feet is 2 names, expected four", result.stderr)

    def test_findings_of_the_check_do_not_change_the_status(self):
        original = shared_path() / "street/a1.urdf"
        why = why_no_shared() or ("" if original.exists() else f"no file {original}")
        if why:
            self.skipTest(why)
        with tempfile.TemporaryDirectory() as folder:
            robot = Path(folder) / "a1.urdf"
            # A link without mass that has a moment of inertia.
            text = original.read_text()
            start = text.index('<link name="imu_link">')
            self.assertIn('<mass value="0.001"/>', text[start:])
            robot.write_text(text[:start] + text[start:].replace('<mass value="0.001"/>', '<mass value="0"/>', 1))
            result = run("demo", "--model", str(robot.resolve()), "--duration", "1", "--flat",
                         "--json", cwd=folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        numbers = json.loads(result.stdout)
        self.assertEqual(numbers["check"]["errors"], 1)
        self.assertFalse(numbers["walk"]["fell"])
        self.assertEqual(numbers["feet"], ["FL_foot", "FR_foot", "RL_foot", "RR_foot"])

    def test_other_robots_are_rejected_with_the_reason(self):
        result = run("demo", "--model", "builtin:humanoid")
        self.assertEqual(result.returncode, 1)
        self.assertIn("four legs of three joints each", result.stderr)

    def test_summary_fits_a_screen(self):
        with tempfile.TemporaryDirectory() as folder:
            text = run("demo", "--flat", "--duration", "2", "--push", "0", "-o", "dog.html",
                       cwd=folder).stdout
            self.assertTrue((Path(folder) / "dog.html").exists())
        lines = text.splitlines()
        self.assertLessEqual(len(lines), 30)
        self.assertLessEqual(max(map(len, lines)), 100)
        self.assertRegex(text, r"fell +no")
        self.assertTrue(text.endswith("Report: dog.html\n"))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: demo_test.py PATH_OF_LIMB [unittest options]")
    LIMB = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
