"""Bad numbers, full disks, signals and numbers that do not exist: python3 cli/robustness_test.py build/limb"""

import csv
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from simulate_test import messages, records

LIMB = "limb"
FEET = "FL_foot,FR_foot,RL_foot,RR_foot"
# What a verb needs besides the option under test. Options are checked before the files are opened.
REQUIRED = {
    "info": ["builtin:2r"], "check": ["builtin:2r"], "list": [], "eval": ["builtin:2r", "--input", "none.json"],
    "prove": ["builtin:2r"], "derive": ["builtin:2r"], "compile": ["builtin:2r"], "bench": ["builtin:2r"],
    "simulate": ["builtin:2r"], "plot": ["none.csv", "-o", "none.svg"],
    "estimate": ["none.csv", "--feet", "a"], "demo": [], "draw": ["builtin:2r"],
}
WHOLE = {"N"}  # also newtons
NUMBERS = {"S", "M", "KG", "DEG", "RAD", "P", "M/S", "RAD/S", "RAD/S/RTHZ", "M/S2/RTHZ", "RAD/S/RTS", "M/S2/RTS",
           "M/RTS", "N S"}
TEXTS = {"NOISE", "FORMULA", "graph|asm|c|ptx", "MAP", "L,W", "", "A,B,C,D", "JOINT=Q,...", "JOINT=RANGE", "NAME=VALUES", "KIND", "FOLDER", "FILE", "OUT", "IN.json", "OUT.json", "NAME", "A,B,...", "STRATEGY", "DIR", "graph|asm|c",
         "LOG", "MODEL", "LIST", "FRAME", "SOURCE", "TOPIC", "FILE.html", "FILE.svg"}
MAX_INT, MAX_64 = 2**31 - 1, 2**64 - 1


def run(*arguments, memory=None, file_size=None, **options):
    """Runs limb; memory and file_size are limits in bytes."""
    def limit():
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        if file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    return subprocess.run([LIMB, *map(str, arguments)], capture_output=True, text=True, timeout=1200,
                          preexec_fn=limit, **options)


def options_of(verb):
    """(long name, type) of each option in the help of a verb."""
    found = []
    for line in run(verb, "--help").stdout.splitlines():
        match = re.match(r"  (?:-\w,)?(?:--\w[\w-]*,)*(--[a-z][\w-]*) ?(.*?)   ", line)
        if match:
            found.append((match[1], match[2].partition(":{")[0]))
    return found


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return Path(self.folder.name) / name

    def files(self):
        return sorted(p.name for p in Path(self.folder.name).iterdir())

    def one_line(self, result):
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("limb "), result.stderr)
        return result.stderr.strip()


class OptionTest(Folder):
    def test_every_option_is_a_known_kind(self):
        for verb in REQUIRED:
            options = options_of(verb)
            self.assertIn(("--help", ""), options)
            for option, kind in options:
                self.assertIn(kind.partition(":")[0], WHOLE | NUMBERS | TEXTS, f"{verb} {option}")
        listed = run("--help").stdout.split("Robots\n")[1].split("\nHelp\n")[0]
        self.assertEqual(set(re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)), set(REQUIRED))

    def test_no_number_option_takes_what_is_not_a_finite_number(self):
        tested = 0
        for verb, required in REQUIRED.items():
            for option, kind in options_of(verb):
                if kind not in WHOLE | NUMBERS:
                    continue
                for value in ("nan", "-nan", "inf", "-inf", "1e999", "abc", "1x", "0x10", "", " 1", "1,5"):
                    result = run(verb, *required, f"{option}={value}", cwd=self.folder.name)
                    with self.subTest(verb=verb, option=option, value=value):
                        self.assertEqual((result.returncode, result.stdout), (1, ""))
                        text = self.one_line(result)
                        self.assertTrue(text.startswith(f"limb {verb}: {option} "), text)
                        if value:
                            self.assertIn("expected a", text)
                            self.assertIn(value.strip("-"), text)
                    tested += 1
        self.assertGreater(tested, 300)

    def check(self, message, *arguments):
        result = run(*arguments, cwd=self.folder.name)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (1, "", message + "\n"))

    def test_ranges(self):
        whole = "expected a whole number from"
        for verb, option, low, high in (
                ("simulate", "--batch", 1, MAX_INT), ("simulate", "--threads", 0, 1024),
                ("simulate", "--seed", 0, MAX_64), ("prove", "--states", 1, MAX_INT), ("prove", "--seed", 0, MAX_64),
                ("bench", "--states", 1, 10**7), ("bench", "--threads", 1, 1024), ("derive", "--max-terms", 1, MAX_64),
                ("estimate", "--seed", 0, MAX_64), ("demo", "--seed", 0, MAX_64)):
            for value in (low - 1, high + 1, -1, -10**30, 10**30):
                self.check(f"limb {verb}: {option} is {value}, {whole} {low} to {high}", verb, *REQUIRED[verb],
                           f"{option}={value}")
            self.check(f"limb {verb}: {option} is '2e9', {whole} {low} to {high}", verb, *REQUIRED[verb], option, "2e9")
            self.check(f"limb {verb}: {option} is '1.5', {whole} {low} to {high}", verb, *REQUIRED[verb], option, "1.5")
        for verb, option, wrong, expected in (
                ("simulate", "--duration", (0, -1), "a number > 0"), ("simulate", "--dt", (0, -1e-3), "a number > 0"),
                ("bench", "--time", (0, -1, 3601), "a number > 0 and <= 3600"),
                ("estimate", "--gate", (0, 1.5, -1), "a number > 0 and <= 1"),
                ("estimate", "--make-walk", (0, -3, 2501), "a number > 0 and <= 2500"),
                ("estimate", "--make-force", (0, -3), "a number > 0"),
                ("estimate", "--break-force", (-3,), "a number >= 0"),
                ("estimate", "--gyro-noise", (-1e-9,), "a number >= 0"),
                ("demo", "--duration", (0.5, 121), "a number from 1 to 120"),
                ("demo", "--speed", (-0.9, 0.9), "a number from -0.8 to 0.8"),
                ("demo", "--push", (-201, 200.5), "a number from -200 to 200")):
            for value in wrong:
                self.check(f"limb {verb}: {option} is {value:.16g}, expected {expected}", verb, *REQUIRED[verb],
                           f"{option}={value!r}")

    def test_ends_of_the_ranges_are_accepted(self):
        for arguments in (["prove", "builtin:2r", "-n", 1, "--seed", MAX_64], ["prove", "builtin:2r", "-n", 1, "--seed", 0],
                          ["bench", "builtin:2r", "-n", 1, "--threads", 1, "--time", "1e-9", "--functions", "gravity"],
                          ["simulate", "builtin:2r", "--duration", "0.01", "--batch", 1, "--threads", 0],
                          ["derive", "builtin:2r", "--only", "G", "--max-terms", MAX_64]):
            result = run(*arguments)
            self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)

    def test_large_seeds_are_used_as_they_are(self):
        seeds = [1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, MAX_64]
        worst = {}
        for seed in seeds:
            data = json.loads(run("prove", "builtin:arm7", "-n", 1, "--seed", seed, "--json").stdout)
            self.assertEqual(data["seed"], seed)
            worst[seed] = tuple(row["worst"] for row in data["rows"])
            log = self.path("run.mcap")
            result = run("simulate", "builtin:2r", "--duration", "0.01", "--seed", seed, "-o", log)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b"seed" + len(str(seed)).to_bytes(4, "little") + str(seed).encode(), log.read_bytes())
        self.assertEqual(len(set(worst.values())), len(seeds))  # other states, other errors of rounding

    def test_too_many_steps_are_refused_before_the_log_is_opened(self):
        log = self.path("run.csv")
        for arguments in (["--duration", "1e300"], ["--duration", "1e6", "--dt", "1e-7"]):
            result = run("simulate", "builtin:2r", *arguments, "-o", log)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(self.one_line(result), r"^limb simulate: duration is \S+ s, expected at most 1000000000000 "
                                                    r"steps of \S+ s$")
        self.assertEqual(self.files(), [])


class MemoryTest(Folder):
    LIMIT = 1 << 31
    SIZES = r"expected a size that fits into memory \(about ([\d.]+) ([kMGT]B) needed, ([\d.]+) ([kMG]B) available\)$"

    def check(self, prefix, least, *arguments):
        result = run(*arguments, memory=self.LIMIT)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        match = re.fullmatch(re.escape(prefix) + self.SIZES, self.one_line(result))
        self.assertTrue(match, result.stderr)
        unit = {"kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
        needed, available = float(match[1]) * unit[match[2]], float(match[3]) * unit[match[4]]
        self.assertGreaterEqual(needed, least)
        self.assertLess(needed, 20 * least)
        self.assertLess(available, self.LIMIT)

    def test_batch(self):
        # At least the final state and the peaks of each run: 6 numbers of 8 bytes.
        self.check("limb simulate: --batch is 2000000000, ", 2e9 * 48,
                   "simulate", "builtin:2r", "--batch", 2_000_000_000)

    def test_bench(self):
        # Twelve degrees of freedom and the base: q, v, tau and the acceleration at least.
        self.check("limb bench: --states is 10000000, ", 1e7 * 8 * (19 + 3 * 18),
                   "bench", "builtin:quadruped", "-n", 10_000_000, "--functions", "aba_derivatives")

    def test_out_of_memory_is_one_message(self):
        log = self.path("zeros.csv")
        with log.open("wb") as stream:
            stream.truncate(900 << 20)  # sparse
        result = run("plot", log, "-o", self.path("x.svg"), memory=400 << 20)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, "limb plot: out of memory, the input is too large\n")


class FullDiskTest(Folder):
    """Files larger than a limit cannot be written, as on a full disk."""

    def setUp(self):
        super().setUp()
        self.scenario = self.path("s.toml")
        self.scenario.write_text('model = "builtin:2r"\nduration = 2\nlog_period = 0.001\n[initial]\nq = [0.3, 0.4]\n')

    def test_text_files_stay_as_they_were(self):
        log, walk, states = self.path("run.mcap"), self.path("walk.csv"), self.path("states.json")
        self.assertEqual(run("simulate", self.scenario, "-o", log).returncode, 0)
        estimate = ["estimate", walk, "--model", "builtin:quadruped", "--feet", FEET]
        self.assertEqual(run(*estimate, "--make-walk", 3).returncode, 0)
        states.write_text(json.dumps({"states": [{"q": [0.1 * i, 0.2]} for i in range(9)]}))
        urdf = '<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="2"/>' \
               '<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>' \
               '<joint name="turn" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 0 2"/></joint>' \
               + " " * 2000 + "</robot>"
        for name, arguments in (
                ("a.html", ["derive", "builtin:2r", "--steps", "--format", "html", "-o"]),
                ("a.tex", ["derive", "builtin:2r", "--format", "latex", "-o"]),
                ("a.c", ["derive", "builtin:rr", "--format", "c", "-o"]),
                ("a.svg", ["plot", log, "-o"]), ("a.html", ["plot", log, "-o"]),
                ("a.html", [*estimate, "-o"]), ("a.svg", [*estimate, "-o"]),
                ("a.html", ["demo", "arm", "-o"]), ("a.svg", ["demo", "planar", "--picture"]),
                ("a.json", ["eval", "builtin:2r", "--input", states, "--output"]),
                ("a.urdf", ["check", None, "--fix"]), ("a.toml", ["check", "builtin:quadruped", "--fix"])):
            output = self.path(name)
            output.write_text(urdf)
            before = self.files()
            arguments = [output if x is None else x for x in arguments]  # --fix onto the input itself
            with self.subTest(arguments=arguments):
                result = run(*arguments, output, file_size=1000)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertEqual(self.one_line(result), f"limb {arguments[0]}: cannot write {output}: File too large")
                self.assertEqual(output.read_text(), urdf)
                self.assertEqual(self.files(), before)  # nothing partial is left
                result = run(*arguments, output)
                self.assertIn(result.returncode, (0, 1))
                self.assertNotEqual(output.read_text(), urdf)
            output.unlink()

    def test_generated_c_names_the_file(self):
        folder = self.path("arm_c")
        result = run("compile", "builtin:arm7", "--target", "c", "-o", folder, file_size=4000)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(self.one_line(result), rf"^limb compile: cannot write {folder}/\w+\.\w+: File too large$")
        for file in folder.iterdir():
            self.assertLessEqual(file.stat().st_size, 4000)
            self.assertNotIn(".part", file.name)

    def check_csv(self, cut, whole):
        with cut.open(newline="") as a, whole.open(newline="") as b:
            rows, expected = list(csv.reader(a)), list(csv.reader(b))
        self.assertEqual(cut.read_text()[-1], "\n")
        self.assertGreater(len(rows), 10)
        self.assertEqual(rows, expected[:len(rows)])

    def check_mcap(self, cut, whole):
        data = cut.read_bytes()
        self.assertEqual([kind for kind, _ in records(data)][-2:], [15, 2])  # end of data, footer
        self.assertEqual(data[-8:], b"\x89MCAP0\r\n")
        found, expected = messages(data), messages(whole.read_bytes())
        for topic, rows in expected.items():
            for_viewers = topic in ("/tf", "/joint_states", "/scene")  # fewer messages
            self.assertGreater(len(found[topic]), 2 if for_viewers else 10)
            self.assertEqual(found[topic], rows[:len(found[topic])])

    def check_log(self, arguments, ending, check):
        whole, cut = self.path("whole" + ending), self.path("cut" + ending)
        self.assertEqual(run(*arguments, whole).returncode, 0)
        size = whole.stat().st_size
        for limit in (size - 1, size * 3 // 4, size // 2, size * 2 // 5 + 1):
            result = run(*arguments, cut, file_size=limit)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(self.one_line(result), f"limb {arguments[0]}: cannot write {cut}: File too large")
            self.assertLessEqual(cut.stat().st_size, limit)
            check(cut, whole)
            picture = self.path("x.svg")
            self.assertEqual(run("plot", cut, "-o", picture, "--only", "contact" if "est" in arguments[0] else "energy")
                             .returncode, 0)

    def test_logs_of_simulate_end_with_whole_rows(self):
        self.check_log(["simulate", self.scenario, "-o"], ".csv", self.check_csv)
        self.check_log(["simulate", self.scenario, "-o"], ".mcap", self.check_mcap)

    def test_logs_of_estimate_end_with_whole_rows(self):
        walk = self.path("walk.csv")
        arguments = ["estimate", walk, "--model", "builtin:quadruped", "--feet", FEET]
        result = run(*arguments, "--make-walk", 3, file_size=100_000)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(self.one_line(result), f"limb estimate: cannot write {walk}: File too large")
        self.assertEqual(walk.read_text()[-1], "\n")
        self.assertEqual(run(*arguments, "--make-walk", 3).returncode, 0)
        self.check_log([*arguments, "-o"], ".csv", self.check_csv)
        self.check_log([*arguments, "-o"], ".mcap", self.check_mcap)

    def test_summary_up_to_the_full_disk_is_printed(self):
        result = run("simulate", self.scenario, "-o", self.path("x.csv"), "--json", file_size=100_000)
        self.assertEqual(result.returncode, 2)
        found = json.loads(result.stdout)
        self.assertEqual("limb simulate: " + found["failure"], result.stderr.strip())
        self.assertTrue(0 < found["t"] <= 2)

    def test_full_file_system(self):
        mount = self.path("small")
        mount.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=65536", "none", mount],
                                               capture_output=True).returncode != 0:
            self.skipTest("cannot mount a small file system")
        try:
            for name in ("run.csv", "run.mcap"):
                result = run("simulate", self.scenario, "-o", mount / name)
                self.assertEqual(result.returncode, 2)
                self.assertEqual(self.one_line(result),
                                 f"limb simulate: cannot write {mount / name}: No space left on device")
                whole = self.path(name)
                self.assertEqual(run("simulate", self.scenario, "-o", whole).returncode, 0)
                (self.check_csv if name == "run.csv" else self.check_mcap)(mount / name, whole)
                (mount / name).unlink()
            (mount / "fill").write_bytes(b"x" * 60000)
            page = mount / "a.html"
            page.write_text("old")
            result = run("derive", "builtin:2r", "--steps", "--format", "html", "-o", page)
            self.assertEqual(self.one_line(result), f"limb derive: cannot write {page}: No space left on device")
            self.assertEqual((page.read_text(), sorted(p.name for p in mount.iterdir())), ("old", ["a.html", "fill"]))
        finally:
            subprocess.run(["umount", mount], check=True)

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_devices_are_written_and_not_replaced(self):
        result = run("derive", "builtin:2r", "-o", "/dev/full")
        self.assertEqual((result.returncode, self.one_line(result)),
                         (1, "limb derive: cannot write /dev/full: No space left on device"))
        self.assertEqual(run("derive", "builtin:2r", "-o", "/dev/null").returncode, 0)
        self.assertFalse(Path("/dev/null").is_file())
        for full in ("csv", "mcap"):
            self.path(f"x.{full}").symlink_to("/dev/full")
            result = run("simulate", self.scenario, "-o", self.path(f"x.{full}"))
            self.assertEqual(result.returncode, 2)
            self.assertEqual(self.one_line(result),
                             f"limb simulate: cannot write {self.path('x.' + full)}: No space left on device")

    def test_closed_pipe(self):
        fifo = self.path("pipe.csv")
        os.mkfifo(fifo)
        process = subprocess.Popen([LIMB, "simulate", "builtin:2r", "--duration", "100", "-o", fifo],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with fifo.open() as stream:
            self.assertTrue(stream.readline().startswith("t,state.q.joint1"))
        _, text = process.communicate(timeout=1200)
        self.assertEqual((process.returncode, text), (2, f"limb simulate: cannot write {fifo}: Broken pipe\n"))


class SignalTest(Folder):
    def start(self, *arguments, ready):
        """A process that has installed its handlers, when ready() holds."""
        def default_signals():  # a shell starts jobs in the background with SIGINT ignored
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
        process = subprocess.Popen([LIMB, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=default_signals)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 1200
        while time.monotonic() < deadline:
            self.assertIsNone(process.poll(), process.poll() is not None and process.stderr.read())
            caught = int(re.search(r"SigCgt:\t(\w+)", Path(f"/proc/{process.pid}/status").read_text())[1], 16)
            if all(caught >> (s - 1) & 1 for s in (signal.SIGINT, signal.SIGTERM)) and ready():
                return process
            time.sleep(0.01)
        self.fail("not ready")

    def stop(self, process, number):
        process.send_signal(number)
        out, text = process.communicate(timeout=1200)
        self.assertEqual(process.returncode, 128 + number, text)
        self.assertEqual(text.count("\n"), 1, text)
        return out, text.strip()

    def test_simulate_closes_its_log(self):
        scenario = self.path("s.toml")
        scenario.write_text('model = "builtin:arm7"\nduration = 1e6\nlog_period = 1.0\n')
        for number in (signal.SIGINT, signal.SIGTERM):
            for name in ("run.mcap", "run.csv"):
                log = self.path(name)
                log.unlink(missing_ok=True)
                process = self.start("simulate", scenario, "--json", "-o", log,
                                     ready=lambda: log.exists() and log.stat().st_size > 20000)
                out, text = self.stop(process, number)
                match = re.fullmatch(r"limb simulate: interrupted at (\S+) of 1000000 s", text)
                self.assertTrue(match, text)
                summary = json.loads(out)
                self.assertAlmostEqual(summary["t"], float(match[1]), delta=1e-6 * summary["t"])  # six digits or more
                self.assertEqual("limb simulate: " + summary["failure"], text)
                if name == "run.mcap":
                    data = log.read_bytes()
                    self.assertEqual([kind for kind, _ in records(data)][-2:], [14, 2])  # with a summary
                    self.assertEqual(data[-8:], b"\x89MCAP0\r\n")
                    last = messages(data)["/state"][-1][1]["t"]
                else:
                    with log.open(newline="") as stream:
                        rows = list(csv.reader(stream))
                    self.assertEqual({len(row) for row in rows}, {len(rows[0])})
                    last = float(rows[-1][0])
                # The log ends where the run ended, within a log period.
                self.assertLessEqual(last, summary["t"])
                self.assertGreater(last, summary["t"] - 1.0001)
                self.assertEqual(run("plot", log, "-o", self.path("x.svg"), "--only", "energy").returncode, 0)

    def test_long_log_periods_do_not_delay_the_end(self):
        scenario = self.path("s.toml")
        scenario.write_text('model = "builtin:arm7"\nduration = 1e6\nlog_period = 1e6\n')
        _, text = self.stop(self.start("simulate", scenario, ready=lambda: True), signal.SIGINT)
        self.assertRegex(text, r"^limb simulate: interrupted at \S+ of 1000000 s$")

    def test_derive_ends_while_it_computes_or_writes(self):
        process = self.start("derive", "builtin:arm7", "--symbolic-parameters", "--json", ready=lambda: True)
        out, text = self.stop(process, signal.SIGINT)
        self.assertEqual(out, "")
        self.assertRegex(
            text, r"^limb derive: interrupted (after \d+ products of terms|while writing the closed form)$")

    def test_make_walk_closes_its_log(self):
        for name in ("walk.mcap", "walk.csv"):
            log = self.path(name)
            process = self.start("estimate", log, "--model", "builtin:quadruped", "--feet", FEET, "--make-walk", 100,
                                 ready=lambda: log.exists() and log.stat().st_size > 50_000)
            _, text = self.stop(process, signal.SIGINT)
            match = re.fullmatch(r"limb estimate: interrupted at (\S+) of 100 s of the synthetic walk", text)
            self.assertTrue(match, text)
            if name == "walk.mcap":
                data = log.read_bytes()
                self.assertEqual(data[-8:], b"\x89MCAP0\r\n")
                times = [message["t"] for _, message in messages(data)["/imu"]]
            else:
                with log.open(newline="") as stream:
                    rows = list(csv.reader(stream))
                self.assertEqual({len(row) for row in rows}, {len(rows[0])})
                times = [float(row[0]) for row in rows[1:]]
            # Every row up to the interruption is there.
            step = times[1] - times[0]
            self.assertAlmostEqual(times[-1] + step, float(match[1]), delta=step / 2)

    def test_other_verbs_say_how_far_they_got(self):
        for arguments, pattern in (
                (["simulate", "builtin:arm7", "--duration", "1e6", "--batch", "100"], r"after \d+ of 100 runs"),
                (["prove", "builtin:humanoid", "-n", MAX_INT], rf"after \d+ of {MAX_INT} states"),
                (["bench", "builtin:2r", "--functions", "rnea", "--time", "3600"], r"while timing"),
                (["demo", "--duration", "120", "-o", self.path("x.html")], r"at [\d.]+ of [\d.]+ s")):
            out, text = self.stop(self.start(*arguments, ready=lambda: True), signal.SIGINT)
            self.assertRegex(text, rf"^limb {arguments[0]}: interrupted {pattern}$")
            self.assertEqual(out, "")
        self.assertNotIn("x.html", self.files())


def strict_json(text):
    def refuse(name):
        raise ValueError(f"{name} in JSON")
    return json.loads(text, parse_constant=refuse)


class NotANumberTest(Folder):
    UNSTABLE = ('model = "builtin:2r"\nduration = 100\nintegrator = "explicit-euler"\nstep = 0.05\n'
                '[[spring]]\njoint = "joint1"\nstiffness = 1e9\n[initial]\nq = [0.3, 0]\n')

    def assert_no_nan(self, text):
        self.assertIsNone(re.search(r"(?<![\w])-?nan(?![\w])", text, re.IGNORECASE), text[:2000])

    def test_simulation_that_diverges(self):
        scenario = self.path("s.toml")
        scenario.write_text(self.UNSTABLE)
        result = run("simulate", scenario)
        self.assertEqual(result.returncode, 2)
        self.assert_no_nan(result.stdout)
        found = strict_json(run("simulate", scenario, "--json").stdout)
        self.assertTrue(found["failure"])

    def test_batch_without_a_good_run(self):
        scenario = self.path("s.toml")
        scenario.write_text(self.UNSTABLE)
        result = run("simulate", scenario, "--batch", 3)
        self.assertEqual(result.returncode, 2)
        self.assertIn("3 runs of 100.000000 s, 3 failed", result.stdout)
        self.assertIn("limb simulate: 3 of 3 runs failed, the first: explicit-euler: after t =", result.stderr)
        rows = {line[:25].strip(): line[25:].split() for line in result.stdout.splitlines() if line.startswith("  ")}
        self.assertEqual(rows["energy change, J"], ["-"] * 4)
        self.assertEqual(rows["peak torque, joint1"], ["-"] * 4)
        found = strict_json(run("simulate", scenario, "--batch", 3, "--json").stdout)
        self.assertEqual(found["failed"], 3)
        nothing = dict.fromkeys(("mean", "deviation", "min", "max"))
        self.assertEqual(found["balance"]["change"], nothing)
        self.assertEqual(found["peak_torque"], {"joint1": nothing, "joint2": nothing})

    def test_one_run_has_no_deviation(self):
        found = strict_json(run("simulate", "builtin:2r", "--duration", "0.1", "--batch", 1, "--json").stdout)
        self.assertEqual(found["balance"]["change"]["deviation"], 0)
        self.assertEqual(found["balance"]["change"]["mean"], found["balance"]["change"]["max"])

    def test_logs_with_one_row_and_with_empty_cells(self):
        log = self.path("run.csv")
        head = "t,state.q.joint1,state.q.joint2,state.v.joint1,state.v.joint2,torque.motor.joint1,torque.motor.joint2\n"
        for rows in ("0,0.1,0.2,0.3,0.4,0.5,0.6\n", "0,0.1,0.2,0.3,0.4,,\n",
                     "0,0.1,0.2,1,2,3,\n1,0.1,0.2,1,2,,4\n2,0.1,0.2,1,2,3,4\n3,0.1,0.2,1,2,3,4\n"):
            log.write_text(head + rows)
            for name in ("x.svg", "x.html"):
                result = run("plot", log, "--model", "builtin:2r", "-o", self.path(name))
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assert_no_nan(result.stdout + self.path(name).read_text())
        # Motor 1: 3, none, 3, 3 N m at 1 rad/s; only the last second has both ends.
        text = self.path("x.html").read_text()
        self.assertIn("<tr><td>joint1</td><td>N m</td><td>3</td><td>3</td><td>3</td></tr>", text)
        self.assertIn("<tr><td>joint2</td><td>N m</td><td>4</td><td>4</td><td>16</td></tr>", text)

    def test_estimate_without_contacts(self):
        walk = self.path("walk.csv")
        arguments = ["estimate", walk, "--model", "builtin:quadruped", "--feet", FEET]
        self.assertEqual(run(*arguments, "--make-walk", 2).returncode, 0)
        with walk.open(newline="") as stream:
            rows = list(csv.reader(stream))
        feet = [i for i, name in enumerate(rows[0]) if name.startswith("contact.")]
        truth = [i for i, name in enumerate(rows[0]) if name.startswith("truth.")]
        for row in rows[1:]:
            for i in feet:
                row[i] = "0"
            for i in truth:
                row[i] = ""
        with walk.open("w", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
        result = run(*arguments, "-o", self.path("x.html"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_no_nan(result.stdout)
        self.assertIn("- (no update by a foot)", result.stdout)
        self.assert_no_nan(self.path("x.html").read_text())
        self.assertIsNone(strict_json(run(*arguments, "--json").stdout)["nis_per_row"])


if __name__ == "__main__":
    LIMB = os.path.abspath(sys.argv.pop(1))
    unittest.main()
