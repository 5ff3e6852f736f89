"""Messages for wrong inputs have no names of functions of the library: python3 cli/messages_test.py build/limb

A user of the command line knows the command, its options and files, not `make_controller` or `Model::integrate`.
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LIMB = "limb"
ROOT = Path(__file__).resolve().parent.parent
BROKEN = ROOT / "tests/broken"

# A function or class as it starts an Error: snake_case, CamelCase, or with a namespace.
NAME = re.compile(r"(?<![\w'\"./-])((?:\w+::)+\w+|[a-z]+(?:_[a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,})(?:\(\))?: ")
# The same for names of one word, which occur in the sources as the start of an Error.
START = re.compile(r'(?:fail|fail_computation|check_\w+|read_text_file|Error)\(\s*"([A-Za-z]+)(?:: |")')


# Words of messages that also are the start of an Error: parts of files, options, integrators and functions of recipes.
PLAIN = {"arguments", "bias", "cvode", "distance", "gear", "gravity", "joint", "limits", "link", "mesh", "point",
         "posture", "results", "seed", "sqrt", "turn"}


def words():
    """Calls of one word, such as load."""
    found = set()
    for path in [*ROOT.glob("limb/**/*.cpp"), *ROOT.glob("limb/**/*.hpp")]:
        if "test" not in path.name and "testing" not in path.parts:
            found.update(START.findall(path.read_text()))
    return found - PLAIN


KEYS = {"inertia_entries", "inertia_diagonal"}  # of recipes
WORDS = words()
WORD = re.compile(r"(?<![\w'\"./-])(" + "|".join(sorted(WORDS)) + "): ")


def internal_name(message):
    """The first name of a function in the message, or None."""
    rest = re.sub(r"^limb \w+: ", "", message)
    found = [match[1] for pattern in (NAME, WORD) for match in pattern.finditer(rest)]
    return next((name for name in found if name not in KEYS), None)


def run(*arguments, **options):
    return subprocess.run([LIMB, *map(str, arguments)], capture_output=True, text=True, timeout=600, **options)


# Robots that each verb gets instead of one that it can use.
ROBOTS = {
    "empty.urdf": "",
    "page.urdf": "<!DOCTYPE html><html><body>404</body></html>",
    "pointer.urdf": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n",
    "binary.xml": "\x00\x01\x02",
    "cut.xml": "<mujoco><worldbody><body>",
    "loop.xml": '<mujoco><include file="loop.xml"/></mujoco>',
    "mesh.xml": '<mujoco><asset><mesh name="m" file="m.stl"/></asset><worldbody><body><freejoint/>'
                '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>',
    "fixed.urdf": '<robot name="r"><link name="base"/></robot>',
    "massless.urdf": '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>'
                     '<child link="b"/></joint></robot>',
    "planar.urdf": '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
                   'izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="planar"><parent link="a"/>'
                   '<child link="b"/></joint></robot>',
    "helical.toml": 'name = "h"\n[[link]]\nname = "a"\nmass = 1\ncom = [0, 0, 0]\ninertia_diagonal = [1, 1, 1]\n[[joint]]\n'
                    'name = "j"\ntype = "helical"\nparent = "world"\nchild = "a"\naxis = [0, 0, 1]\npitch = 0.1\n',
    "solid.toml": 'name = "s"\n[[link]]\nname = "a"\nsolid = {shape = "sphere", radius = 0, mass = 1}\n',
    "word.toml": "robot",
    "number.toml": 'name = "s"\n[parameters]\nl = "1 / 0"\n',
}
MISSING = ["absent.urdf", "builtin:nothing", "folder", "noending", "https://example.org/a.urdf"]

# Keys of a scenario with values that are refused or end the computation.
SCENARIOS = [
    'model = "absent.urdf"', 'model = "builtin:nothing"', 'model = "solid.toml"', 'model = "massless.urdf"', "model = 3",
    'model = "builtin:2r"\nintegrator = "nothing"', 'model = "builtin:2r"\ndt = 0', 'model = "builtin:2r"\ndt = 1e300',
    'model = "builtin:2r"\nduration = 1e18', 'model = "builtin:2r"\nlog_period = -1', 'model = "builtin:2r"\nnothing = 1',
    *(f'model = "builtin:2r"\n[controller]\ntype = "{kind}"\n{keys}'
      for kind in ("pd", "pid", "gravity", "computed-torque", "joint-impedance", "cartesian-impedance", "hybrid-force",
                   "operational-space", "lqr", "open-loop", "balance", "locomotion", "nothing")
      for keys in ("", "kp = -1", "kp = 1e308\nkd = 1e308", "period = 0", 'frame = "nothing"', "frequency = 1e300",
                   "torque = [1]", "target = [1, 2, 3]", 'feedback = "sensors"', "weight = 0")),
    *(f'model = "builtin:2r"\n[[{part}]]\n{keys}'
      for part in ("actuator", "spring", "push", "wall", "disturbance", "sensor", "contact.foot")
      for keys in ("", 'joint = "nothing"', 'joint = "joint1"\ngear = 0\nstiffness = -1', 'frame = "nothing"',
                   'frame = "tool"\nnormal = [0, 0, 0]\npoint = [0, 0, 0]\nstiffness = 1',
                   'frame = "tool"\nbegin = 2\nend = 1\nforce = [1, 0, 0]', 'name = "s"\ntype = "gyroscope"\nrate = 1e300',
                   'name = "s"\ntype = "gyroscope"\nframe = "tool"\nrate = 1e300')),
    *(f'model = "builtin:quadruped"\nbase = "free"\n[ground]\nkind = "{kind}"\n{keys}'
      for kind in ("plane", "slope", "stairs", "boxes", "height_field", "nothing")
      for keys in ("", "friction = -1", "restitution = 2", "angle = 9", "rise = -1", "depth = 0", "height = 1e300")),
    'model = "builtin:2r"\n[initial]\nq = [1]', 'model = "builtin:2r"\n[initial]\nv = [1e300, 1e300]',
    'model = "builtin:2r"\n[batch]\nmass = -1', 'model = "builtin:quadruped"\n[initial]\nq = [1]',
]

STATES = ["", "{}", "[]", '{"states": 3}', '{"states": [{}]}', '{"states": [{"q": [1]}]}', '{"states": [{"q": ["a", 1]}]}',
          '{"states": [{"q": [0, 0], "v": [1]}]}', '{"states": [{"q": [1e400, 0]}]}',
          '{"states": [{"q": [0, 0]}], "frames": ["x"]}',
          '{"states": [{"q": [0, 0], "fext": {"frame": "x", "f_local": [1]}}]}',
          '{"states": [{"q": [0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}]}', '{"states": [{"q": [9], "v": [1]}]}']

LOGS = {"empty.csv": "", "word.csv": "a\n", "rows.csv": "t,state.q.a\n0,1\n0,x\n", "back.csv": "t,state.q.a\n1,1\n0,1\n",
        "state.csv": "t,imu.accelerometer.x\n0,1\n0.1,2\n", "bad.mcap": "\x89MCAP0\r\n", "log.txt": "t\n"}
VALUES = ["nothing", "", "-", "a,b", "/nothing/there.html"]


def options_of(verb):
    """Long names of the options that take a value."""
    return re.findall(r"^  (?:-\w,)?(?:--\w[\w-]*,)*(--[a-z][\w-]*) [A-Zga]", run(verb, "--help").stdout, re.MULTILINE)


class MessagesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "folder").mkdir()
        for name, text in {**ROBOTS, **LOGS}.items():
            (self.folder / name).write_text(text)
        self.messages = 0

    def check(self, *arguments):
        """A run with a wrong input: every line that it writes is free of internal names."""
        result = run(*arguments, cwd=self.folder)
        self.assertIn(result.returncode, (0, 1, 2), f"{arguments}: {result.stderr[-500:]}")
        lines = result.stderr.splitlines()
        if arguments[0] == "check":  # its findings
            lines += [line for line in result.stdout.splitlines() if not line.startswith("    ")]
        for line in lines:
            self.messages += line.startswith("limb ")
            self.assertIsNone(internal_name(line), f"{' '.join(map(str, arguments))}\n{line}")

    def test_names_are_recognised(self):
        for text, name in (("limb simulate: builtin:quadruped: make_controller: kp is -1", "make_controller"),
                           ("limb eval: a.json: states[0]: Model::integrate: q has 1 entry", "Model::integrate"),
                           ("limb plot: without the motion: load: a.urdf: no such file", "load"),
                           ("limb simulate: s.toml: WallLaw: normal is 0", "WallLaw"),
                           ("limb simulate: simulate: after t = 0 s", "simulate")):
            self.assertEqual(internal_name(text), name)
        for text in ("limb info: my_robot.urdf:3: link 'base_link': mass is 0", "limb simulate: rk4: after t = 1 s",
                     "limb info: builtin:2r: no such file", "limb info: r.toml:3: link 'a': inertia_entries: xx is 0"):
            self.assertIsNone(internal_name(text), text)

    def test_robots_that_cannot_be_used(self):
        verbs = {"info": [], "check": [], "eval": ["--input", "none.json"], "prove": ["-n", 1], "derive": [], "compile": [],
                 "bench": ["-n", 1, "--time", 0.001], "simulate": ["--duration", 0.002]}
        for verb, more in verbs.items():
            for robot in [*ROBOTS, *MISSING]:
                self.check(verb, robot, *more)
        for robot in [*ROBOTS, *MISSING, "builtin:arm7"]:
            self.check("demo", "--model", robot, "--duration", 0.1, "-o", "x.html")
            self.check("plot", "rows.csv", "--model", robot, "-o", "x.svg")
            self.check("estimate", "state.csv", "--model", robot, "--feet", "a")
        self.assertGreater(self.messages, 150)

    def test_broken_robots(self):
        for path in sorted(BROKEN.iterdir()):
            if path.suffix in (".urdf", ".xml", ".toml"):
                self.check("check", path)
                self.check("info", path)
        self.assertGreater(self.messages, 50)

    def test_options(self):
        positions = {"plot": ["rows.csv", "-o", "x.svg"], "estimate": ["state.csv"], "demo": ["planar"]}
        for verb in ("info", "check", "eval", "prove", "derive", "compile", "bench", "simulate", "plot", "estimate", "demo"):
            for option in options_of(verb):
                for value in VALUES:
                    self.check(verb, *positions.get(verb, ["builtin:2r"]), f"{option}={value}")
        self.assertGreater(self.messages, 300)

    def test_scenarios(self):
        for text in SCENARIOS:
            (self.folder / "s.toml").write_text(text)
            self.check("simulate", "s.toml", "--duration", 0.002)
        self.check("simulate", "builtin:quadruped", "--controller", "lqr")
        self.check("simulate", "builtin:quadruped", "--controller", "pd", "--base", "free", "--duration", 0.002)
        self.assertGreater(self.messages, 150)

    def test_states(self):
        for text in STATES:
            (self.folder / "s.json").write_text(text)
            for robot in ("builtin:2r", "builtin:quadruped", "massless.urdf", "helical.toml", "planar.urdf"):
                for convention in ("limb", "pinocchio", "mujoco", "drake"):
                    self.check("eval", robot, "--input", "s.json", "--convention", convention)
        self.assertGreater(self.messages, 100)

    def test_logs(self):
        for log in [*LOGS, *MISSING]:
            self.check("plot", log, "-o", "x.svg")
            self.check("estimate", log, "--model", "builtin:quadruped", "--feet", "FL_foot")
        self.assertGreater(self.messages, 20)

    def test_functions_and_formats(self):
        for verb in ("compile", "bench"):
            for function in ("nothing", "jacobian", "rnea,nothing", "constrained_dynamics"):
                self.check(verb, "builtin:2r", "--functions", function, *["--time", 0.001] * (verb == "bench"))
        self.check("compile", "builtin:2r", "--target", "c", "-o", "folder", "--prefix", "1 2")
        for more in (["--max-terms", 1], ["--only", "nothing"], ["--frames", "nothing"], ["--format", "nothing"],
                     ["--only", "Lambda", "--frames", "link1"]):
            self.check("derive", "builtin:2r", *more)
        self.check("derive", "builtin:arm7", "--max-terms", 10)
        self.check("derive", "builtin:quadruped")
        self.check("demo", "--feet", "a,b,c,d")
        self.check("demo", "--posture", "FL_knee=9")
        self.assertGreater(self.messages, 10)


if __name__ == "__main__":
    LIMB = str(Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=1)
