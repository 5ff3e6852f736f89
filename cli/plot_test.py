"""`limb plot`: python3 cli/plot_test.py build/limb"""

import csv
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from simulate_test import file_records

LIMB = "limb"
ROOT = Path(__file__).resolve().parent.parent
UNITS = {"rad", "m", "rad/s", "m/s", "N m", "N", "J", "N s", "N m s", "m/s^2", "deg", "number", "unit not logged"}


def run(*arguments, **environment):
    return subprocess.run([LIMB, *map(str, arguments)], capture_output=True, text=True, timeout=1200,
                          env={**os.environ, **environment})


class PlotTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        for ending in ("mcap", "csv"):
            result = run("simulate", ROOT / "docs/scenarios/push.toml", "-o", cls.path(f"run.{ending}"))
            assert result.returncode == 0, result.stderr

    @classmethod
    def path(cls, name):
        return Path(cls.folder.name) / name

    def plot(self, log, output, *options):
        result = run("plot", self.path(log), "-o", self.path(output), *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout, self.path(output).read_text()

    def error(self, *arguments, **environment):
        result = run("plot", *arguments, **environment)
        self.assertEqual(result.returncode, 1, result.stderr)
        return result.stderr.replace(self.folder.name + "/", "").strip()

    def test_svg_has_every_chart(self):
        printed, text = self.plot("run.mcap", "run.svg")
        self.assertIn("201 rows of 6 topics, 0 s to 2 s", printed)
        root = ElementTree.fromstring(text)
        words = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
        for title in ("Joint positions", "Joint velocities", "Motor torques, equal to their commands", "Energy",
                      "Linear momentum", "Angular momentum about the mass centre", "imu"):
            self.assertIn(title, words)
        # A unit on every axis, none of them two.
        self.assertEqual([word for word in words if word in UNITS],
                         ["rad", "rad/s", "N m", "J", "N s", "N m s", "m/s^2"])
        self.assertEqual(words.count("t, s"), 7)
        self.assertIn("joint2", words)
        self.assertIn("reference", words)  # of the controller
        # Charts, and the motion with its view and its scale.
        self.assertIn("side view: x to the right, y up", words)
        self.assertTrue(any(re.fullmatch(r"[0-9.]+ m", word) for word in words))
        self.assertGreaterEqual(len(list(root.iter("{http://www.w3.org/2000/svg}polyline"))), 15)

    def curves(self, text, title):
        """(dashes, colours) of the curves of the chart with this title."""
        charts = re.split(r"<text [^>]*font-weight=\"bold\"[^>]*>", text)
        chart = next(one for one in charts if one.startswith(title + "<"))
        drawn = re.search(r"<svg .*?</svg>", chart, re.S)[0]
        return [(dash, color) for color, dash in
                re.findall(r'<polyline[^>]*stroke="(#\w+)"[^>]*?(?:stroke-dasharray="([^"]+)")?/>', drawn)]

    def write(self, name, columns, rows):
        with self.path(name).open("w") as file:
            file.write("t," + ",".join(columns) + "\n")
            for i, row in enumerate(rows):
                file.write(f"{0.01 * i}," + ",".join(f"{x:.9g}" for x in row) + "\n")

    def test_at_most_eight_curves_per_chart_all_different(self):
        names = [f"{leg}_{joint}" for leg in ("LF", "RF", "LH", "RH") for joint in ("haa", "hfe", "kfe")]
        self.write("many.csv", [f"x.{name}" for name in names],
                   [[i * 0.01 + k for k in range(12)] for i in range(100)])
        _, text = self.plot("many.csv", "many.svg")
        shown = []
        for n in (1, 2):
            curves = self.curves(text, f"x ({n} of 2)")
            self.assertEqual(len(curves), 6)  # two legs each
            self.assertEqual(len(set(curves)), 6)
            self.assertEqual(len({dash for dash, _ in curves}), 6)  # also without colour
            shown += curves
        for name in names:
            self.assertEqual(text.count(f">{name}<"), 1)
        # The same range of both.
        ticks = [re.findall(r'text-anchor="end">(-?[0-9.]+)<', part)
                 for part in re.split(r"x \(\d of 2\)", text)[1:]]
        self.assertEqual(ticks[0], ticks[1])

    def test_impacts_do_not_set_the_scale(self):
        rows = [[0.1 * (i % 7)] for i in range(1000)]
        rows[500] = [800]
        self.write("hit.csv", ["contact_force.z"], rows)
        _, text = self.plot("hit.csv", "hit.svg")
        self.assertIn(">800 at 5 s<", text)
        ticks = [float(x) for x in re.findall(r'text-anchor="end">(-?[0-9.]+)<', text)]
        self.assertTrue(all(tick < 1 for tick in ticks))
        # Many large values are not outliers.
        for i in range(500, 600):
            rows[i] = [800]
        self.write("hit.csv", ["contact_force.z"], rows)
        _, text = self.plot("hit.csv", "hit.svg")
        self.assertNotIn(" at 5 s<", text)
        self.assertIn(">800<", text)

    def test_base_is_a_pose(self):
        log = self.path("free.mcap")
        result = run("simulate", "builtin:quadruped", "--base", "free", "--ground", "plane", "--duration", 0.3, "-o", log)
        self.assertEqual(result.returncode, 0, result.stderr)
        _, text = self.plot("free.mcap", "free.svg")
        words = [e.text for e in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
        base = next(word for word in words if word.endswith(" orientation")).removesuffix(" orientation")
        for title in ("position", "height", "velocity, body axes", "angular velocity, body axes"):
            self.assertIn(f"{base} {title}", words)
        for word in ("roll", "pitch", "yaw", "deg", "side view: x to the right, z up"):
            self.assertIn(word, words)
        self.assertFalse([word for word in words if re.search(r"\.\d$", word) and not re.match(r"-?[0-9.]+$", word)])

    def test_what_a_controller_controls_is_drawn_with_its_target(self):
        log = self.path("force.mcap")
        result = run("simulate", ROOT / "docs/scenarios/hybrid_force.toml", "-o", log)
        self.assertEqual(result.returncode, 0, result.stderr)
        _, text = self.plot("force.mcap", "force.svg", "--only", "task")
        words = [e.text for e in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("Controlled force, z", words)
        self.assertIn("Controlled frame, x", words)
        self.assertNotIn("Controlled frame, z", words)
        for title in ("Controlled force, z", "Controlled frame, x"):
            actual, desired = self.curves(text, title)
            self.assertEqual((actual[0], desired[0]), ("", "6 4"))  # the target is dashed and above

    def test_view(self):
        for view, text in (("front", "front view: y to the right, z up"), ("top", "top view: x to the right, y up")):
            log = self.path("arm.mcap")
            if not log.exists():
                run("simulate", "builtin:arm7", "--initial", "q=random", "--duration", 0.1, "-o", log)
            _, svg = self.plot("arm.mcap", "arm.svg", "--view", view)
            self.assertIn(text, svg)
        self.assertEqual(self.error(self.path("arm.mcap"), "-o", "x.svg", "--view", "below"),
                         "limb plot: --view is 'below', expected one of side, front, top")

    def test_only_selects_charts(self):
        _, text = self.plot("run.mcap", "only.svg", "--only", "state.q.joint2", "--only", "energy")
        words = [e.text for e in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("Joint positions", words)
        self.assertIn("Energy", words)
        self.assertNotIn("Joint velocities", words)
        self.assertNotIn("joint1", words)
        self.assertEqual(self.error(self.path("run.mcap"), "-o", "x.svg", "--only", "state.joint"),
                         "limb plot: --only is 'state.joint', expected a name in the log, whose topics are "
                         "state, torque, energy, momentum, imu, target")

    def test_csv_and_mcap_give_the_same_charts(self):
        _, from_mcap = self.plot("run.mcap", "a.svg")
        _, from_csv = self.plot("run.csv", "b.svg", "--model", "builtin:2r")
        # All but the sensor, whose readings a CSV log repeats in every row.
        self.assertEqual(from_mcap[from_mcap.index("<rect"):from_mcap.index(">imu<")],
                         from_csv[from_csv.index("<rect"):from_csv.index(">imu<")])

    def test_any_name_of_a_joint_is_read_back(self):
        names = ['a "b", c', 'quoted ""twice""', "two\nlines", "comma,"]
        text = '<robot name="r"><link name="l0"/>'
        for i, name in enumerate(names):
            escaped = name.replace('"', "&quot;").replace("\n", "&#10;")
            text += (f'<link name="l{i + 1}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
                     f'ixz="0" iyz="0"/></inertial></link><joint name="{escaped}" type="continuous">'
                     f'<parent link="l{i}"/><child link="l{i + 1}"/><axis xyz="0 1 0"/></joint>')
        self.path("names.urdf").write_text(text + "</robot>")
        for ending in ("csv", "mcap"):
            log = self.path(f"names.{ending}")
            result = run("simulate", self.path("names.urdf"), "--duration", "0.02", "-o", log)
            self.assertEqual(result.returncode, 0, result.stderr)
            _, svg = self.plot(log.name, "names.svg", "--model", self.path("names.urdf"))
            words = {e.text for e in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")}
            self.assertLessEqual(set(names), words)
            with log.open(newline="") as file:  # Python's reader agrees
                if ending == "csv":
                    self.assertEqual(next(csv.reader(file))[1:5], [f"state.q.{name}" for name in names])

    def test_html_is_self_contained(self):
        _, text = self.plot("run.mcap", "run.html")
        self.assertIn("<canvas", text)
        self.assertIn("<th>work, J</th>", text)
        # Nothing is loaded: the only address is the XML namespace of SVG.
        self.assertEqual(set(re.findall(r"https?://[^\"' ]+", text)), {"http://www.w3.org/2000/svg"})
        self.assertNotIn("src=", text)

    def test_csv_without_model_names_what_is_missing(self):
        printed, text = self.plot("run.csv", "run.html")
        self.assertIn("without the motion", printed)
        self.assertNotIn("<canvas", text)

    def test_charts_fill_the_picture(self):
        self.path("two.csv").write_text('t,x.a,y.b\n0,1,"2"\n1,"",3\n2,2,4\n')  # an empty cell in quotes
        printed, text = self.plot("two.csv", "two.svg")
        self.assertIn("3 rows of 2 topics, 0 s to 2 s", printed)
        root = ElementTree.fromstring(text)
        # Two charts of the same height; no text is smaller than 14, which is 9 in a picture of 400 pixels.
        self.assertEqual(root.get("viewBox").split()[:3], ["0", "0", "600"])
        height = float(root.get("viewBox").split()[3])
        texts = list(root.iter("{http://www.w3.org/2000/svg}text"))
        titles = {e.text: float(e.get("y")) for e in texts if e.get("font-weight") == "bold"}
        self.assertEqual((titles["x"], titles["y"]), (18, 18 + height / 2))
        self.assertTrue(all(float(e.get("font-size")) >= 14 for e in texts))
        self.assertEqual([e.text for e in texts].count("unit not logged"), 2)

    def test_contact_charts_are_above_the_others(self):
        log = self.path("drop.csv")
        result = run("simulate", ROOT / "docs/scenarios/quadruped_drop.toml", "--duration", 0.6, "-o", log)
        self.assertEqual(result.returncode, 0, result.stderr)
        _, text = self.plot("drop.csv", "drop.svg", "--only", "energy")
        root = ElementTree.fromstring(text)
        titles = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text") if e.get("font-weight") == "bold"]
        self.assertEqual(titles, ["Contact forces in their friction cone", "Support, from above", "Energy"])
        words = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
        for label in ("normal force, N", "tangential force, N", "x, m", "y, m", "friction 0.8 times normal force"):
            self.assertIn(label, words)

    def test_truncated_log_is_read_up_to_its_last_complete_chunk(self):
        data = self.path("run.mcap").read_bytes()
        chunks = [end for kind, _, end in file_records(data) if kind == 6]
        self.assertGreaterEqual(len(chunks), 3)
        printed = []
        for end in chunks:
            for more in (0, 5):  # and five bytes of the next record
                self.path("cut.mcap").write_bytes(data[:end + more])
                printed.append(self.plot("cut.mcap", "cut.svg", "--only", "energy")[0])
        self.assertEqual(printed[::2], printed[1::2])
        rows = [int(re.search(r"([0-9]+) rows of 6 topics", text)[1]) for text in printed[::2]]
        self.assertEqual(rows, sorted(set(rows)))
        self.assertEqual(rows[-1], 201)

    @unittest.skipUnless(shutil.which("rsvg-convert"), "rsvg-convert is not installed")
    def test_png_is_the_svg_at_twice_its_size(self):
        _, svg = self.plot("run.mcap", "size.svg")
        result = run("plot", self.path("run.mcap"), "-o", self.path("run.png"))
        self.assertEqual(result.returncode, 0, result.stderr)
        data = self.path("run.png").read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        size = [int(float(ElementTree.fromstring(svg).get("viewBox").split()[i])) for i in (2, 3)]
        self.assertEqual(list(struct.unpack(">II", data[16:24])), [2 * n for n in size])
        self.assertGreater(len(data), 20000)  # drawn, not blank

    def test_png_without_its_program_is_one_line_of_error(self):
        output = self.path("none.png")
        text = self.error(self.path("run.mcap"), "-o", output, PATH="/nonexistent")
        self.assertIn("PNG needs the program rsvg-convert (Debian: librsvg2-bin)", text)
        self.assertEqual(text.count("\n"), 0)
        self.assertFalse(output.exists())

    def test_mistakes(self):
        log = self.path("run.csv")
        self.assertEqual(self.error(log, "-o", "run.pdf"),
                         "limb plot: --output is 'run.pdf', expected a name that ends in .svg, .png or .html")
        self.assertIn("the log is of another robot",
                      self.error(log, "-o", self.path("x.svg"), "--model", "builtin:arm7"))
        other = self.path("other.csv")
        other.write_text("a,b\n1,2\n")
        self.assertEqual(self.error(other, "-o", self.path("x.svg")),
                         "limb plot: other.csv:1: not a log of limb: the first column is 'a', expected 't'")
        other.write_text("t,x.y\n0,1\n0.1\n")
        self.assertEqual(self.error(other, "-o", self.path("x.svg")),
                         "limb plot: other.csv:3: 1 cells starting with '0.1', expected 2 starting with a time")
        self.assertIn("no such file", self.error(self.path("none.csv"), "-o", self.path("x.svg")).lower())


class LecturePlotsTest(unittest.TestCase):
    """Ellipsoids along a motion, and the torque budget."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def path(self, name):
        return Path(self.folder.name) / name

    def simulate(self, name, *arguments):
        result = run("simulate", *arguments, "-o", self.path(name))
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.path(name)

    def words(self, log, *options):
        result = run("plot", log, "-o", self.path("plot.svg"), *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        root = ElementTree.parse(self.path("plot.svg")).getroot()
        return root, [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]

    def test_budget_adds_up_to_the_motor(self):
        """With a controller and a push: the terms of each row add up, and the external one is that of the push."""
        log = self.simulate("push.csv", ROOT / "docs/scenarios/push.toml", "--budget")
        with open(log, newline="") as file:
            rows = [{key: float(value) for key, value in row.items() if value} for row in csv.DictReader(file)]
        terms = ("inertial", "centrifugal", "coriolis", "gravity", "damping", "friction", "armature", "external")
        for joint in ("joint1", "joint2"):
            pushed = []
            for row in rows:
                total = sum(row[f"budget.{term}.{joint}"] for term in terms)
                self.assertAlmostEqual(total, row[f"torque.motor.{joint}"], delta=1e-9 * (1 + abs(total)))
                pushed.append(abs(row[f"budget.external.{joint}"]) > 1e-6)
            self.assertTrue(any(pushed) and not all(pushed))
        _, words = self.words(log, "--only", "budget", "--model", "builtin:2r")
        for text in ("Torque budget of joint1", "Torque budget of joint2", "motor", "inertial", "coriolis", "gravity",
                     "external", "N m"):
            self.assertIn(text, words)
        self.assertNotIn("armature", words)

    def test_budget_of_free_motion_has_no_external_term(self):
        log = self.simulate("fall.mcap", "builtin:rr", "--budget", "--duration", "0.5", "--integrator", "runge-kutta-4")
        _, words = self.words(log)
        self.assertIn("Torque budget of joint2", words)
        self.assertNotIn("external", words)

    def test_budget_of_a_standing_robot(self):
        """The base has no motors: contacts carry its weight, the external term of z."""
        scenario = self.path("stand.toml")
        scenario.write_text((ROOT / "docs/scenarios/quadruped_trot.toml").read_text().replace('"8 s"', '0.3') +
                            "\n")
        text = scenario.read_text().replace("step = ", "log_budget = true\nstep = ", 1)
        scenario.write_text(text)
        log = self.simulate("stand.csv", scenario)
        with open(log, newline="") as file:
            row = list(csv.DictReader(file))[-1]
        weight = sum(float(row[f"budget.{term}.base.2"]) for term in ("gravity", "inertial", "external"))
        self.assertAlmostEqual(weight, 0, delta=1e-6)
        self.assertLess(float(row["budget.external.base.2"]), -100)  # N
        scenario.write_text(text.replace("log_budget = true", "log_budget = 3"))
        result = run("simulate", scenario)
        self.assertEqual(result.returncode, 1)
        self.assertIn("log_budget", result.stderr)
        self.assertIn("expected true or false", result.stderr)

    def test_ellipsoids(self):
        log = self.simulate("2r.mcap", "builtin:2r", "--initial", "q=0.3,1.2", "--duration", "0.5")
        root, words = self.words(log, "--ellipsoids", "tool")
        for text in ("Velocity ellipsoids of tool", "Inertia ellipsoids of tool", "Half axes of the velocity ellipsoid of tool",
                     "Apparent mass of tool along the axes", "longest axis", "second axis", "x, m", "y, m", "m/s", "kg"):
            self.assertIn(text, words)
        self.assertNotIn("third axis", words)  # the arm is planar
        self.assertGreaterEqual(len(list(root.iter("{http://www.w3.org/2000/svg}polygon"))), 12)

    def test_ellipsoid_errors(self):
        log = self.simulate("rr.mcap", "builtin:rr", "--duration", "0.05")
        csv_log = self.simulate("rr.csv", "builtin:rr", "--duration", "0.05")

        def error(*arguments):
            result = run("plot", *arguments, "-o", self.path("a.svg"))
            return result.returncode, result.stderr.strip()

        self.assertEqual(error(log, "--ellipsoids", "tol")[0], 1)
        self.assertIn("--ellipsoids: no frame is named 'nothing'", error(log, "--ellipsoids", "nothing")[1])
        self.assertIn("--ellipsoids needs the robot", error(csv_log, "--ellipsoids", "tool")[1])
        self.assertEqual(error(log, "--ellipsoids", "link1"), (2, "limb plot: --ellipsoids: frame 'link1' never moves"))


if __name__ == "__main__":
    LIMB = sys.argv.pop(1)
    unittest.main()
