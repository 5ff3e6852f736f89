"""`limb estimate`: python3 cli/estimate_test.py build/limb"""

import csv
import json
import math
import random
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

LIMB = "limb"
FEET = "FL_foot,FR_foot,RL_foot,RR_foot"


def run(*arguments):
    return subprocess.run([LIMB, *map(str, arguments)], capture_output=True, text=True, timeout=1200)


class EstimateTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        for ending in ("csv", "mcap"):
            result = run("estimate", cls.path(f"walk.{ending}"), "--model", "builtin:quadruped", "--feet", FEET,
                         "--make-walk", 5, "--seed", 3)
            assert result.returncode == 0, result.stderr

    @classmethod
    def path(cls, name):
        return Path(cls.folder.name) / name

    def summary(self, log="walk.csv", *options, code=0):
        result = run("estimate", self.path(log), "--model", "builtin:quadruped", "--feet", FEET, "--json", *options)
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads(result.stdout)

    def error(self, *arguments, code=1):
        result = run("estimate", *arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stderr.replace(self.folder.name + "/", "").strip()

    def changed(self, name, change):
        """A copy of the log with header and rows changed by a function."""
        with self.path("walk.csv").open() as file:
            header, *rows = csv.reader(file)
        header, rows = change(header, rows)
        with self.path(name).open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])
        return name

    def test_smoothing_uses_the_whole_log(self):
        for log in ("walk.csv", "walk.mcap"):
            filtered, smoothed = self.summary(log), self.summary(log, "--smooth")
            self.assertFalse(filtered["smoothed"])
            self.assertTrue(smoothed["smoothed"])
            # The last estimate has no future: the same; over the whole walk the errors are smaller.
            for a, b in zip(filtered["end"], smoothed["end"]):
                self.assertAlmostEqual(a, b, delta=1e-9)
            self.assertLess(math.hypot(*smoothed["rms_velocity"]), math.hypot(*filtered["rms_velocity"]))
            self.assertAlmostEqual(smoothed["filter_rms_position"], math.hypot(*filtered["rms_position"]), delta=1e-9)
        # Rows are in order of time, as many as those of the filter, with smaller deviations.
        self.summary("walk.csv", "-o", self.path("filtered.csv"))
        self.summary("walk.csv", "--smooth", "-o", self.path("smoothed.csv"))
        with self.path("filtered.csv").open() as one, self.path("smoothed.csv").open() as two:
            before, after = list(csv.DictReader(one)), list(csv.DictReader(two))
        self.assertEqual([x["t"] for x in before], [x["t"] for x in after])
        for x, y in zip(before, after):
            self.assertLessEqual(float(y["sigma.v.x"]), float(x["sigma.v.x"]) * (1 + 1e-6))
        page = self.path("smoothed.html")
        self.summary("walk.csv", "--smooth", "-o", page)
        self.assertIn("smoothed position, rms", page.read_text())

    def test_several_imus_are_one_at_their_mean(self):
        # Two sensors with offsets and a turn, neither at the base: logs of the same walk, put together.
        text = (Path(__file__).parents[1] / "models" / "quadruped.toml").read_text()
        for name, x in (("front", 0.2), ("rear", -0.15)):
            text += f'\n[[frame]]\nname = "{name}"\nlink = "trunk"\nxyz = [{x}, 0.05, 0.02]\nrpy = [0, 0, 0.3]\n'
        model = self.path("two_imus.toml")
        model.write_text(text)
        rows = {}
        for name in ("front", "rear"):
            log = self.path(f"{name}.csv")
            result = run("estimate", log, "--model", model, "--feet", FEET, "--imu", name, "--make-walk", 5, "--seed", 3,
                         "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            found = json.loads(result.stdout)
            self.assertLess(found["drift_position"], 0.03 * found["distance"])
            with log.open() as file:
                rows[name] = list(csv.reader(file))
        imu = [i for i, name in enumerate(rows["front"][0]) if name.startswith("imu.")]
        both = self.path("both.csv")
        with both.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            for k, (one, two) in enumerate(zip(rows["front"], rows["rear"])):
                if k == 0:
                    added = [one[i].replace("imu.", "rear.") for i in imu]
                    writer.writerow([x.replace("imu.", "front.") for x in one] + added)
                else:
                    writer.writerow(one + [two[i] for i in imu])
        result = run("estimate", both, "--model", model, "--feet", FEET, "--imu", "front,rear", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        found = json.loads(result.stdout)
        self.assertLess(found["drift_position"], 0.03 * found["distance"])
        # One sensor read as if it were at the other place: its lever arm shows in the velocity.
        wrong = run("estimate", self.path("front.csv"), "--model", model, "--feet", FEET, "--imu", "rear", "--json")
        self.assertGreater(json.loads(wrong.stdout)["rms_velocity"][1], 2 * found["rms_velocity"][1])

    def test_both_filters_track_the_walk(self):
        for kind in ("inekf", "eskf"):
            found = self.summary("walk.csv", "--filter", kind, "--foot-error", 1e-5)
            self.assertEqual(found["filter"], kind)
            self.assertGreater(found["distance"], 0.6)
            self.assertLess(found["drift_position"], 0.02 * found["distance"])
            # Nine expected; the mean of one walk, whose rows are not independent: at least the lower
            # bound of the 99 % interval of a single value.
            self.assertGreater(found["nees"], 1.73)
            self.assertLess(found["nees"], 20)
            self.assertAlmostEqual(found["nis_per_row"], 1, delta=0.1)
            self.assertEqual(found["counts"]["imu_samples"], 2001)
            self.assertGreater(found["counts"]["contacts_made"], 15)

    def test_mcap_names_its_robot_and_gives_the_same(self):
        result = run("estimate", self.path("walk.mcap"), "--feet", FEET, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        first, second = json.loads(result.stdout), self.summary()
        for a, b in zip(first["end"], second["end"]):
            self.assertAlmostEqual(a, b, places=9)

    def test_velocity_odometry(self):
        found = self.summary("walk.csv", "--odometry", "velocity")
        self.assertLess(found["drift_position"], 0.05 * found["distance"])

    def test_reports(self):
        for ending in ("html", "svg"):
            result = run("estimate", self.path("walk.csv"), "--model", "builtin:quadruped", "--feet", FEET, "-o",
                         self.path(f"out.{ending}"))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("position drift", result.stdout)
        page = self.path("out.html").read_text()
        self.assertIn("of the distance", page)
        self.assertNotRegex(page, r"https?://(?!www\.w3\.org)")
        words = [e.text for e in ElementTree.fromstring(self.path("out.svg").read_text()).iter(
            "{http://www.w3.org/2000/svg}text")]
        for title in ("Error of position x", "Error of rotation about z", "Gyroscope bias", "NIS of feet (3 expected)",
                      "Feet and events", "Map: path of the base", "3 sigma", "x, m", "y, m"):
            self.assertIn(title, words)
        units = [word for word in words if word in ("m", "deg", "m/s", "deg/s", "m/s^2", "number")]
        self.assertEqual(units, ["m"] * 3 + ["deg"] * 3 + ["m/s"] * 3 + ["deg/s", "m/s^2", "number", "number"])

    def test_estimate_as_a_log(self):
        result = run("estimate", self.path("walk.csv"), "--model", "builtin:quadruped", "--feet", FEET, "-o",
                     self.path("estimate.csv"))
        self.assertEqual(result.returncode, 0, result.stderr)
        with self.path("estimate.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertAlmostEqual(float(rows[-1]["t"]), 5, places=6)
        self.assertLess(float(rows[-1]["sigma.p.x"]), 0.05)
        self.assertGreater(float(rows[-1]["estimate.p.x"]), 0.4)
        plot = run("plot", self.path("estimate.csv"), "-o", self.path("estimate.svg"))
        self.assertEqual(plot.returncode, 0, plot.stderr)

    def test_summary_follows_from_the_rows(self):
        """Distance, errors and drift of the summary, recomputed from the estimate and the truth."""
        result = run("estimate", self.path("walk.csv"), "--model", "builtin:quadruped", "--feet", FEET, "-o",
                     self.path("rows.csv"))
        self.assertEqual(result.returncode, 0, result.stderr)
        found = self.summary()
        with self.path("rows.csv").open() as file:
            estimates = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
        with self.path("walk.csv").open() as file:
            truths = {round(1e6 * float(row["t"])): row for row in csv.DictReader(file)}

        def rotation(roll, pitch, yaw):
            (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in (roll, pitch, yaw))
            return [[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                    [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], [-sp, cp * sr, cp * cr]]

        def from_quaternion(x, y, z, w):
            return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]

        errors, path = [], []
        for row in estimates:
            truth = truths[round(1e6 * row["t"])]
            q = [float(truth[f"truth.q.base.{i}"]) for i in range(7)]
            v = [float(truth[f"truth.v.base.{i}"]) for i in range(3)]
            real, seen = from_quaternion(*q[3:]), rotation(row["estimate.roll"], row["estimate.pitch"],
                                                           row["estimate.yaw"])
            turn = [[sum(real[k][i] * seen[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
            position = [row[f"estimate.p.{axis}"] - q[i] for i, axis in enumerate("xyz")]
            # Half the skew part is the rotation vector to the third power of its angle.
            angles = [(turn[2][1] - turn[1][2]) / 2, (turn[0][2] - turn[2][0]) / 2, (turn[1][0] - turn[0][1]) / 2]
            velocity = [row[f"estimate.v.{axis}"] - sum(real[i][k] * v[k] for k in range(3))
                        for i, axis in enumerate("xyz")]
            errors.append(position + angles + velocity)
            path.append(q[:2])
        rms = [math.sqrt(sum(e[i] ** 2 for e in errors) / len(errors)) for i in range(9)]
        for name, first, tolerance in (("position", 0, 1e-9), ("rotation", 3, 1e-3), ("velocity", 6, 1e-9)):
            for i in range(3):
                self.assertAlmostEqual(found[f"rms_{name}"][i] / rms[first + i], 1, delta=tolerance)
        self.assertAlmostEqual(found["distance"], sum(math.dist(a, b) for a, b in zip(path, path[1:])), places=9)
        change = [b - a for a, b in zip(errors[0], errors[-1])]
        self.assertAlmostEqual(found["drift_position"], math.hypot(*change[:3]), places=9)
        self.assertAlmostEqual(found["drift_height"], change[2], places=9)
        self.assertAlmostEqual(found["drift_yaw"], change[5], delta=1e-3 * abs(change[5]))
        self.assertAlmostEqual(found["begin"], estimates[0]["t"], places=9)
        for i, name in enumerate(("p.x", "p.y", "p.z", "roll", "pitch", "yaw", "v.x", "v.y", "v.z")):
            self.assertAlmostEqual(found["end"][i], estimates[-1][f"estimate.{name}"], places=9)

    def test_without_truth(self):
        def without(header, rows):
            keep = [i for i, name in enumerate(header) if not name.startswith("truth.")]
            return [header[i] for i in keep], [[row[i] for i in keep] for row in rows]

        name = self.changed("blind.csv", without)
        found = self.summary(name)
        self.assertFalse(found["truth"])
        self.assertNotIn("nees", found)
        self.assertGreater(found["distance"], 0.6)
        result = run("estimate", self.path(name), "--model", "builtin:quadruped", "--feet", FEET, "-o",
                     self.path("blind.svg"))
        self.assertEqual(result.returncode, 0, result.stderr)
        text = self.path("blind.svg").read_text()
        self.assertIn(">Yaw<", text)
        self.assertIn(">deg<", text)

    def test_bad_rows_are_counted(self):
        def corrupt(header, rows):
            rows[900][header.index("imu.fx")] = "nan"
            rows[1000][header.index("position.FL_knee")] = ""
            rows[1100:1150] = []  # a gap of an eighth of a second
            rows.insert(1200, rows[1200])
            rows.insert(1300, rows[1290])
            return header, rows

        counts = self.summary(self.changed("corrupt.csv", corrupt))["counts"]
        self.assertEqual(counts["imu_not_finite"], 1)
        self.assertEqual(counts["leg_not_finite"], 1)
        self.assertEqual(counts["imu_gaps"], 1)
        self.assertEqual(counts["imu_duplicate"], 1)
        self.assertEqual(counts["imu_late"], 1)

    def test_errors_name_what_is_missing(self):
        model = ("--model", "builtin:quadruped")
        walk = self.path("walk.csv")
        self.assertIn("does not name its robot", self.error(walk, "--feet", FEET))
        self.assertIn("FL_fot", self.error(walk, *model, "--feet", "FL_fot"))
        self.assertIn("--filter is 'ukf', expected one of inekf, eskf", self.error(walk, *model, "--feet", FEET, "--filter", "ukf"))
        self.assertIn("ends in .html", self.error(walk, *model, "--feet", FEET, "-o", "x.pdf"))
        self.assertIn("no topic 'torque'", self.error(walk, *model, "--feet", FEET, "--contact-by", "torque"))
        self.assertIn("--gyroscope is 'contact', expected a topic with the fields wx, wy, wz",
                      self.error(walk, *model, "--feet", FEET, "--gyroscope", "contact"))

        def rename(old, new):
            return lambda header, rows: ([h.replace(old, new) for h in header], rows)

        self.assertIn("no topic of an accelerometer with the fields fx, fy, fz",
                      self.error(self.path(self.changed("a.csv", rename("imu.f", "imu.g"))), *model, "--feet", FEET))
        self.assertIn("no topic of joint positions",
                      self.error(self.path(self.changed("b.csv", rename("position.", "angle."))), *model, "--feet", FEET))
        self.assertIn("neither a topic 'contact' with one field per foot",
                      self.error(self.path(self.changed("c.csv", rename("contact.", "touch."))), *model, "--feet", FEET))
        error = self.error(walk, *model, "--feet", FEET, "--rest", 60, code=2)
        self.assertRegex(error, r"never stood still for 60 s")

    def test_corrupted_logs_give_an_estimate_or_one_error(self):
        """Random corruption of bytes and cells: an estimate or one line of error, never a crash."""
        lines = self.path("walk.csv").read_text().splitlines()[:500]
        source = random.Random(5)
        junk = ["", "nan", "inf", "-1e308", "1e-320", "x", '"', "t,", "0,0,0,0", "\x00", "9" * 400]
        for trial in range(30):
            rows = list(lines)
            for _ in range(source.randrange(1, 6)):
                at = source.randrange(len(rows))
                cells = rows[at].split(",")
                cells[source.randrange(len(cells))] = source.choice(junk)
                rows[at] = ",".join(cells)
            text = "\n".join(rows) + "\n"
            if trial % 3 == 0:
                text = text[:source.randrange(len(text))]
            path = self.path("junk.csv")
            path.write_text(text)
            result = run("estimate", path, "--model", "builtin:quadruped", "--feet", FEET, "--rest", 0.5)
            self.assertIn(result.returncode, (0, 1, 2, 3, 4), f"trial {trial}: {result.stderr}")
            self.assertLessEqual(result.stderr.count("\n"), 1)
            self.assertNotIn("nan m", result.stdout)

    def test_always_in_contact_by_option(self):
        # Feet in swing are refused: the verdict says that not all is as stated.
        found = self.summary("walk.csv", "--contact-by", "always", code=3)
        self.assertEqual(found["verdict"]["verdict"], "overconfident")
        self.assertEqual(found["counts"]["contacts_broken"], 0)
        self.assertGreater(found["counts"]["feet_rejected"], 100)  # feet in swing are rejected
        self.assertLess(found["drift_position"], 0.1)


if __name__ == "__main__":
    LIMB = sys.argv.pop(1)
    unittest.main()
