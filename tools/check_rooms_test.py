#!/usr/bin/env python3
"""check_rooms.py must catch each kind of violation, and nothing else."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from check_rooms import ARROWS, check

TOOL = Path(__file__).resolve().parent / "check_rooms.py"


class CheckRooms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def include(self, name, *targets):
        self.write(name, "#pragma once\n" + "".join(f'#include "{t}"\n' for t in targets))

    def assert_one(self, *expected_parts):
        errors = check(self.root)
        self.assertEqual(len(errors), 1, errors)
        for part in expected_parts:
            self.assertIn(part, errors[0])

    def assert_clean(self):
        self.assertEqual(check(self.root), [])

    def test_downward_includes_pass_also_over_several_rooms(self):
        self.include("limb/base/error.hpp")
        self.include("limb/math/so3.hpp", "limb/base/error.hpp", "Eigen/Core")
        self.include("limb/control/qp.hpp", "limb/math/so3.hpp", "limb/dynamics/rnea.hpp")
        self.assert_clean()

    def test_upward_include_fails_with_file_and_line(self):
        self.include("limb/math/so3.cpp", "limb/base/error.hpp", "limb/model/model.hpp")
        self.assert_one("limb/math/so3.cpp:3:", "room 'math' may not include limb/model/model.hpp",
                        "it may use: base")

    def test_angle_brackets_and_spaces_do_not_hide_an_include(self):
        self.write("limb/base/a.hpp", "  #  include <limb/math/so3.hpp>\n")
        self.assert_one("limb/base/a.hpp:1:", "no room")

    def test_relative_path_does_not_hide_an_include(self):
        self.include("limb/model/model.hpp")
        self.include("limb/math/so3.hpp", "../model/model.hpp")
        self.assert_one("room 'math' may not include limb/model/model.hpp")

    def test_control_may_not_see_sim(self):
        self.include("limb/control/pd.cpp", "limb/sim/world.hpp")
        self.assert_one("room 'control'")

    def test_every_pair_of_rooms_is_one_way(self):
        for a in ARROWS:
            for b in ARROWS:
                if a != b:
                    self.include(f"limb/{a}/to_{b}.hpp", f"limb/{b}/x.hpp")
        wrong = {error.split(":")[0] for error in check(self.root)}
        for a in ARROWS:
            for b in ARROWS:
                if a != b:
                    self.assertTrue({f"limb/{a}/to_{b}.hpp", f"limb/{b}/to_{a}.hpp"} & wrong, (a, b))

    def test_only_symbolic_reads_the_insides_of_dynamics(self):
        self.include("limb/dynamics/rnea.cpp", "limb/dynamics/rnea_impl.hpp")
        self.include("limb/symbolic/trace.cpp", "limb/dynamics/rnea_impl.hpp")
        self.assert_clean()
        self.include("limb/sim/world.cpp", "limb/dynamics/rnea_impl.hpp")
        self.assert_one("limb/sim/world.cpp:2:", "internal to room 'dynamics'")

    def test_doors_may_include_everything_but_rooms_no_door(self):
        for door in ("cli", "python", "web", "bench", "tests"):
            self.include(f"{door}/main.cpp", "limb/sim/world.hpp", "limb/dynamics/rnea_impl.hpp")
        self.assert_clean()
        self.include("limb/base/error.cpp", "cli/main.hpp")
        self.assert_one("rooms do not know the doors")

    def test_unknown_room_fails(self):
        self.include("limb/misc/x.hpp", "limb/base/error.hpp")
        self.assert_one("room 'misc' is unknown")

    def test_include_cycle_fails_and_is_spelled_out(self):
        self.include("limb/math/a.hpp", "limb/math/b.hpp")
        self.include("limb/math/b.hpp", "c.hpp")
        self.include("limb/math/c.hpp", "limb/math/a.hpp")
        self.assert_one("limb/math/a.hpp:2: include cycle: limb/math/a.hpp -> limb/math/b.hpp"
                        " -> limb/math/c.hpp -> limb/math/a.hpp")

    def test_file_that_includes_itself_fails(self):
        self.include("limb/math/a.hpp", "limb/math/a.hpp")
        self.assert_one("include cycle")

    def test_diamond_is_no_cycle(self):
        self.include("limb/math/a.hpp", "limb/math/b.hpp", "limb/math/c.hpp")
        self.include("limb/math/b.hpp", "limb/math/d.hpp")
        self.include("limb/math/c.hpp", "limb/math/d.hpp")
        self.include("limb/math/d.hpp")
        self.assert_clean()

    def test_400_lines_pass_and_401_fail_for_every_kind_of_source(self):
        names = ["a.cpp", "a.hpp", "a.cu", "a.py", "a.ts", "a.cmake", "run"]
        for name in names:
            self.write(name, "\n" * 400)
        self.assert_clean()
        for name in names:
            self.write(name, "\n" * 401)
        self.assertEqual(sorted(error.split(":")[0] for error in check(self.root)), sorted(names))

    def test_listed_long_file_passes(self):
        self.write("a.cpp", "\n" * 500)
        self.write("tools/long_files.txt", "# comment\na.cpp a table of constants\n")
        self.assert_clean()

    def test_listed_file_needs_a_reason(self):
        self.write("a.cpp", "\n" * 500)
        self.write("tools/long_files.txt", "a.cpp\n")
        self.assert_one("tools/long_files.txt:1: a.cpp has no reason")

    def test_stale_entries_fail(self):
        self.write("short.cpp", "\n")
        for name in ("short.cpp", "gone.cpp"):
            self.write("tools/long_files.txt", f"{name} was long once\n")
            self.assert_one(f"tools/long_files.txt:1: {name}", "remove the entry")

    def test_files_that_git_ignores_do_not_count(self):
        self.write("generated/a.cpp", "\n" * 500)
        self.assert_one("generated/a.cpp")
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.write(".gitignore", "/generated/\n")
        self.assert_clean()

    def test_exit_status(self):
        self.include("limb/base/a.hpp")
        self.assertEqual(self.status(), 0)
        self.include("limb/base/a.hpp", "limb/math/so3.hpp")
        self.assertEqual(self.status(), 1)

    def status(self):
        return subprocess.run([sys.executable, "-B", TOOL, self.root], capture_output=True).returncode


if __name__ == "__main__":
    unittest.main()
