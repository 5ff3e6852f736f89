"""`limb simulate`: python3 cli/simulate_test.py build/limb

MCAP logs are read by a reader in this file, written from the specification (mcap.dev/spec); the official library reads
them in mcap_vs_official_test.py.
"""

import csv
import ctypes
import json
import math
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

LIMB = "limb"
SCENARIO = """
model = "builtin:2r"
duration = 0.5
integrator = "runge-kutta-4"
[initial]
q = {joint1 = "30 deg", joint2 = 0.5}
[controller]
type = "gravity"
target = {joint1 = 0.6}
[[sensor]]
name = "imu"
type = "accelerometer"
frame = "tool"
noise = 0.01
rate = "100 Hz"
[batch]
mass = 0.05
initial = "2 deg"
"""


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def run(*arguments):
    return subprocess.run([LIMB, *map(str, arguments)], capture_output=True, text=True, timeout=1200)


def file_records(data):
    """(kind, content, end) of each whole record after the magic; stops where the file is truncated."""
    assert data[:8] == b"\x89MCAP0\r\n"
    at = 8
    while at + 9 <= len(data) and data[at:] != b"\x89MCAP0\r\n":
        kind, length = struct.unpack_from("<BQ", data, at)
        if at + 9 + length > len(data):
            return
        at += 9 + length
        yield kind, data[at - length: at], at


def decompressed(data, size):
    """By the library of zstd, which the package manager of every Debian needs."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    result = ctypes.create_string_buffer(size)
    assert library.ZSTD_decompress(result, size, data, len(data)) == size
    return result.raw


def records(data):
    """(kind, content) of each whole record, those of chunks in their place."""
    for kind, content, _ in file_records(data):
        if kind != 6:
            yield kind, content
            continue
        (size,) = struct.unpack_from("<Q", content, 16)
        compression, at = text(content, 28)
        inner = content[at + 8:] if compression == "" else decompressed(content[at + 8:], size)
        for record in file_records(data[:8] + inner):
            yield record[:2]


def text(content, at):
    (length,) = struct.unpack_from("<I", content, at)
    return content[at + 4: at + 4 + length].decode(), at + 4 + length


def messages(data):
    """topic -> list of (time in ns, JSON)."""
    topics, found = {}, {}
    for kind, content in records(data):
        if kind == 4:
            channel, schema = struct.unpack_from("<HH", content)
            topic, at = text(content, 4)
            encoding, at = text(content, at)
            assert encoding == "json" and schema > 0
            if channel not in topics:  # the summary repeats them
                topics[channel] = topic
                found[topic] = []
        elif kind == 5:
            channel, sequence, log_time, _ = struct.unpack_from("<HIQQ", content)
            assert sequence == len(found[topics[channel]])
            found[topics[channel]].append((log_time, json.loads(content[22:])))
    return found


class SimulateTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.scenario = self.path("s.toml")
        self.scenario.write_text(SCENARIO)

    def path(self, name):
        return Path(self.folder.name) / name

    def error(self, *arguments, code=1):
        result = run("simulate", *arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stderr.replace(self.folder.name + "/", "").strip()

    def test_scene_of_an_mjcf_file(self):
        """Ground, keyframe and servo of the file; what is not simulated is said."""
        model = self.path("m.xml")
        model.write_text("""<mujoco><asset><mesh name="m" file="m.stl"/></asset><worldbody><geom type="plane" size="0 0 1"/><geom type="mesh" mesh="m"/>
            <body pos="0 0 0.5"><freejoint name="f"/><geom size="0.1"/></body>
            <body pos="5 0 1"><joint name="j" damping="1"/><geom size="0.1"/></body></worldbody>
            <actuator><position joint="j" kp="20"/></actuator>
            <keyframe><key name="up" qpos="0 0 0.8" ctrl="0.3"/></keyframe></mujoco>""")
        result = run("simulate", model, "--duration", 3, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("limb simulate: contact: 1 fixed mesh shape is not used (the file was not found)\n", result.stderr)
        start = json.loads(result.stdout)
        self.assertAlmostEqual(start["q"][2], 0.1, delta=2e-5)
        self.assertAlmostEqual(start["q"][7], 0, delta=1e-9)
        high = json.loads(run("simulate", model, "--duration", 0.1, "--keyframe", "up", "--json").stdout)
        self.assertAlmostEqual(high["q"][2], 0.8 - 9.81 * 0.1 ** 2 / 2, delta=1e-3)
        held = json.loads(run("simulate", model, "--duration", 9, "--keyframe", "up", "--json").stdout)
        self.assertAlmostEqual(held["q"][7], 0.3, delta=1e-6)
        free = json.loads(run("simulate", model, "--duration", 1, "--ground", "none", "--json").stdout)
        self.assertAlmostEqual(free["q"][2], 0.5 - 9.81 / 2, delta=0.01)
        self.assertEqual(self.error(model, "--keyframe", "x").splitlines()[-1],
                         "limb simulate: --keyframe is 'x', expected one of up")
        self.assertIn("method is runge-kutta-4, expected semi-implicit-euler",
                      self.error(model, "--integrator", "runge-kutta-4"))
        scenario = self.path("scene.toml")
        scenario.write_text('model = "m.xml"\nkeyframe = "up"\nduration = 1\n[ground]\nkind = "none"\n')
        fallen = json.loads(run("simulate", scenario, "--json").stdout)
        self.assertAlmostEqual(fallen["q"][2], 0.8 - 9.81 / 2, delta=0.01)

    def test_a_run_ends_after_the_given_wall_time(self):
        log = self.path("long.csv")
        result = run("simulate", "builtin:humanoid", "--duration", 1e6, "--max-wall", 0.5, "-o", log)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"limb simulate: --max-wall of 0.5 s is over at [\d.]+ of 1000000 s")
        self.assertGreater(len(rows_of(log)), 10)  # and keeps its log

    def test_a_batch_ends_after_the_given_wall_time(self):
        """Runs under way end there, with their logs; others do not start."""
        start = time.monotonic()
        result = run("simulate", "builtin:humanoid", "--duration", 1e6, "--batch", 50, "--threads", 2, "--max-wall", 0.5,
                     "-o", self.path("runs/{}.csv"))
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"limb simulate: 50 of 50 runs failed, the first: --max-wall of 0.5 s is over at "
                         r"[\d.]+ s of this run")
        logs = sorted(path.name for path in self.path("runs").iterdir())
        self.assertEqual(len(logs), 2, logs)
        for name in logs:
            self.assertGreater(len(rows_of(self.path("runs") / name)), 10)

    def test_model_without_scenario_falls(self):
        result = run("simulate", "builtin:pendulum", "--duration", "1", "--integrator", "dormand-prince", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        summary = json.loads(result.stdout)
        self.assertAlmostEqual(summary["t"], 1)
        self.assertEqual(summary["failure"], None)
        self.assertEqual(result.stderr, "")  # no progress where there is no terminal

    def test_initial_state_by_option(self):
        end = json.loads(run("simulate", "builtin:2r", "--initial", "q=0.5,-0.25", "--initial", "v=1,2", "--duration", 1e-9,
                             "--json").stdout)
        self.assertEqual(([round(x, 6) for x in end["q"]], [round(x, 6) for x in end["v"]]), ([0.5, -0.25], [1, 2]))
        named = json.loads(run("simulate", "builtin:2r", "--initial", "q=0.5,0", "--initial", "joint2=-0.25", "--initial",
                               "v=[1, 2]", "--duration", 1e-9, "--json").stdout)
        self.assertEqual((named["q"], named["v"]), (end["q"], end["v"]))
        self.assertNotEqual(json.loads(run("simulate", "builtin:2r", "--initial", "q=random", "--json").stdout)["q"], [0, 0])
        for text, message in (("q", "limb simulate: --initial is 'q', expected q=NUMBERS, q=random, v=NUMBERS or JOINT=NUMBERS"),
                              ("q=1,2,3", "limb simulate: --initial q=1,2,3: initial: q is 3 numbers, expected 2"),
                              ("elbw=1", "limb simulate: --initial elbw=1: ")):
            result = run("simulate", "builtin:2r", "--initial", text)
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr)

    def test_a_robot_in_equilibrium_is_said_not_to_move(self):
        self.assertIn("nothing moved: the robot starts in equilibrium", run("simulate", "builtin:arm7", "--duration", 0.1).stdout)
        self.assertNotIn("nothing moved", run("simulate", "builtin:2r", "--duration", 0.1).stdout)

    def test_cvode(self):
        arguments = ["simulate", "builtin:arm7", "--duration", "0.5", "--dt", "0.01", "--json", "--integrator"]
        result = run(*arguments, "cvode")
        if "built without SUNDIALS" in result.stderr:
            self.assertEqual(result.returncode, 1)
            self.skipTest("built without SUNDIALS")
        self.assertEqual(result.returncode, 0, result.stderr)
        other = json.loads(run(*arguments, "dormand-prince").stdout)
        for a, b in zip(json.loads(result.stdout)["q"], other["q"]):
            self.assertAlmostEqual(a, b, 6)

    def test_gravity_compensation_holds(self):
        result = run("simulate", "builtin:arm7", "--duration", "1", "--controller", "gravity", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLess(json.loads(result.stdout)["target_error"], 1e-12)

    def test_csv_log(self):
        log = self.path("run.csv")
        result = run("simulate", self.scenario, "-o", log)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("runge-kutta-4 in 500 steps", result.stdout)
        rows = rows_of(log)
        self.assertEqual(len(rows), 51)
        self.assertEqual(float(rows[10]["t"]), 0.1)
        self.assertAlmostEqual(float(rows[0]["state.q.joint1"]), math.pi / 6)
        self.assertIn("imu.fz", rows[0])

    def test_wrong_arguments_are_named(self):
        self.assertEqual(self.error("builtin:2r", "--seed", "-3"),
                         "limb simulate: --seed is -3, expected a whole number from 0 to 18446744073709551615")
        self.assertEqual(self.error("builtin:2r", "--batch", "0"),
                         "limb simulate: --batch is 0, expected a whole number from 1 to 2147483647")
        self.assertEqual(self.error("builtin:quadruped", "--controller", "computed-torque"),
                         "limb simulate: builtin:quadruped: computed torque needs a motor for every "
                         "velocity, and this robot has some without")
        scenario = self.path("bad.toml")
        scenario.write_text('model = "builtin:quadruped"\n[controller]\ntype = "computed-torque"\n')
        self.assertEqual(self.error(scenario), "limb simulate: bad.toml:3: controller: computed-torque needs a motor for "
                         "every velocity, and this robot has some without")
        scenario.write_text('model = "builtin:2r"\n[controller]\ntype = "pd"\nperiod = "1.5 ms"\n')
        self.assertEqual(self.error(scenario), "limb simulate: bad.toml: control_period is 0.0015, expected a "
                         "multiple of the step, 0.001")

    def test_batch_reports_identical_runs(self):
        identical = run("simulate", "builtin:2r", "--duration", "0.1", "--batch", "3")
        self.assertIn("All runs are identical", identical.stdout)
        self.assertNotIn("identical", run("simulate", self.scenario, "--batch", "3").stdout)

    def test_momentum_of_free_flight_is_conserved(self):
        model = Path(__file__).resolve().parent.parent / "docs/scenarios/satellite.toml"
        scenario = self.path("flight.toml")
        scenario.write_text(f'model = "{model}"\nbase = "free"\nduration = 2\nintegrator = "dormand-prince"\ntolerance = 1e-14\n'
                            '[initial]\nv = [0.5, -0.2, 0.1, 0.3, 0.2, -0.4, 0, 0, 0]\n'
                            '[controller]\ntype = "pd"\nfrequency = "0.5 Hz"\n'
                            'target = {shoulder = 1.2, elbow = 0.8, wrist = -0.5}\n')
        log = self.path("flight.csv")
        self.assertEqual(run("simulate", scenario, "-o", log).returncode, 0)
        rows = rows_of(log)
        self.assertEqual(len(rows), 201)
        names = [f"momentum.{kind}.{axis}" for kind in ("linear", "angular") for axis in "xyz"]
        begin = [float(rows[0][name]) for name in names]
        # 28 kg that move with the hull, whose frame they turn about: the mass centre is at (11.5 / 28, 0, 0).
        mass, p, v, w = 28, 11.5 / 28, (0.5, -0.2, 0.1), (0.3, 0.2, -0.4)
        for k, x in enumerate((v[0], v[1] + w[2] * p, v[2] - w[1] * p)):
            self.assertAlmostEqual(begin[k], mass * x, delta=1e-13 * mass)
        size = max(0, *map(abs, begin))
        self.assertGreater(size, 10)
        for row in rows:
            for name, x in zip(names, begin):
                self.assertAlmostEqual(float(row[name]), x, delta=1e-12 * size, msg=f"{name} at {row['t']}")
        # The motors moved the joints.
        self.assertGreater(abs(float(rows[-1]["state.q.shoulder"]) - float(rows[0]["state.q.shoulder"])), 0.5)
        self.assertEqual(run("simulate", scenario, "-o", self.path("flight.mcap")).returncode, 0)
        found = messages(self.path("flight.mcap").read_bytes())["/momentum"]
        self.assertEqual(len(found), 201)
        for (_, message), row in zip(found, rows):
            for kind in ("linear", "angular"):
                for axis in "xyz":
                    self.assertEqual(message[kind][axis], float(row[f"momentum.{kind}.{axis}"]))

    def test_mcap_log(self):
        log = self.path("run.mcap")
        self.assertEqual(run("simulate", self.scenario, "-o", log).returncode, 0)
        data = log.read_bytes()
        self.assertEqual(data[-8:], b"\x89MCAP0\r\n")
        kinds = [kind for kind, _ in records(data)]
        self.assertEqual(kinds[0], 1)
        self.assertEqual(kinds[-2:], [14, 2])  # the last offset of the summary, and the footer
        found = messages(data)
        self.assertEqual(set(found), {"/state", "/torque", "/energy", "/momentum", "/imu", "/target", "/tf", "/joint_states"})
        self.assertEqual(len(found["/state"]), 51)
        self.assertEqual(len(found["/imu"]), 51)
        time_ns, state = found["/state"][10]
        self.assertEqual(time_ns, 100_000_000)
        self.assertEqual(set(state), {"t", "q", "v"})
        # The same run as CSV holds the same numbers.
        table = self.path("run.csv")
        self.assertEqual(run("simulate", self.scenario, "-o", table).returncode, 0)
        rows = rows_of(table)
        self.assertEqual(float(rows[10]["state.q.joint2"]), state["q"]["joint2"])

    def test_killed_run_leaves_a_readable_log(self):
        for name in ("run.mcap", "run.csv"):
            log = self.path(name)
            process = subprocess.Popen(
                [LIMB, "simulate", "builtin:arm7", "--duration", "1e6", "-o", log],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 1200
            while time.monotonic() < deadline and not (log.exists() and log.stat().st_size > 20000):
                self.assertIsNone(process.poll(), "the run ended by itself")
                time.sleep(0.05)
            process.send_signal(signal.SIGKILL)
            process.wait()
            if name.endswith("mcap"):
                count = len(messages(log.read_bytes())["/state"])
            else:
                lines = log.read_text().split("\n")
                count = sum(line.count(",") == lines[0].count(",") for line in lines[1:])
            self.assertGreater(count, 10, name)

    def test_batch(self):
        one = run("simulate", self.scenario, "--batch", "8", "--threads", "1", "--json")
        two = run("simulate", self.scenario, "--batch", "8", "--threads", "2", "--json")
        self.assertEqual(one.returncode, 0, one.stderr)
        self.assertEqual(one.stdout, two.stdout)
        summary = json.loads(one.stdout)
        self.assertEqual((summary["runs"], summary["failed"]), (8, 0))
        self.assertGreater(summary["target_error"]["deviation"], 0)

    def test_batch_statistics_are_those_of_the_runs(self):
        """Run k is the same in every batch, so the means of growing batches give the single runs."""
        def summary(count):
            out = run("simulate", self.scenario, "--batch", count, "--json")
            self.assertEqual(out.returncode, 0, out.stderr)
            data = json.loads(out.stdout)
            return {"energy change, J": data["balance"]["change"], "distance to the target": data["target_error"],
                    **{f"peak torque, {name}": x for name, x in data["peak_torque"].items()}}

        count = 5
        batches = [summary(n) for n in range(1, count + 1)]
        table = run("simulate", self.scenario, "--batch", count).stdout
        self.assertTrue(table.startswith(f"2r: {count} runs of 0.500000 s, 0 failed\n"))
        self.assertEqual(len(batches[0]), 4)
        for name in batches[0]:
            means = [batch[name]["mean"] for batch in batches]
            values = [(n + 1) * means[n] - n * means[n - 1] if n else means[0] for n in range(count)]
            self.assertTrue(all(map(math.isfinite, values)))
            size = sorted(map(abs, values))[-1]
            for n in range(1, count + 1):
                found, part = batches[n - 1][name], values[:n]
                expected = {"mean": statistics.fmean(part), "min": sorted(part)[0], "max": sorted(part)[-1],
                            "deviation": statistics.stdev(part) if n > 1 else 0}
                for key, value in expected.items():
                    # Differences of means: a few roundings of up to 5 values; worst seen 6e-16.
                    self.assertLess(abs(found[key] - value), 4e-15 * size, f"{key} of {name}, {n} runs")
            self.assertGreater(batches[-1][name]["max"], batches[-1][name]["min"], name)
            line = next(x for x in table.splitlines() if x.strip().startswith(name))
            cells = line.split(name)[1].split()
            for cell, key in zip(cells, ("mean", "deviation", "min", "max"), strict=True):
                # Rounded to six digits after the point, or to six digits in all.
                rounding = 5.1e-6 * abs(float(cell)) if "e" in cell else 5.1e-7
                self.assertLess(abs(float(cell) - batches[-1][name][key]), rounding, f"{key} of {name}")

    def test_identical_runs_have_the_numbers_of_one_run(self):
        arguments = ["simulate", "builtin:2r", "--duration", "0.1", "--json"]
        one = json.loads(run(*arguments).stdout)
        many = json.loads(run(*arguments, "--batch", "3").stdout)
        change = one["energy_end"] - one["energy_start"]
        for key in ("min", "max"):
            self.assertEqual(many["balance"]["change"][key], change)
        self.assertLessEqual(many["balance"]["change"]["deviation"], 4e-16 * abs(change))

    def test_failed_run_keeps_its_log(self):
        scenario = self.path("bad.toml")
        scenario.write_text('model = "builtin:2r"\nduration = 100\nintegrator = "explicit-euler"\nstep = 0.05\n'
                            '[[spring]]\njoint = "joint1"\nstiffness = 1e9\n[initial]\nq = [0.3, 0]\n')
        log = self.path("bad.csv")
        result = run("simulate", scenario, "-o", log)
        self.assertEqual(result.returncode, 2)
        warning, failure = result.stderr.splitlines()
        self.assertIn("explicit-euler takes the springs or servos of joint 'joint1' explicitly", warning)
        self.assertRegex(failure, r"^limb simulate: explicit-euler: after t = [0-9.]+ s the motion is not finite")
        self.assertGreater(len(log.read_text().splitlines()), 2)

    def test_a_run_whose_ledger_does_not_close_ends(self):
        """Runge-Kutta with damping beyond its limit: warned before, ended with the cause, log closed."""
        scenario = self.path("stiff.toml")
        scenario.write_text('model = "builtin:2r"\nduration = 10\nintegrator = "runge-kutta-4"\n[initial]\nq = [0.3, 0]\n'
                            '[[spring]]\njoint = "joint2"\ndamping = 1000\n')
        log = self.path("stiff.mcap")
        result = run("simulate", scenario, "-o", log)
        self.assertEqual(result.returncode, 2, result.stdout)
        warning, failure = result.stderr.splitlines()
        self.assertRegex(warning, r"^limb simulate: warning: runge-kutta-4 takes the damping or friction of joint 'joint2' "
                         r"explicitly, which needs steps below [\de.-]+ s instead of 0.001 s: use semi-implicit-euler")
        self.assertRegex(failure, r"^limb simulate: after t = [\d.]+ s the energy ledger does not close: .* \(largest entry: "
                         r"springs, .* most energy in joint 'joint\d'")
        self.assertEqual(log.read_bytes()[-8:], b"\x89MCAP0\r\n")
        self.assertNotIn("nan", result.stdout)
        good = run("simulate", scenario, "--integrator", "semi-implicit-euler", "--duration", 1)
        self.assertEqual((good.returncode, good.stderr), (0, ""))

    def test_quaternions_are_normalized(self):
        scenario = self.path("turned.toml")
        scenario.write_text('model = "builtin:quadruped"\nbase = "free"\nduration = 0.01\n[initial]\n'
                            f'q = [0, 0, 1, 0, 0, 0.7, 0.7{", 0" * 12}]\n')
        result = run("simulate", scenario)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"^limb simulate: initial q: the quaternion of joint '.*' has length 0.98994\d*, normalized\n$")

    def test_rows_of_a_file(self):
        """One run per row: results and logs as those of scenarios with these values."""
        rows = self.path("runs.csv")
        rows.write_text("initial.q.joint1,controller.target.joint1,duration,seed\n0.1,0.2,0.3,4\n0.5,,0.2,5\n")
        named = json.loads(run("simulate", self.scenario, "--vary", rows, "-o", self.path("named/r_{}.csv"), "--json").stdout)
        self.assertEqual([x["log"] for x in named["each"]], [str(self.path(f"named/r_{k}.csv")) for k in (1, 2)])
        self.assertEqual(len(rows_of(self.path("named/r_1.csv"))), 31)
        # Without a spread the rows are exactly the single runs.
        plain = self.path("plain.toml")
        plain.write_text(SCENARIO.split("[batch]")[0])
        out = json.loads(run("simulate", plain, "--vary", rows, "-o", self.path("logs"), "--json").stdout)
        for k, (q, target, duration, seed) in enumerate([(0.1, 0.2, 0.3, 4), (0.5, 0.6, 0.2, 5)]):
            scenario, log = self.path("one.toml"), self.path("one.csv")
            scenario.write_text(f"seed = {seed}\n" + plain.read_text().replace('"30 deg"', str(q)).replace("0.6}", f"{target}}}")
                                .replace("duration = 0.5", f"duration = {duration}"))
            one = json.loads(run("simulate", scenario, "-o", log, "--json").stdout)
            for key in ("q", "v", "t", "target_error", "energy"):
                self.assertEqual(out["each"][k][key], one[key], key)
            self.assertTrue(self.path(f"logs/run_{k + 1}.mcap").exists())
            self.assertEqual(self.path(f"logs/run_{k + 1}.mcap").read_bytes()[-8:], b"\x89MCAP0\r\n")

    def test_mistakes_in_rows(self):
        rows = self.path("runs.csv")
        for text, expected in (("initial.q.joint9\n1\n", "runs.csv:2: 'initial.q.joint9': initial: no joint with one degree "
                                "of freedom is named 'joint9' (closest: 'joint1')"),
                               ("step\n0.001\nfast\n", "runs.csv:3: 'step': scenario: step is 'fast', expected a number > 0, "
                                "plain in SI units or a text in one of s,ms,us")):
            rows.write_text(text)
            self.assertEqual(self.error(self.scenario, "--vary", rows), f"limb simulate: {expected}")
        rows.write_text("step\n0.001\n")
        self.assertEqual(self.error(self.scenario, "--vary", rows, "--batch", 3),
                         "limb simulate: --vary has one run per row, leave out --batch")
        self.assertIn("--ground plane, --clearance and --initial do not apply to the runs of --vary",
                      self.error(self.scenario, "--vary", rows, "--ground", "plane"))
        self.assertEqual(self.error(self.scenario, "--vary", rows, "--dt", 0.1),
                         "limb simulate: runs.csv varies 'step', which an option sets: leave out one of them")
        self.assertEqual(self.error(self.scenario, "--vary", self.path("none.csv"))[:14], "limb simulate:")

    def test_mistakes(self):
        self.assertEqual(self.error(self.path("none.toml"))[:14], "limb simulate:")
        self.assertEqual(self.error("builtin:2r", "--dt", "-1"),
                         "limb simulate: --dt is -1, expected a number > 0")
        self.assertEqual(self.error("builtin:2r", "-o", "run.txt"),
                         "limb simulate: --output is 'run.txt', expected a name that ends in .csv or .mcap")
        self.assertEqual(self.error("builtin:2r", "--controller", "best"),
                         "limb simulate: --controller is 'best', expected one of none, open-loop, pd, gravity, "
                         "computed-torque, pid, joint-impedance, cartesian-impedance, operational-space, "
                         "hybrid-force, lqr, balance, locomotion")
        self.assertEqual(self.error("builtin:2r", "--controller", "hybrid-force"),
                         "limb simulate: controller 'hybrid-force' needs a frame: write a scenario")
        self.assertEqual(self.error("builtin:quadruped", "--controller", "balance"),
                         "limb simulate: this controller needs a [ground] to stand on: write a scenario")
        scenario = self.path("typo.toml")
        scenario.write_text('model = "builtin:2r"\n[[spring]]\njoint = "joint3"\n')
        self.assertEqual(self.error(scenario),
                         "limb simulate: typo.toml:3: [[spring]]: no joint with one degree of freedom is named "
                         "'joint3' (closest: 'joint1')")


if __name__ == "__main__":
    LIMB = sys.argv.pop(1)
    unittest.main()
