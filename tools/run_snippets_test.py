#!/usr/bin/env python3
"""run_snippets.py must find documents whose output is wrong, and name the place."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parent / "run_snippets.py"
FAKE_CLI = '#!/bin/sh\necho "limb $*"\n'
# In place of the package of a build tree.
FAKE_PACKAGE = "add_library(limb::limb INTERFACE IMPORTED)\n"


def fenced(language, *lines):
    return "\n".join([f"```{language}", *lines, "```", ""])


class RunSnippets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.write("run", "verb_test() { :; }\nverb_help() { :; }\n")
        self.write("other/limb", FAKE_CLI).chmod(0o755)
        self.write("other/limbConfig.cmake", FAKE_PACKAGE)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        return path

    def run_on(self, *readme):
        self.write("README.md", "\n".join(readme))
        return subprocess.run([sys.executable, "-B", TOOL, "--root", self.root,
                               "--build", self.root / "other"], capture_output=True, text=True,
                              env={**os.environ, "LIMB_SKIPS": str(self.root / "skips.txt")})

    def skipped(self):
        return (self.root / "skips.txt").read_text()

    def assert_passes(self, *readme):
        done = self.run_on(*readme)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_fails(self, expected, *readme):
        done = self.run_on(*readme)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(expected, done.stderr)
        return done.stderr

    def test_right_output_passes(self):
        self.assert_passes(fenced("sh", "# a comment", "limb info", "echo a \\", "  b"), "",
                           fenced("text", "limb info", "a b"))

    def test_wrong_output_fails_with_place_and_difference(self):
        text = self.assert_fails("README.md:6: the block above prints something else",
                                 fenced("sh", "limb info"), fenced("text", "limb inf"))
        self.assertIn("-limb inf\n+limb info", text)

    def test_only_a_build_without_the_solver_may_leave_out_what_needs_it(self):
        readme = [fenced("sh", "echo 'Qp: limb was built without a solver of quadratic programs' >&2; exit 1"),
                  fenced("text", "solved"), fenced("sh", "limb info"), fenced("text", "limb info")]
        self.write("other/compile_commands.json", '[{"file": "limb/control/qp/qp_proxqp.cpp"}]')
        self.assert_fails("README.md:2: exit status 1", *readme)
        self.write("other/compile_commands.json", '[{"file": "limb/control/qp/qp_none.cpp"}]')
        self.assertIn("README.md:2: not executed: limb was built without a solver", self.assert_passes(*readme))
        self.assertEqual(self.skipped(), "README.md:2\tlimb was built without a solver of quadratic programs\n")
        self.assert_fails("README.md:14: the block above", *readme[:3], fenced("text", "limb inf"))
        self.assert_fails("README.md:2: exit status 1", fenced("sh", "exit 1"))

    def test_a_recipe_is_checked_and_errors_name_the_line_of_the_document(self):
        self.write("other/limb", '#!/bin/sh\ngrep -n wrong "$2" && exit 1\nexit 0\n').chmod(0o755)
        self.assert_passes(fenced("toml", 'name = "fine"'))
        text = self.assert_fails("README.md:2: exit status 1",
                                 fenced("toml", 'name = "fine"', "wrong"))
        self.assertIn("3:wrong", text)

    def test_missing_and_added_lines_fail(self):
        self.assert_fails("prints something else", fenced("sh", "limb a"), fenced("text"))
        self.assert_fails("prints something else", fenced("sh", "true"), fenced("text", "limb a"))

    def test_text_after_prose_is_not_compared(self):
        self.assert_passes(fenced("sh", "limb info"), "Some words.", fenced("text", "anything"))

    def test_failing_command_fails_with_its_own_line(self):
        self.assert_fails("README.md:3: exit status 1", fenced("sh", "true", "false", "true"))

    def test_failure_inside_a_pipe_fails(self):
        self.assert_fails("README.md:2: exit status 1", fenced("sh", "false | cat"))

    def test_build_path_means_the_build_under_test(self):
        self.assert_passes(fenced("sh", "build/limb info", "./build/limb x | cat"),
                           fenced("text", "limb info", "limb x"))

    def test_run_lines_are_checked_not_executed(self):
        self.assert_passes(fenced("sh", "./run test -R math", "./run --help"))
        self.assert_fails("README.md:2: ./run has no verb 'tset'", fenced("sh", "./run tset"))
        self.assert_fails("cannot be checked", fenced("sh", "./run test"), fenced("text", "x"))
        self.assert_fails("must be the only command of its line", fenced("sh", "true && ./run test"))

    def test_temporary_files_have_a_folder_per_run(self):
        self.assert_passes(fenced("sh", "echo a > /tmp/limb_snippet; readlink -f /tmp/limb_snippet"),
                           fenced("text", "/tmp/limb_snippet"))
        self.assertFalse(Path("/tmp/limb_snippet").exists())

    def test_bare_run_prints_the_demo(self):
        self.assert_passes(fenced("sh", "./run"), fenced("text", "limb demo"))

    def test_commands_that_change_the_machine_are_refused(self):
        self.assert_fails("'sudo' is not run here", fenced("sh", "true && sudo true"))

    def test_other_languages_are_listed_and_shell_in_disguise_fails(self):
        listing = self.assert_passes(fenced("sh", "true"), fenced("lua", "1 / 0"))
        self.assertIn("README.md:5: not executed: lua", listing)
        self.assert_fails("README.md:5: write sh, not bash", fenced("sh", "true"), fenced("bash", "x"))

    def test_unclosed_fence_fails(self):
        self.assert_fails("README.md:2: this fence is never closed", "words", "```sh", "true")

    def test_nothing_to_execute_fails(self):
        self.assert_fails("no sh, cpp, toml or python block", "only words")

    def test_indented_block_and_file_under_docs(self):
        self.write("docs/a.md", "- item\n\n  ```sh\n  false\n  ```\n")
        self.assert_fails("docs/a.md:4: exit status 1", fenced("sh", "true"))

    def test_cpp_program_is_compiled_run_and_compared(self):
        program = fenced("cpp", "#include <cstdio>", 'int main() { std::puts("42"); }')
        self.assert_passes(program, fenced("text", "42"))
        self.assert_fails("README.md:7: the block above", program, fenced("text", "43"))
        self.assert_fails("README.md:2: exit status 3", fenced("cpp", "int main() { return 3; }"))

    def test_python_blocks_of_a_document_are_one_session(self):
        self.write("other/python/limb/__init__.py", "")
        first, second = fenced("python", "x = 6"), fenced("python", "import limb", "print(7 * x)")
        self.assert_passes(first, "Words.", second, fenced("text", "42"))
        self.assert_fails("README.md:13: the block above", first, "", second, "", fenced("text", "43"))
        text = self.assert_fails("README.md:2: ", fenced("python", "x = 1", "x / 0"))
        self.assertIn('"README.md", line 3', text)

    def test_python_without_a_package_is_listed(self):
        self.assertIn("0 blocks executed, 1 skipped", self.assert_passes(fenced("python", "1 / 0")))
        self.assertEqual(self.skipped(), "README.md:2\tthe Python package is not built\n")

    def test_cpp_error_names_the_line_of_the_document(self):
        self.assert_fails("README.md:3:14: error", fenced("cpp", "// a line", "int main() { wrong; }"))


if __name__ == "__main__":
    unittest.main()
