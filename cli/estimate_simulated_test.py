"""Logs of `limb simulate` on rigid ground, replayed by `limb estimate`: python3 cli/estimate_simulated_test.py build/limb"""

import csv
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LIMB = "limb"
ROOT = Path(__file__).resolve().parent.parent
FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]
SHOVED = (ROOT / "docs/scenarios/quadruped_shoved.toml").read_text()


def run(*arguments):
    return subprocess.run([LIMB, *map(str, arguments)], capture_output=True, text=True, timeout=1200)


def without_sensors(text, kind):
    """A scenario without its sensors of a type."""
    return "[[".join(part for part in text.split("[[")
                     if not (part.startswith("sensor]]") and f'type = "{kind}"' in part))


class SimulatedLogTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.simulate("shoved.mcap", SHOVED)
        cls.simulate("bare.csv", without_sensors(SHOVED, "contact"))

    @classmethod
    def path(cls, name):
        return Path(cls.folder.name) / name

    @classmethod
    def simulate(cls, log, text):
        cls.path("scenario.toml").write_text(text)
        result = run("simulate", cls.path("scenario.toml"), "-o", cls.path(log))
        assert result.returncode == 0, result.stderr

    def estimate(self, log, *options, feet=FEET, model=(), codes=(0,)):
        result = run("estimate", self.path(log), *model, "--feet", ",".join(feet), "--json", *options)
        self.assertIn(result.returncode, codes, result.stderr)
        return json.loads(result.stdout)

    def error(self, log, *options):
        result = run("estimate", self.path(log), "--feet", ",".join(FEET), *options)
        self.assertEqual(result.returncode, 1, result.stderr)
        return result.stderr

    def check(self, found, drift):
        """It was pushed more than half a metre, feet left the ground, and the estimate is accurate."""
        self.assertGreater(found["distance"], 0.5)
        self.assertGreater(found["counts"]["contacts_broken"], 8)
        self.assertLess(found["drift_position"], drift * found["distance"])
        self.assertLess(abs(found["drift_height"]), 0.002)
        for tilt in found["rms_rotation"][:2]:
            self.assertLess(tilt, 0.01)
        # The 95 % interval of nine errors; at its lower end the 99 % one, since these sensors have no bias, of which the
        # initial covariance assumes 0.05 m/s^2: tilt, and what follows from it, is better than stated.
        self.assertGreater(found["nees"], 1.73)
        self.assertLess(found["nees"], 19)

    def test_switches_in_the_feet(self):
        for kind in ("inekf", "eskf"):
            # Contact switches also report lightly loaded feet, which slide: one to two percent. The verdict may say so.
            self.check(self.estimate("shoved.mcap", "--filter", kind, codes=(0, 3)), drift=0.02)

    def test_forces_of_the_simulation(self):
        for kind in ("inekf", "eskf"):
            found = self.estimate("bare.csv", "--filter", kind, model=("--model", "builtin:quadruped"))
            self.check(found, drift=0.01)

    def test_force_sensors_in_the_feet(self):
        self.simulate("force.mcap", SHOVED.replace('type = "contact"', 'type = "force"\nnoise = 1'))
        self.check(self.estimate("force.mcap"), drift=0.01)
        named = self.estimate("force.mcap", "--contacts", ",".join(FEET))
        self.assertEqual(named["end"], self.estimate("force.mcap")["end"])

    def test_contacts_by_motor_torques_are_those_of_the_simulation(self):
        model = ("--model", "builtin:quadruped", "--contact-by", "torque")
        self.check(self.estimate("bare.csv", model=model), drift=0.01)
        result = run("estimate", self.path("bare.csv"), *model, "--feet", ",".join(FEET), "-o", self.path("by.csv"))
        self.assertEqual(result.returncode, 0, result.stderr)
        with self.path("bare.csv").open() as file:
            truth = {round(float(row["t"]), 4): row for row in csv.DictReader(file)}
        with self.path("by.csv").open() as file:
            found = [row for row in csv.DictReader(file) if float(row["t"]) > 1.5]
        lifts = 0
        for foot in FEET:
            real = [float(truth[round(float(row["t"]), 4)][f"contact.{foot}.normal"]) > 0 for row in found]
            seen = [float(row[f"contact.{foot}"]) == 1 for row in found]
            wrong = sum(a != b for a, b in zip(real, seen))
            # The observer has a delay of 5 ms, and contact needs a fifth of the weight per foot.
            self.assertLess(wrong, 0.05 * len(real), foot)
            # Each swing of 50 ms or more is detected.
            for gap in re.finditer("0{20,}", "".join(str(int(r)) for r in real)):
                lifts += 1
                self.assertIn(False, seen[gap.start():gap.end()], f"{foot} at {found[gap.start()]['t']} s")
        self.assertGreater(lifts, 6)

    def test_sliding_feet(self):
        self.simulate("slide.mcap", SHOVED.replace("friction = 5", "friction = 0.8"))
        gated = self.estimate("slide.mcap", "--foot-error", 1e-4, codes=(0, 3))
        self.assertGreater(gated["counts"]["feet_rejected"], 20)
        self.assertLess(gated["drift_position"], 0.04)
        self.assertLess(abs(gated["drift_height"]), 0.002)
        ungated = self.estimate("slide.mcap", "--foot-error", 1e-4, "--gate", 1)  # nothing is refused or widened
        self.assertEqual(ungated["counts"]["feet_rejected"], 0)
        self.assertGreater(ungated["drift_position"], gated["drift_position"])

    def test_collision_shapes_instead_of_declared_feet(self):
        """The simulation then logs links; a foot frame is matched by its body."""
        solids = "[[".join(part for part in without_sensors(SHOVED, "contact").split("[[")
                           if not part.startswith("contact.foot"))
        self.simulate("solids.mcap", solids)
        self.check(self.estimate("solids.mcap"), drift=0.02)

    def test_errors_name_the_sensor_to_add(self):
        for kind in ("accelerometer", "gyroscope"):
            self.simulate("less.mcap", without_sensors(SHOVED, kind))
            self.assertIn(f'[[sensor]] with type = "{kind}"', self.error("less.mcap"))
        floating = re.sub(r"\[ground\].*?(?=\[\[push)", "", without_sensors(SHOVED, "contact"), flags=re.S)
        self.simulate("floating.mcap", floating.replace("duration = 8", "duration = 0.2"))
        self.assertIn('[[sensor]] with name = "FL_foot", type = "contact", frame = "FL_foot"', self.error("floating.mcap"))
        self.assertIn("--contacts is 'encoder', expected a topic with the fields FL_foot",
                      self.error("shoved.mcap", "--contacts", "encoder"))
        self.assertIn("--contacts is 2 topics, expected 1, or one per foot (4)",
                      self.error("shoved.mcap", "--contacts", "FL_foot,FR_foot"))


if __name__ == "__main__":
    LIMB = sys.argv.pop(1)
    unittest.main()
