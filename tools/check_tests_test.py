#!/usr/bin/env python3
"""check_tests.py must find each way in which a test drops NaN, and nothing else."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from check_tests import check, check_cpp, check_python, is_test

TOOL = Path(__file__).resolve().parent / "check_tests.py"

CPP_FINDINGS = [
    "worst = std::max(worst, error);",
    "worst = std::max(error, worst);",
    "worst =\n    std::max(worst, (a - b).norm());",
    "worst = std::max({worst, a, b});",
    "worst_[field] = std::max(worst_[field], error);",
    "result.mpc.primal = std::max(result.mpc.primal, r.primal);",
    "worst = std::fmax(worst, error);",
    "lowest = std::min(lowest, z);",
    "return std::max({mass, first, tensor});",
    "return std::max(first, second);",
    "tilt = std::acos(std::min(1.0, R(2, 2)));",
    "EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-9);",
    "EXPECT_GT(values.minCoeff(), 0);",
    "EXPECT_LT(v.lpNorm<Eigen::Infinity>(), 1e-9);",
    "EXPECT_LT(*std::max_element(errors.begin(), errors.end()), 1e-9);",
    "if (error > worst) worst = error;",
    "if (error > worst) {\n  worst = error;\n}",
    "EXPECT_FALSE(error > 1e-9);",
    "ASSERT_FALSE(std::abs(a - b) >= 1e-9) << name;",
    "EXPECT_TRUE(!(error > 1e-9));",
]
CPP_ACCEPTED = [
    "worst.add(error);",
    "size = worse(size, other);",
    "const double scale = std::max(1.0, expected.norm());",
    "EXPECT_LT(half, std::max(whole / 3, 1e-4));",
    "const double speed = std::max(v.norm(), slip_speed);",
    "most = std::max<int>(most, count);",
    "const auto largest = std::numeric_limits<double>::max();",
    "c = std::acos(std::min(R(2, 2), 1.0));",
    "x.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();",
    "EXPECT_LT(max_abs(a - b), 1e-9);",
    "std::max_element(a.begin(), a.end(), [](const auto& x, const auto& y) { return x.n < y.n; });",
    "if (count > most) {\n  most = count;\n  best = i;\n}",
    "EXPECT_FALSE(is_rotation<double>(R));",
    "EXPECT_TRUE(error < 1e-9);",
    "// worst = std::max(worst, error);",
    'run("worst = std::max(worst, error);");',
    "/* x.maxCoeff() */",
]
PYTHON_FINDINGS = [
    "worst = max(worst, error)",
    "worst[name] = max(worst.get(name, 0), error(a, b))",
    "assert max(errors) < 1e-9",
    "assert max(abs(x) for x in errors) < 1e-9",
    "assert min(map(abs, values)) > 0",
    "assert np.nanmax(errors) < 1e-9",
    "worst = np.fmax(worst, error)",
    "assert not error > 1e-9",
    "assert not (error > 1e-9).any()",
    "self.assertFalse(error > 1e-9)",
    "np.testing.assert_allclose(a, b, atol=1e-9)",
    "np.testing.assert_array_equal(a, b)",
]
PYTHON_ACCEPTED = [
    "worst = np.maximum(worst, error)",
    "assert np.abs(a - b).max() < 1e-9",
    "assert all(error < 1e-9 for error in errors)",
    "scale = max(1.0, np.linalg.norm(expected))",
    "size = max(1, *map(abs, expected))",
    "assert max(map(len, lines)) <= 100",
    "assert max(len(line) for line in lines) <= 100",
    "assert not tau.any()",
    "assert not np.allclose(a, b)",
    "self.assertFalse(path.exists())",
    "np.testing.assert_allclose(a, b, atol=1e-9, equal_nan=False)",
    "assert np.array_equal(a, b)",
    "# worst = max(worst, error)",
]


class CheckTests(unittest.TestCase):
    def test_each_way_in_cpp_is_found_once(self):
        for text in CPP_FINDINGS:
            self.assertEqual(len(check_cpp(text)), 1, text)

    def test_what_keeps_nan_in_cpp_passes(self):
        for text in CPP_ACCEPTED:
            self.assertEqual(check_cpp(text), [], text)

    def test_each_way_in_python_is_found_once(self):
        for text in PYTHON_FINDINGS:
            self.assertEqual(len(check_python(text)), 1, text)

    def test_what_keeps_nan_in_python_passes(self):
        for text in PYTHON_ACCEPTED:
            self.assertEqual(check_python(text), [], text)

    def test_line_numbers_count_also_comments_and_raw_strings(self):
        text = '// one\n/* two\nthree */\nconst char* x = R"(five\nsix)";\nworst = std::max(worst, error);\n'
        self.assertEqual([number for number, _ in check_cpp(text)], [6])
        self.assertEqual([number for number, _ in check_python('"""a\nb"""\nx = max(x, y)\n')], [3])

    def test_digit_separators_do_not_hide_the_rest(self):
        self.assertEqual(len(check_cpp("n = 1'000'000;\nworst = std::max(worst, error);\n")), 1)

    def test_only_tests_and_their_helpers_are_read(self):
        for name in ("limb/math/so3_test.cpp", "limb/sim/testing/drops.hpp", "tests/locomotion/run.hpp",
                     "python/tests/conftest.py", "cli/cli_test.py", "limb/math/math_vs_scipy_test.py"):
            self.assertTrue(is_test(Path(name)), name)
        for name in ("limb/math/so3.cpp", "bench/control_bench.cpp", "tools/check_tests.py", "docs/testing.md"):
            self.assertFalse(is_test(Path(name)), name)

    def test_names_file_line_and_replacement_and_exits_1(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            self.assertEqual(self.run_tool(root).returncode, 0)
            (root / "a_test.cpp").write_text("int x;\nworst = std::max(worst, error);\n")
            (root / "b_test.py").write_text("worst = max(worst, error)\n")
            (root / "c.cpp").write_text("worst = std::max(worst, error);\n")
            self.assertEqual([error.split(": ")[0] for error in check(root)], ["a_test.cpp:2", "b_test.py:1"])
            done = self.run_tool(root)
            self.assertEqual(done.returncode, 1)
            self.assertIn("a_test.cpp:2: std::max: keep NaN: Worst", done.stdout)
            self.assertIn("b_test.py:1: max: keep NaN: np.max", done.stdout)

    def run_tool(self, root):
        return subprocess.run([sys.executable, "-B", TOOL, root], capture_output=True, text=True)


if __name__ == "__main__":
    unittest.main()
