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
        self.assertIn("201 rows of 5 topics, 0 s to 2 s", printed)
        root = ElementTree.fromstring(text)
        words = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
        for title in ("state q, rad or m", "state v, rad/s or m/s", "torque command, N m or N",
                      "torque motor, N m or N", "energy, J", "momentum linear, N s",
                      "momentum angular about the mass centre, N m s", "imu"):
            self.assertIn(title, words)
        self.assertIn("joint2", words)
        # Charts, and the motion: two links and the tool for each snapshot.
        self.assertGreaterEqual(len(list(root.iter("{http://www.w3.org/2000/svg}polyline"))), 15)

    def test_only_selects_charts(self):
        _, text = self.plot("run.mcap", "only.svg", "--only", "state.q.joint2", "--only", "energy")
        words = [e.text for e in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("state q, rad or m", words)
        self.assertIn("energy, J", words)
        self.assertNotIn("state v, rad/s or m/s", words)
        self.assertNotIn("joint1", words)
        self.assertEqual(self.error(self.path("run.mcap"), "-o", "x.svg", "--only", "state.joint"),
                         "limb plot: --only is 'state.joint', expected a name in the log, whose topics are "
                         "state, torque, energy, momentum, imu")

    def test_csv_and_mcap_give_the_same_charts(self):
        _, from_mcap = self.plot("run.mcap", "a.svg")
        _, from_csv = self.plot("run.csv", "b.svg", "--model", "builtin:2r")
        lines = [re.findall(r"<polyline[^>]*>", text)[:8] for text in (from_mcap, from_csv)]
        self.assertEqual(lines[0], lines[1])

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
        self.assertEqual(root.get("viewBox"), "0 0 860 420")
        titles = {e.text: float(e.get("y")) for e in root.iter("{http://www.w3.org/2000/svg}text")}
        self.assertEqual((titles["x"], titles["y"]), (16, 226))

    def test_contact_charts_are_above_the_others(self):
        log = self.path("drop.csv")
        result = run("simulate", ROOT / "docs/scenarios/quadruped_drop.toml", "--duration", 0.6, "-o", log)
        self.assertEqual(result.returncode, 0, result.stderr)
        _, text = self.plot("drop.csv", "drop.svg", "--only", "energy")
        root = ElementTree.fromstring(text)
        self.assertEqual(root.get("viewBox"), "0 0 860 540")  # 330 of contact, 210 of energy
        places = {e.text: float(e.get("y")) for e in root.iter("{http://www.w3.org/2000/svg}text")}
        self.assertEqual(places["energy, J"], 330 + 16)
        for title in ("Friction over normal force, N; the line is the cone",
                      "From above, m: centre of pressure, support polygon"):
            self.assertEqual(places[title], 20)
        left = next(e for e in root.iter("{http://www.w3.org/2000/svg}text") if e.text.startswith("Friction over"))
        self.assertEqual(left.get("x"), "12")

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
        rows = [int(re.search(r"([0-9]+) rows of 5 topics", text)[1]) for text in printed[::2]]
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


if __name__ == "__main__":
    LIMB = sys.argv.pop(1)
    unittest.main()
