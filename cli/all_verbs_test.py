"""Every verb with --help, --json, a wrong value of each option, and a missing file: python3 cli/all_verbs_test.py build/limb

The form is the same everywhere: usage and options in the help, one JSON object on stdout, one line on stderr that starts
with `limb VERB:` and names what was found and what is expected, and the exit status 0 or 1.
"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LIMB = "limb"
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import verb_pages  # noqa: E402

# A call of each verb that succeeds quickly; LOG is a log of the verb simulate.
CALLS = {
    "info": ["builtin:2r"],
    "check": ["builtin:2r"],
    "list": [],
    "eval": ["builtin:2r", "--input", "STATES"],
    "prove": ["builtin:2r", "-n", "2"],
    "derive": ["builtin:2r"],
    "draw": ["builtin:2r"],
    "compile": ["builtin:2r"],
    "bench": ["builtin:2r", "-n", "1", "--time", "0.001"],
    "simulate": ["builtin:2r", "--duration", "0.01"],
    "plot": ["LOG", "-o", "OUT.svg"],
    "estimate": ["WALK", "--model", "builtin:quadruped", "--feet", "FL_foot,FR_foot,RL_foot,RR_foot"],
    "demo": ["planar"],
}
# The argument that is a file; none for verbs that read none.
FILES = {"eval": 2, "plot": 0, "estimate": 0, "list": None, "demo": None}

# Options that must be given: the usage line has them.
REQUIRED = {"plot": ["-o FILE"], "estimate": ["--feet A,B,..."]}

# One meaning and one spelling for all verbs: option -> placeholder of its value ("" for a flag).
SPELLINGS = {"--json": "", "--output": ("FILE", "FOLDER"), "--duration": "S", "--dt": "S", "--base": "KIND",
             "--root": "FOLDER", "--only": "A,B,...", "--frames": "A,B,...", "--functions": "A,B,...",
             "--feet": "A,B,...", "--seed": "N", "--threads": "N", "--model": "MODEL", "--verbose": "",
             "--missing-meshes": "KIND", "--unsupported": "KIND"}
# Former or foreign spellings that no verb may have.
RETIRED = {"--frame", "--function", "--foot", "--time-step", "--end", "--seconds", "--out", "--format-json", "--robot",
           "--roots", "--threads-count", "--random-seed", "--floating"}


def run(*arguments, **options):
    return subprocess.run([LIMB, *map(str, arguments)], capture_output=True, text=True, timeout=600, **options)


def verbs():
    """Names of the verbs of `limb help`, without those of the group Help."""
    text = run("help").stdout
    groups = text[:text.index("\nHelp\n")].split("\n\n")[2:]
    return [line.split()[0] for group in groups for line in group.splitlines()[1:]]


def options_of(verb):
    """long name -> placeholder of the value, or "" for a flag; from the manual page."""
    page = run("man", verb).stdout.replace("\\-", "-")
    page = page[page.index("\n.SH OPTIONS\n"):page.index("\n.SH EXAMPLES\n")]
    found = {}
    for line in page.splitlines():
        if not line.startswith("\\fB-"):
            continue
        names = re.findall(r"\\fB(-[^\\]+)\\fR", line)
        value = re.search(r"\\fI([^\\]+)\\fR", line)
        found[names[-1]] = value[1] if value else ""
    return found


class AllVerbsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        folder = Path(cls.folder.name)
        (folder / "states.json").write_text('{"states": [{"q": [0.1, 0.2]}]}')
        done = run("simulate", "builtin:2r", "--duration", "0.1", "-o", folder / "run.mcap")
        assert done.returncode == 0, done.stderr
        cls.replaced = {"STATES": folder / "states.json", "LOG": folder / "run.mcap", "OUT.svg": folder / "out.svg",
                        "WALK": folder / "walk.mcap"}
        walk = [str(cls.replaced.get(word, word)) for word in CALLS["estimate"]]
        done = run("estimate", *walk, "--make-walk", "3")
        assert done.returncode == 0, done.stderr
        cls.verbs = verbs()

    def call(self, verb):
        return [str(self.replaced.get(word, word)) for word in CALLS[verb]]

    def error(self, verb, *arguments):
        """The message of a call that fails."""
        result = run(verb, *arguments, cwd=self.folder.name)
        where = f"limb {verb} {' '.join(map(str, arguments))}"
        self.assertEqual(result.returncode, 1, f"{where}: {result.stderr}")
        self.assertEqual(result.stdout, "", where)
        lines = [line for line in result.stderr.splitlines() if not re.search(r": (warning|note): ", line)]
        self.assertEqual(len(lines), 1, f"{where}: {result.stderr}")
        self.assertTrue(lines[0].startswith(f"limb {verb}: "), f"{where}: {lines[0]}")
        return lines[0]

    def test_every_verb_has_a_call_here(self):
        self.assertEqual(set(self.verbs), set(CALLS))

    def test_help(self):
        for verb in self.verbs:
            with self.subTest(verb):
                result = run(verb, "--help")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertEqual(run("help", verb).stdout, result.stdout)
                self.assertEqual(run(verb, "-h").stdout, result.stdout)
                lines = result.stdout.splitlines()
                self.assertIn(f"  {verb}", run("help").stdout)
                self.assertTrue(lines[2].startswith(f"Usage: limb {verb}"), lines[2])
                self.assertTrue(lines[4].startswith(f"  limb {verb}"), lines[4])  # an example
                self.assertNotIn(" TEXT ", result.stdout)  # names of types are those of the library of options
                for option in REQUIRED.get(verb, ()):
                    self.assertIn(f" {option}", lines[2])
                self.assertLessEqual(max(map(len, lines)), 100)
                self.assertIn("Exit: 0 ok, 1 bad input, 2 computation failed.", result.stdout)
                for option in options_of(verb):
                    self.assertIn(option, result.stdout)

    def test_one_spelling(self):
        for verb in self.verbs:
            options = options_of(verb)
            with self.subTest(verb):
                self.assertFalse(RETIRED & set(options))
                for option, value in options.items():
                    self.assertRegex(option, r"^--[a-z][a-z0-9-]*$")
                    expected = SPELLINGS.get(option)
                    if expected is not None:
                        self.assertIn(value, expected if isinstance(expected, tuple) else (expected,), option)
                self.assertIn("--json", options)

    def test_json(self):
        for verb in self.verbs:
            with self.subTest(verb):
                result = run(verb, *self.call(verb), "--json")
                self.assertEqual(result.returncode, 0, result.stderr)
                value = json.loads(result.stdout)  # nothing else is on stdout
                self.assertIsInstance(value, dict)
                for key in value:
                    self.assertRegex(key, r"^[A-Za-z][A-Za-z0-9_]*$", f"{verb}: {key}")
                # Indented by two, as all others.
                self.assertEqual(result.stdout.splitlines()[0], "{")
                self.assertRegex(result.stdout.splitlines()[1], r'^  "')
                self.assertNotIn("NaN", result.stdout)

    def test_wrong_values(self):
        """Every option that takes a number, a name of a list, or a whole number refuses a word."""
        checked = 0
        for verb in self.verbs:
            for option, value in options_of(verb).items():
                # Files, folders, names of frames and similar have messages of their own (messages_test.py).
                if value not in ("N", "S", "M", "HZ", "KIND", "DEG", "M/S", "P", "RAD", "KG", "N S", "RAD/S"):
                    continue
                with self.subTest(verb=verb, option=option):
                    call = self.call(verb)
                    for name in (option, {"--states": "-n"}.get(option)):
                        if name in call:
                            del call[call.index(name):call.index(name) + 2]
                    message = self.error(verb, *call, option, "x")
                    self.assertRegex(message, rf"^limb {verb}: {option} is 'x', expected (a number|a whole number|one of) ?",
                                     message)
                    checked += 1
        self.assertGreater(checked, 60)

    def test_options_with_choices_are_of_one_kind(self):
        """An option whose value is one of several words shows KIND, and its description names the words."""
        for verb in self.verbs:
            page = run("man", verb).stdout.replace("\\-", "-")
            for option, value in options_of(verb).items():
                if value != "KIND":
                    continue
                with self.subTest(verb=verb, option=option):
                    message = self.error(verb, *self.call(verb), option, "x")
                    words = message[message.index("expected one of ") + 16:].split(", ")
                    text = page[page.index(f"\\fB{option}\\fR"):]
                    text = " ".join(text[:text.index("\n.")].split()) + run(verb, "--help").stdout
                    for word in words:
                        self.assertIn(word, text)

    def test_missing_and_repeated_values(self):
        for verb in self.verbs:
            with self.subTest(verb):
                self.assertEqual(self.error(verb, *self.call(verb), "--nothing"),
                                 f"limb {verb}: unknown argument '--nothing' (see: limb {verb} --help)")
                option = next((o for o, v in options_of(verb).items() if v in ("N", "S", "KIND") and o != "--states"),
                              None)
                if option:
                    self.assertEqual(self.error(verb, *self.call(verb), option),
                                     f"limb {verb}: {option} needs a value (see: limb {verb} --help)")

    def test_missing_files(self):
        for verb in self.verbs:
            place = FILES.get(verb, 0)
            if place is None:
                continue
            with self.subTest(verb):
                call = self.call(verb)
                suffix = Path(call[place]).suffix or ".urdf"
                call[place] = "absent" + (suffix if suffix in (".mcap", ".json", ".urdf") else ".urdf")
                message = self.error(verb, *call)
                self.assertIn(call[place], message)
                self.assertRegex(message, r"(?i)no such file|does not exist|cannot be read|not found")
        message = self.error("demo", "--model", "absent.urdf", "-o", "x.html")
        self.assertIn("absent.urdf", message)

    def test_pages_of_the_documentation_are_up_to_date(self):
        texts = verb_pages.pages(LIMB)
        folder = ROOT / "docs/cli"
        self.assertEqual({path.name for path in folder.iterdir()}, set(texts))
        self.assertEqual({Path(name).stem for name in texts} - {"index"}, set(self.verbs))
        for name, text in texts.items():
            self.assertEqual((folder / name).read_text(), text, f"run: python3 tools/verb_pages.py {LIMB}")
            for option in options_of(Path(name).stem) if name != "index.md" else ():
                self.assertIn(f"`{option}`", text)

    def test_arguments_that_are_required(self):
        for verb in self.verbs:
            usage = run(verb, "--help").stdout.splitlines()[2]
            if re.search(rf"limb {verb} [A-Z]+", usage):
                with self.subTest(verb):
                    self.assertIn("is required", self.error(verb))


if __name__ == "__main__":
    LIMB = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
