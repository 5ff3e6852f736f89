#!/usr/bin/env python3
"""check_modules.py must find each kind of violation, and nothing else."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from check_modules import check, read_dependencies

MODULES = {"base": "", "math": "base", "model": "math", "dynamics": "model", "symbolic": "dynamics",
           "codegen": "dynamics", "control": "dynamics", "sim": "codegen control"}
TOOL = Path(__file__).resolve().parent / "check_modules.py"


class CheckModules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for module, used in MODULES.items():
            self.write(f"limb/{module}/CMakeLists.txt",
                       f"limb_module({module}\n  DEPENDS {used}\n  SOURCES a.cpp)\n")

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

    def test_downward_includes_pass_also_over_several_modules(self):
        self.include("limb/base/error.hpp")
        self.include("limb/math/so3.hpp", "limb/base/error.hpp", "Eigen/Core")
        self.include("limb/control/qp/qp.hpp", "limb/math/so3.hpp", "limb/dynamics/recursive/rnea.hpp")
        self.assert_clean()

    def test_upward_include_fails_with_file_and_line(self):
        self.include("limb/math/so3.cpp", "limb/base/error.hpp", "limb/model/core/model.hpp")
        self.assert_one("limb/math/so3.cpp:3:", "module 'math' may not include limb/model/core/model.hpp",
                        "it may use: base")

    def test_angle_brackets_and_spaces_do_not_hide_an_include(self):
        self.write("limb/base/a.hpp", "  #  include <limb/math/so3.hpp>\n")
        self.assert_one("limb/base/a.hpp:1:", "no module")

    def test_relative_path_does_not_hide_an_include(self):
        self.include("limb/model/core/model.hpp")
        self.include("limb/math/so3.hpp", "../model/core/model.hpp")
        self.assert_one("module 'math' may not include limb/model/core/model.hpp")

    def test_control_may_not_include_sim(self):
        self.include("limb/control/pd.cpp", "limb/sim/world/world.hpp")
        self.assert_one("module 'control'")

    def test_every_pair_of_modules_is_one_way(self):
        for a in MODULES:
            for b in MODULES:
                if a != b:
                    self.include(f"limb/{a}/to_{b}.hpp", f"limb/{b}/x.hpp")
        wrong = {error.split(":")[0] for error in check(self.root)}
        for a in MODULES:
            for b in MODULES:
                if a != b:
                    self.assertTrue({f"limb/{a}/to_{b}.hpp", f"limb/{b}/to_{a}.hpp"} & wrong, (a, b))

    def test_only_listed_modules_include_internal_headers(self):
        self.include("limb/dynamics/recursive/rnea.cpp", "limb/dynamics/recursive/rnea_impl.hpp")
        self.include("limb/symbolic/trace.cpp", "limb/dynamics/recursive/rnea_impl.hpp")
        self.assert_clean()
        self.include("limb/sim/world/world.cpp", "limb/dynamics/recursive/rnea_impl.hpp")
        self.assert_one("limb/sim/world/world.cpp:2:", "internal to module 'dynamics'")

    def test_interfaces_may_include_every_module_but_modules_no_interface(self):
        for interface in ("cli", "python", "web", "bench", "tests"):
            self.include(f"{interface}/main.cpp", "limb/sim/world/world.hpp", "limb/dynamics/recursive/rnea_impl.hpp")
        self.assert_clean()
        self.include("limb/base/error.cpp", "cli/main.hpp")
        self.assert_one("modules do not use the interfaces")

    def test_folder_without_module_fails(self):
        self.include("limb/misc/x.hpp", "limb/base/error.hpp")
        self.assert_one("module 'misc' has no limb_module()")

    def test_include_cycle_fails_and_is_listed(self):
        self.include("limb/math/a.hpp", "limb/math/b.hpp")
        self.include("limb/math/b.hpp", "c.hpp")
        self.include("limb/math/c.hpp", "limb/math/a.hpp")
        self.assert_one("limb/math/a.hpp:2: include cycle: limb/math/a.hpp -> limb/math/b.hpp"
                        " -> limb/math/c.hpp -> limb/math/a.hpp")

    def test_file_that_includes_itself_fails(self):
        self.include("limb/math/a.hpp", "limb/math/a.hpp")
        self.assert_one("include cycle")

    def test_diamond_is_not_a_cycle(self):
        self.include("limb/math/a.hpp", "limb/math/b.hpp", "limb/math/c.hpp")
        self.include("limb/math/b.hpp", "limb/math/d.hpp")
        self.include("limb/math/c.hpp", "limb/math/d.hpp")
        self.include("limb/math/d.hpp")
        self.assert_clean()

    def test_dependencies_come_from_cmake(self):
        self.write("limb/math/CMakeLists.txt", "limb_module(math  # DEPENDS no\n  USES Eigen3::Eigen\n"
                   "  DEPENDS base model\n  TESTS b.cpp)\n")
        self.assertEqual(read_dependencies(self.root)["math"], ("base", "model"))

    def test_modules_that_depend_on_each_other_fail(self):
        self.write("limb/base/CMakeLists.txt", "limb_module(base DEPENDS math)\n")
        self.assert_one("modules depend on each other: base -> math -> base")

    def test_dependency_that_does_not_exist_fails(self):
        self.write("limb/base/CMakeLists.txt", "limb_module(base DEPENDS bsae)\n")
        self.assert_one("limb/base/CMakeLists.txt:1:", "'bsae'")

    def test_files_that_git_ignores_do_not_count(self):
        self.include("limb/math/a.hpp", "limb/math/a.hpp")
        self.assert_one("limb/math/a.hpp")
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.write(".gitignore", "/limb/math/a.hpp\n")
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
