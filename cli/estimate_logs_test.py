"""Logs of real robots and logs with faults, replayed by `limb estimate`: python3 cli/estimate_logs_test.py build/limb"""

import csv
import json
import lzma
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import shared_folder  # noqa: E402

LIMB = "limb"
FEET = "FL_foot,FR_foot,RL_foot,RR_foot"


def run(*arguments):
    return subprocess.run([LIMB, *map(str, arguments)], capture_output=True, text=True, timeout=1200)


def product(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def transposed(a):
    return [list(row) for row in zip(*a)]


def times(a, x):
    return [sum(a[i][k] * x[k] for k in range(3)) for i in range(3)]


def rotation(roll, pitch, yaw):
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in (roll, pitch, yaw))
    return [[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], [-sp, cp * sr, cp * cr]]


class RecordingTest(unittest.TestCase):
    """iCub, both feet on the ground all the time: the truth is the base that the joints place on fixed soles."""

    def test_icub_sways_about_one_place(self):
        shared = shared_folder.shared_path()
        if why := shared_folder.why_no_shared():
            self.skipTest(why)
        if not (shared / "recordings/icub_sway").is_dir():
            self.skipTest(f"no {shared}/recordings/icub_sway")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        log, rows = Path(folder.name) / "log.csv", Path(folder.name) / "rows.csv"
        log.write_bytes(lzma.decompress((shared / "recordings/icub_sway/log.csv.xz").read_bytes()))
        robot = shared / "recordings/icub_sway/icub.urdf"
        result = run("estimate", log, "--model", robot, "--feet", "l_sole,r_sole", "--imu", "imu_acc", "-o", rows)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("verdict                  consistent", result.stdout)
        with rows.open() as file:
            estimates = list(csv.DictReader(file))
        with log.open() as file:
            samples = {float(row["t"]): row for row in csv.DictReader(file)}
        info = json.loads(run("info", robot, "--base", "free", "--json").stdout)
        joints = [joint["name"] for joint in info["joints"]][1:]
        states = []
        for row in (estimates[0], estimates[-1]):
            sample = samples[sorted(samples, key=lambda t: abs(t - float(row["t"])))[0]]
            states.append({"q": [0, 0, 0, 0, 0, 0, 1] + [float(sample.get(f"position.{j}", 0)) for j in joints]})
        given = Path(folder.name) / "states.json"
        given.write_text(json.dumps({"states": states, "frames": ["l_sole", "r_sole"]}))
        placed = json.loads(run("eval", robot, "--base", "free", "--input", given, "--only", "frames").stdout)["states"]

        def base(row):
            values = [float(row[f"estimate.{name}"]) for name in ("p.x", "p.y", "p.z", "roll", "pitch", "yaw")]
            return values[:3], rotation(*values[3:])

        (p0, R0), (p1, R1) = base(estimates[0]), base(estimates[-1])
        errors, angles = [], []
        for sole in ("l_sole", "r_sole"):
            (a, A), (b, B) = (([*placed[k]["frames"][sole]["p"]], placed[k]["frames"][sole]["R"]) for k in range(2))
            # The sole has not moved: X_WB1 = X_WB0 X_BF0 X_BF1^-1.
            R = product(product(R0, A), transposed(B))
            foot = [x + y for x, y in zip(p0, times(R0, a))]
            p = [x - y for x, y in zip(foot, times(R, b))]
            errors.append([x - y for x, y in zip(p1, p)])
            D = product(R1, transposed(R))
            angles.append([(D[2][1] - D[1][2]) / 2, (D[0][2] - D[2][0]) / 2, (D[1][0] - D[0][1]) / 2])
        # Both legs place the base, to millimetres of each other: their mean.
        error = math.hypot(*((x + y) / 2 for x, y in zip(*errors)))
        angle = math.degrees(math.hypot(*((x + y) / 2 for x, y in zip(*angles))))
        print(f"iCub: {1e3 * error:.2f} mm, {angle:.2f} deg at the end", file=sys.stderr)
        self.assertLess(error, 0.005)
        self.assertLess(angle, 1)


class LogTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        result = run("estimate", cls.path("walk.csv"), "--model", "builtin:quadruped", "--feet", FEET, "--make-walk", 5,
                     "--seed", 3)
        assert result.returncode == 0, result.stderr
        with cls.path("walk.csv").open() as file:
            cls.header, *cls.rows = csv.reader(file)

    @classmethod
    def path(cls, name):
        return Path(cls.folder.name) / name

    def write(self, name, header, rows):
        with self.path(name).open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])
        return name

    def summary(self, log, *options, code=0):
        result = run("estimate", self.path(log), "--model", "builtin:quadruped", "--feet", FEET, "--json", *options)
        if code is None:  # any verdict
            self.assertIn(result.returncode, (0, 3, 4), result.stderr)
        else:
            self.assertEqual(result.returncode, code, result.stdout[-2000:] + result.stderr)
        return json.loads(result.stdout)

    def error(self, log, *options, code=1):
        result = run("estimate", self.path(log), "--model", "builtin:quadruped", "--feet", FEET, *options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1)
        return result.stderr.replace(self.folder.name + "/", "")

    def test_noise_is_measured_written_and_read(self):
        found = self.summary("walk.csv")
        # --make-walk writes the typical noise.
        self.assertAlmostEqual(found["noise"]["gyro"] / 2e-4, 1, delta=0.4)
        self.assertAlmostEqual(found["noise"]["accel"] / 2.5e-3, 1, delta=0.4)
        result = run("estimate", self.path("walk.csv"), "--model", "builtin:quadruped", "--feet", FEET, "--calibrate",
                     self.path("noise.toml"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("s of rest", result.stdout)
        again = self.summary("walk.csv", "--noise", self.path("noise.toml"))
        for key, value in found["noise"].items():
            self.assertAlmostEqual(again["noise"][key] / value, 1, delta=1e-3)  # four digits in the file
        numbers = self.summary("walk.csv", "--noise", "1e-3,2e-2", "--contact-noise", 3e-3)["noise"]
        self.assertEqual([numbers[k] for k in ("gyro", "accel", "contact")], [1e-3, 2e-2, 3e-3])
        self.path("bad.toml").write_text("gyro = 1e-3\nacel = 1\n")
        self.assertIn("bad.toml:2: unknown key 'acel', expected one of gyro, accel",
                      self.error("walk.csv", "--noise", self.path("bad.toml")))
        self.path("bad.toml").write_text("gyro = -1\n")
        self.assertIn("bad.toml:1: gyro is -1, expected a number >= 0",
                      self.error("walk.csv", "--noise", self.path("bad.toml")))
        self.assertIn("--noise is '1', expected auto, a .toml file, or 2 to 5 numbers",
                      self.error("walk.csv", "--noise", "1"))

    def test_columns_in_any_order_and_by_other_names(self):
        order = sorted(range(1, len(self.header)), key=lambda i: self.header[i][::-1])
        mixed = self.write("mixed.csv", ["t", *(self.header[i] for i in order)],
                           [[row[0], *(row[i] for i in order)] for row in self.rows])
        expected = self.summary("walk.csv")["end"]
        self.assertEqual(self.summary(mixed)["end"], expected)
        # Other names, degrees, nanoseconds, and the time in another column.
        names = {"imu.wx": "gyr/x", "imu.wy": "gyr/y", "imu.wz": "gyr/z"}
        header = [names.get(name, name) for name in self.header]
        scaled = [header.index(name) for name in names.values()]
        rows = [[*(str(math.degrees(float(x))) if i in scaled else x for i, x in enumerate(row) if i > 0),
                 str(round(1e9 * float(row[0])))] for row in self.rows]
        bag = self.write("bag.csv", [*header[1:], "stamp"], rows)
        self.path("map.toml").write_text(
            't = "1e-9*stamp"\n[imu]\n' + "\n".join(f'f{a} = "imu.f{a}"' for a in "xyz") + "\n"
            + "\n".join(f'w{a} = "0.017453292519943295*gyr/{a}"' for a in "xyz") + "\n")
        # Stamps that are rounded otherwise may end the initial rest a sample earlier: a change within the noise.
        for a, b in zip(self.summary(bag, "--map", self.path("map.toml"))["end"], expected):
            self.assertAlmostEqual(a, b, delta=1e-3)
        self.path("map.toml").write_text('t = "1e-9*stamp"\n[imu]\nwx = "gyro.x"\n')
        self.assertIn("map.toml:3: the log has no column 'gyro.x' (columns: imu.fx",
                      self.error(bag, "--map", self.path("map.toml")))
        self.assertIn("no column 'time' of time", self.error(bag, "--map", "t=time"))
        self.assertIn("is not a topic and a field", self.error("walk.csv", "--map", "wx=gyro.x"))

    def test_only_joints_of_the_legs_are_needed(self):
        keep = [i for i, name in enumerate(self.header) if name != "position.FL_knee"]
        name = self.write("less.csv", [self.header[i] for i in keep], [[row[i] for i in keep] for row in self.rows])
        self.assertIn("topic 'position' has no joint FL_knee, between the base and the feet", self.error(name))
        result = run("estimate", self.path(name), "--model", "builtin:quadruped", "--feet", "FR_foot,RL_foot,RR_foot",
                     "--json")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_start_given_instead_of_rest(self):
        at = {name: i for i, name in enumerate(self.header)}
        moving = self.rows[1000:]
        truth = [float(moving[0][at[f"truth.q.base.{i}"]]) for i in range(7)]
        x, y, z, w = truth[3:]
        rpy = [math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), math.asin(2 * (w * y - z * x)),
               math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))]
        v = times(rotation(*rpy), [float(moving[0][at[f"truth.v.base.{i}"]]) for i in range(3)])
        name = self.write("moving.csv", self.header, moving)
        self.assertIn("never stood still for 3 s, so the estimate cannot start (--rest, --start)",
                      self.error(name, "--rest", 3, code=2))
        found = self.summary(name, "--start", ",".join(map(str, [*truth[:3], *rpy, *v])))
        self.assertEqual(found["begin"], float(moving[0][0]))
        self.assertLess(found["drift_position"], 0.03)
        self.assertIn("--start is 3 numbers, expected 6", self.error(name, "--start", "1,2,3"))

    def test_feet_measured_directly(self):
        """Positions of the feet, computed by limb from the joints of the log, instead of joints."""
        at = {name: i for i, name in enumerate(self.header)}
        joints = [name for name in self.header if name.startswith("position.")]
        info = json.loads(run("info", "builtin:quadruped", "--json").stdout)
        order = [joint["name"] for joint in info["joints"]][1:]
        rows = self.rows[::2]
        states = [{"q": [0, 0, 0, 0, 0, 0, 1] + [float(row[at[f"position.{j}"]]) for j in order]} for row in rows]
        self.path("states.json").write_text(json.dumps({"states": states, "frames": FEET.split(",")}))
        placed = json.loads(run("eval", "builtin:quadruped", "--input", self.path("states.json"), "--only",
                                "frames").stdout)["states"]
        keep = [i for i, name in enumerate(self.header) if not name.startswith(("position.", "velocity."))]
        header = [self.header[i] for i in keep] + [f"foot.{f}.{a}" for f in FEET.split(",") for a in "xyz"]
        self.write("feet.csv", header, [[row[i] for i in keep] + [x for f in FEET.split(",") for x in
                                                                  state["frames"][f]["p"]]
                                        for row, state in zip(rows, placed)])
        self.assertEqual(len(joints), 12)
        found = self.summary("feet.csv")
        self.assertLess(found["drift_position"], 0.03)
        self.assertGreater(found["counts"]["feet_used"], 1000)

    def test_fixes_with_a_delay(self):
        at = {name: i for i, name in enumerate(self.header)}
        # A position every tenth of a second, 50 ms late, in a world that is 20 cm away.
        delay, extra = 20, []
        for k in range(len(self.rows)):
            fix = ["", "", ""]
            if k % 40 == 0 and k >= delay:
                fix = [str(float(self.rows[k - delay][at[f"truth.q.base.{i}"]]) + (0.2 if i == 1 else 0))
                       for i in range(3)]
            extra.append(fix)
        self.write("fixed.csv", [*self.header, *(f"position_fix.{a}" for a in "xyz")],
                   [row + fix for row, fix in zip(self.rows, extra)])
        found = self.summary("fixed.csv", "--fix-delay", 0.05)
        # All are refused for a second, then the position is adopted; from then on they are used.
        self.assertEqual(found["counts"]["fixes_recovered"], 1)
        self.assertGreater(found["counts"]["fixes_used"], 20)
        end = [float(self.rows[-1][at[f"truth.q.base.{i}"]]) for i in range(3)]
        self.assertLess(math.dist(found["end"][:3], [end[0], end[1] + 0.2, end[2]]), 0.02)

    def test_fixes_of_every_kind_with_a_delay(self):
        """Yaw, orientation and velocity of the truth, 50 ms late: each reduces what it measures."""
        at = {name: i for i, name in enumerate(self.header)}
        plain, delay = self.summary("walk.csv"), 20

        def truth(row, kind):
            x, y, z, w = (float(row[at[f"truth.q.base.{i}"]]) for i in range(3, 7))
            v = [float(row[at[f"truth.v.base.{i}"]]) for i in range(3)]
            rpy = [math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), math.asin(2 * (w * y - z * x)),
                   math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))]
            return {"yaw_fix": [rpy[2]], "orientation_fix": [x, y, z, w], "body_velocity_fix": v,
                    "velocity_fix": times(rotation(*rpy), v)}[kind]

        for kind, fields, deviation, of in (("yaw_fix", ["yaw"], 1e-3, [5]),
                                            ("orientation_fix", list("xyzw"), 1e-3, [3, 4, 5]),
                                            ("velocity_fix", list("xyz"), 5e-3, [6, 7, 8]),
                                            ("body_velocity_fix", list("xyz"), 5e-3, [6, 7, 8])):
            rows = []
            for k, row in enumerate(self.rows):
                fix = [""] * (len(fields) + 1)
                if k % 40 == 0 and k >= delay:
                    fix = [*map(str, truth(self.rows[k - delay], kind)), str(deviation)]
                rows.append(row + fix)
            self.write("fix.csv", [*self.header, *(f"{kind}.{f}" for f in fields), f"{kind}.deviation"], rows)
            found = self.summary("fix.csv", "--fix-delay", 0.05)
            self.assertGreater(found["counts"]["fixes_used"], 30, kind)
            self.assertLessEqual(found["counts"]["fixes_rejected"], 3, kind)
            for i in of:
                self.assertLess(found["end_deviation"][i], plain["end_deviation"][i], kind)
            # The truth without noise of its own: what was measured is better than its stated deviation.
            row = self.rows[-1]
            end = found["end"]
            if kind == "yaw_fix":
                self.assertLess(abs(end[5] - truth(row, kind)[0]), deviation)
            if kind == "velocity_fix":
                self.assertLess(math.dist(end[6:], truth(row, kind)), 2 * deviation)
        # As if they were not late: compared with the wrong state, many are refused.
        self.write("fix.csv", [*self.header, "velocity_fix.x", "velocity_fix.y", "velocity_fix.z",
                               "velocity_fix.deviation"],
                   [row + ([*map(str, truth(self.rows[k - 80], "velocity_fix")), "2e-3"]
                           if k % 40 == 0 and k >= 80 else [""] * 4) for k, row in enumerate(self.rows)])
        late, on_time = self.summary("fix.csv", code=None), self.summary("fix.csv", "--fix-delay", 0.2, code=None)
        self.assertLess(on_time["counts"]["fixes_rejected"], late["counts"]["fixes_rejected"])

    def test_contacts_as_probabilities_and_by_thresholds(self):
        columns = [i for i, name in enumerate(self.header) if name.startswith("contact.")]
        self.assertEqual(len(columns), 4)

        def scaled(name, low, high):
            return self.write(name, self.header,
                              [[(str(high) if float(x) > 0 else str(low)) if i in columns else x
                                for i, x in enumerate(row)] for row in self.rows])

        expected = self.summary("walk.csv")
        found = self.summary(scaled("probability.csv", 0.1, 0.9), "--contact-kind", "probability")
        self.assertEqual(found["counts"]["contacts_made"], expected["counts"]["contacts_made"])
        self.assertEqual(found["end"], expected["end"])
        # A load cell with an offset of 20 N: by its own thresholds the same, by the default ones always in contact.
        cell = scaled("cell.csv", 20, 70)
        found = self.summary(cell, "--make-force", 50, "--break-force", 40)
        self.assertEqual(found["end"], expected["end"])
        stuck = self.summary(cell, "--make-force", 15, "--break-force", 10, code=None)
        self.assertEqual(stuck["counts"]["contacts_broken"], 0)
        self.assertGreater(stuck["counts"]["feet_rejected"], 10 * (1 + found["counts"]["feet_rejected"]))

    def test_ground_soles_and_foot_radius(self):
        plain = self.summary("walk.csv")
        flat = self.summary("walk.csv", "--terrain", "flat")
        self.assertGreater(flat["counts"]["heights_used"], 20)
        self.assertEqual(flat["counts"]["heights_rejected"], 0)
        self.assertLess(flat["end_deviation"][2], plain["end_deviation"][2])
        self.assertLess(abs(flat["drift_height"]), 0.01)
        steps = self.summary("walk.csv", "--terrain", "steps")
        self.assertGreater(steps["counts"]["heights_used"], 20)
        # The walk has point feet: with a radius, the estimate is off by the rolling that did not happen.
        rolling = self.summary("walk.csv", "--foot-radius", 0.03, code=None)
        self.assertGreater(math.dist(rolling["end"][:3], plain["end"][:3]), 0.01)
        humanoid = ("--model", "builtin:humanoid", "--feet", "left_sole,right_sole", "--json")
        result = run("estimate", self.path("two.csv"), *humanoid, "--make-walk", 5, "--seed", 3)
        self.assertEqual(result.returncode, 0, result.stderr)
        points = json.loads(result.stdout)
        soles = json.loads(run("estimate", self.path("two.csv"), *humanoid, "--sole", "0.2,0.1").stdout)
        self.assertLess(soles["end_deviation"][5], points["end_deviation"][5])
        self.assertLess(soles["drift_position"], 0.05)
        self.assertIn("4 feet with soles, expected at most 2", self.error("walk.csv", "--sole", "0.2,0.1"))

    def test_verdict_and_exit_status_of_an_outage(self):
        at = self.header.index("t")
        rows = [row for row in self.rows if not 2.5 < float(row[at]) < 3.5]
        found = self.summary(self.write("outage.csv", self.header, rows), code=4)
        self.assertEqual(found["verdict"]["verdict"], "lost")
        self.assertAlmostEqual(found["verdict"]["t"], 3.5, delta=0.01)
        self.assertIn("IMU silent", [e["event"] for e in found["events"]])
        self.assertGreater(found["end_deviation"][0], 0.5)

    def test_stamps_out_of_order_doubled_and_set_back(self):
        rows = [list(row) for row in self.rows]
        rows[900], rows[901] = rows[901], rows[900]
        rows.insert(1200, rows[1200])
        found = self.summary(self.write("order.csv", self.header, rows))
        self.assertEqual(found["counts"]["imu_late"], 1)
        self.assertEqual(found["counts"]["imu_duplicate"], 1)
        self.assertEqual(found["verdict"]["verdict"], "consistent")
        for row in rows[1300:]:
            row[0] = str(float(row[0]) - 2)  # the clock is set back by two seconds
        found = self.summary(self.write("back.csv", self.header, rows), code=4)
        self.assertEqual(found["counts"]["clock_set_back"], 1)
        self.assertIn("clock", found["verdict"]["reason"])

    def test_memory_does_not_depend_on_the_length(self):
        """Five times as many rows of a robot that stands: the same memory."""
        at = {name: i for i, name in enumerate(self.header)}
        keep = [i for i, name in enumerate(self.header) if not name.startswith("truth.")]
        still = [[row[i] for i in keep] for row in self.rows[:400]]
        self.assertEqual(keep[0], at["t"])

        def peak(count):
            with self.path("long.csv").open("w") as file:
                file.write(",".join(self.header[i] for i in keep) + "\n")
                for k in range(count):
                    file.write(f"{k * 0.0025:.4f}," + ",".join(still[k % 400][1:]) + "\n")
            script = ("import resource,subprocess,sys\n"
                      "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
                      "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
            result = subprocess.run([sys.executable, "-c", script, LIMB, "estimate", self.path("long.csv"), "--model",
                                     "builtin:quadruped", "--feet", FEET], capture_output=True, text=True)
            self.assertEqual(result.returncode, 0, result.stderr)
            return int(result.stdout)  # kB

        short, long = peak(24000), peak(120000)
        # The rows of the difference are 30 MB of text; charts keep at most 20000 rows.
        self.assertLess(long, short + 4096)

    def test_bad_logs(self):
        self.path("empty.csv").write_text("")
        self.assertIn("empty.csv has no rows", self.error("empty.csv"))
        self.path("names.csv").write_text(",".join(self.header) + "\n")
        self.assertIn("names.csv has no rows", self.error("names.csv"))
        self.path("prose.csv").write_text("hello, world\n1,2\n")
        self.assertIn("prose.csv:1: not a log of limb: the first column is 'hello', expected 't'",
                      self.error("prose.csv"))
        self.path("short.csv").write_text("t,imu.fx\n0,1\n1\n")
        self.assertIn("short.csv:3: 1 cells starting with '1', expected 2", self.error("short.csv"))
        self.path("bad.mcap").write_bytes(b"not a log")
        self.assertIn("bad.mcap is not an MCAP file", self.error("bad.mcap"))
        self.assertIn("nowhere.csv", self.error("nowhere.csv"))
        self.path("never.csv").write_text("t,imu.fx,imu.fy,imu.fz,imu.wx,imu.wy,imu.wz\n" + "0,0,0,9.81,0,0,0\n" * 3)
        self.assertIn("no topic of joint positions", self.error("never.csv"))


if __name__ == "__main__":
    LIMB = sys.argv.pop(1)
    unittest.main()
