#!/usr/bin/env python3
"""Tests of mutate.py: which mutants are found, how they are built in, and what the table counts."""

import sys
import tempfile
import unittest
from pathlib import Path

import mutate
from mutation.mutant import Mutant, apply

SAMPLE = b"""\
double f(double a, double b) {
  const double c = a + b;  // not 1 + 1
  if (a < 2.0) {
    return -c;
  }
  touch(a,
        b);
  return a * b;
}
"""
DECLARATIONS = b"void touch(double, double);\n"


def at(text: bytes, part: bytes, begin: bytes, end: bytes, rule: str, replacement: bytes,
       statement: bool) -> Mutant:
    """A mutant of `part`; the bytes from `begin` to the end of `end` are replaced."""
    first = text.index(begin)
    last = text.index(end, first) + len(end)
    line = text.count(b"\n", 0, text.index(part)) + 1
    return Mutant("f.cpp", line, 1, rule, "", "", first, last, statement, False, replacement)


class Apply(unittest.TestCase):
    def test_an_expression_gets_a_switch(self):
        mutant = at(SAMPLE, b"a + b", b"a + b", b"a + b", "arithmetic", b"a - b", False)
        text = apply(SAMPLE, [(7, mutant)])
        self.assertIn(b"const double c = (::limb_mutant::on(7) ? (a - b) : (a + b));", text)

    def test_a_condition_is_compared_with_the_switch(self):
        mutant = at(SAMPLE, b"a < 2.0", b"a < 2.0", b"a < 2.0", "condition", b"!(a < 2.0)", False)
        self.assertIn(b"if ((::limb_mutant::on(3) != static_cast<bool>(a < 2.0))) {", apply(SAMPLE, [(3, mutant)]))

    def test_lines_keep_their_numbers(self):
        mutant = at(SAMPLE, b"touch", b"touch(a,", b"b);", "removal", b";", True)
        text = apply(SAMPLE, [(1, mutant)])
        self.assertEqual(text.count(b"\n"), SAMPLE.count(b"\n"))
        self.assertIn(b"return a * b", text.splitlines()[7])

    def test_mutants_of_one_file_do_not_disturb_each_other(self):
        first = at(SAMPLE, b"a + b", b"a + b", b"a + b", "arithmetic", b"a - b", False)
        second = at(SAMPLE, b"a * b", b"return a * b;", b"return a * b;", "arithmetic", b"return a / b;", True)
        text = apply(SAMPLE, [(1, first), (2, second)])
        self.assertIn(b"on(1) ? (a - b) : (a + b)", text)
        self.assertIn(b"{ if (::limb_mutant::on(2)) { return a / b; } else { return a * b; } }", text)

    def test_comments_go_but_text_stays(self):
        text = b'  print("// text", 1);  // a comment\n'
        mutant = Mutant("f.cpp", 1, 1, "constant", "", "", 2, text.index(b";") + 1, True, False,
                        b'print("// text", 2);')
        self.assertIn(b'else { print("// text", 1); }', apply(text, [(1, mutant)]))


@unittest.skipUnless("clang" in sys.modules or __import__("importlib.util").util.find_spec("clang"),
                     "no clang module: it is in the Debian package python3-clang")
class Find(unittest.TestCase):
    def found(self, text: bytes) -> set[tuple[int, str, str]]:
        from mutation.find_mutants import Finder
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "sample.cpp").write_bytes(text)
            found = Finder(Path(folder), Path("sample.cpp"), ["-x", "c++", "-std=c++20"]).found
        return {(mutant.line, mutant.rule, mutant.change) for mutant in found}

    def test_every_rule_is_found_once(self):
        self.assertEqual(self.found(DECLARATIONS + SAMPLE), {
            (3, "arithmetic", "+ -> -"), (4, "condition", "a < 2.0 -> !(a < 2.0)"),
            (4, "comparison", "< -> <="), (4, "constant", "2.0 -> (2.0 + 1)"),
            (5, "arithmetic", "- -> nothing"), (7, "removal", "touch(a, b) -> nothing"),
            (9, "arithmetic", "* -> /"), (5, "nan", '-c -> __builtin_nan("")'),
            (9, "nan", 'a * b -> __builtin_nan("")')})

    def test_what_the_compiler_evaluates_is_left_out(self):
        self.assertEqual(self.found(b"static_assert(1 < 2);\nconstexpr int size = 2 + 3;\n"
                                    b"enum { five = 4 + 1 };\n"
                                    b"int f() { constexpr int n = 4; static const int k = 3; return n - k; }\n"),
                         {(4, "arithmetic", "- -> +")})


class Table(unittest.TestCase):
    STATE = {"results": {"1": {"killed": "sim/a", "how": "failed", "reached": 3},
                         "2": {"killed": "sim/b", "how": "hung", "reached": 2},
                         "3": {"killed": None, "reached": 0},
                         "4": {"killed": "cli/a", "how": "failed", "reached": 1}},
             "mutants": {"1": {"file": "limb/sim/a.cpp", "line": 1, "rule": "logic", "change": "x"},
                         "2": {"file": "limb/sim/b.cpp", "line": 2, "rule": "logic", "change": "y"},
                         "3": {"file": "limb/sim/c.cpp", "line": 9, "rule": "removal", "change": "z"},
                         "4": {"file": "cli/a.cpp", "line": 4, "rule": "constant", "change": "w"},
                         "5": {"file": "cli/b.cpp", "line": 5, "rule": "constant", "change": "not run"}}}

    def test_counts_per_module_and_rule(self):
        lines = [line.split() for line in mutate.table(self.STATE).splitlines()]
        self.assertIn(["sim", "3", "2", "1", "66.7"], lines)
        self.assertIn(["cli", "1", "1", "0", "100.0"], lines)
        self.assertIn(["all", "4", "3", "1", "75.0"], lines)
        self.assertIn(["removal", "1", "0", "1", "0.0"], lines)

    def test_survivors_are_named(self):
        self.assertIn("limb/sim/c.cpp:9: removal: z (0)", mutate.table(self.STATE))
        self.assertNotIn("not run", mutate.table(self.STATE))

    def test_the_draw_depends_on_nothing_else(self):
        self.assertEqual(mutate.order(1, "a", 2), mutate.order(1, "a", 2))
        self.assertNotEqual(mutate.order(1, "a", 2), mutate.order(2, "a", 2))


if __name__ == "__main__":
    unittest.main()
