#!/usr/bin/env python3
"""Checks that tests keep NaN: std::max and Python's max drop it, depending on the order of their
arguments, and then a function that returns NaN passes its tests. Prints FILE:LINE and the replacement
for each finding, and exits 1 if there is any.

  check_tests.py [ROOT]

Accepted are a bound that is a number, std::max(1.0, x), and integers, std::max<int>(a, b) and
max(map(len, lines)).
"""

import ast
import re
import sys
from pathlib import Path

from source_files import CPP, source_files

WORST = "keep NaN: Worst or Least (limb/base/testing/worst.hpp), or std::max<int>(...)"
MAX_ABS = "keep NaN: max_abs(m) (limb/math/testing/max_abs.hpp), or maxCoeff<Eigen::PropagateNaN>()"
NEGATED = "NaN passes a negated comparison: compare with the opposite operator"
NUMPY = "keep NaN: np.max, np.maximum, or all(error < bound for error in errors)"

COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
NUMBER = re.compile(r"[-+]?[\d.](?:[eE][-+]|[\w.])*|T\([\d.]+\)")
COMPARISON = re.compile(r" (?:<|>|<=|>=) ")
FOLD = re.compile(r"\bstd::(?:f?(?:max|min)|(?:max|min)_element)(?=\()")
EIGEN = re.compile(r"\b(?:max|min)Coeff(?=\()|\blpNorm<(?:Eigen::)?Infinity>(?=\()")
EXPECTS = re.compile(r"\b(?:EXPECT|ASSERT)_(?:TRUE|FALSE)(?=\()")
IF_LARGER = re.compile(r"\bif \(([^;{}]*?) [<>]=? ([\w.\[\]]+)\)\s*(\{?)\s*\2 = ([^;]*);(\s*\})?")


def is_test(path: Path) -> bool:
    if path.suffix in CPP:
        return path.name.endswith("_test.cpp") or "testing" in path.parts or path.parts[0] == "tests"
    return path.suffix == ".py" and (path.name.endswith("_test.py") or path.name == "conftest.py"
                                     or "tests" in path.parts[:-1])


def blank(text: str) -> str:
    """C++ with comments and strings replaced by spaces; lines and columns stay."""
    return COMMENT_OR_STRING.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def arguments(text: str, start: int) -> list[str]:
    """The arguments of a call, the elements of a list in braces instead of the list; start is at the '('."""
    depth, begin, found = 0, start + 1, []
    for at in range(start, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        if depth == 0 or (depth == 1 and text[at] == ","):
            found.append(text[begin:at].strip())
            begin = at + 1
        if depth == 0:
            break
    if len(found) == 1 and found[0].startswith("{"):
        return arguments(found[0], 0)
    return found


def drops_nan(before: str, function: str, values: list[str]) -> bool:
    """Whether the call folds errors: worst = std::max(worst, error), or returns the largest of some."""
    if function.endswith("_element"):
        return len(values) == 2  # without a comparison of its own
    if any(map(NUMBER.fullmatch, values)):
        # min(x, 1.0) keeps the NaN of x, and a bound from below is a scale.
        return function.endswith("min") and NUMBER.fullmatch(values[0]) is not None
    target = re.search(r"([\w.\[\]>-]+)\s*=\s*$", before)
    return len(values) > 2 or (function.endswith("max") and before.rstrip().endswith("return")) or bool(target and target[1] in values)


def check_cpp(text: str) -> list[tuple[int, str]]:
    """(line number, what is wrong) for each finding."""
    text = blank(text)
    found = []
    for match in FOLD.finditer(text):
        if drops_nan(text[:match.start()], match[0], arguments(text, match.end())):
            found.append((match.start(), f"{match[0]}: {WORST}"))
    for match in EIGEN.finditer(text):
        found.append((match.start(), f"{match[0]}: {MAX_ABS}"))
    for match in EXPECTS.finditer(text):
        condition = arguments(text, match.end())[0]
        negated = match[0].endswith("FALSE") or condition.startswith("!(")
        if negated and COMPARISON.search(condition):
            found.append((match.start(), f"{match[0]}: {NEGATED}"))
    for match in IF_LARGER.finditer(text):
        if match[1] == match[4] and (match[5] or not match[3]):
            found.append((match.start(), f"if (... > {match[2]}): {WORST}"))
    return [(text.count("\n", 0, at) + 1, what) for at, what in sorted(found)]


def is_name(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def has_number(call: ast.Call) -> bool:
    """A bound that is a number, max(1.0, x), or integers, max(map(len, lines))."""
    for argument in call.args:
        value = argument.operand if isinstance(argument, ast.UnaryOp) else argument
        if isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and is_name(value.func, "len")):
            return True
        if isinstance(value, ast.Call) and is_name(value.func, "map") and is_name(value.args[0], "len"):
            return True
        if isinstance(value, (ast.GeneratorExp, ast.ListComp)) and isinstance(value.elt, ast.Call):
            return is_name(value.elt.func, "len", "int")
    return False


def has_order(node: ast.expr) -> bool:
    return any(isinstance(operator, (ast.Lt, ast.Gt, ast.LtE, ast.GtE))
               for compare in ast.walk(node) if isinstance(compare, ast.Compare) for operator in compare.ops)


def check_python(text: str) -> list[tuple[int, str]]:
    """(line number, what is wrong) for each finding."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.UnaryOp):
            if isinstance(node.test.op, ast.Not) and has_order(node.test.operand):
                found.append((node.lineno, f"assert not: {NEGATED}"))
        if not isinstance(node, ast.Call):
            continue
        if is_name(node.func, "max", "min") and not has_number(node):
            found.append((node.lineno, f"{node.func.id}: {NUMPY}"))
        elif isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name in ("nanmax", "nanmin", "fmax", "fmin"):
                found.append((node.lineno, f"{name}: {NUMPY}"))
            if name == "assert_allclose" and "equal_nan" not in [keyword.arg for keyword in node.keywords]:
                found.append((node.lineno, f"{name}: NaN equals NaN: add equal_nan=False"))
            if name == "assert_array_equal":
                found.append((node.lineno, f"{name}: NaN equals NaN: assert np.array_equal(a, b)"))
            if name == "assertFalse" and has_order(node.args[0]):
                found.append((node.lineno, f"{name}: {NEGATED}"))
    return sorted(found)


def check(root: Path) -> list[str]:
    errors = []
    for path in filter(is_test, source_files(root)):
        text = (root / path).read_text(encoding="utf-8")
        findings = check_cpp(text) if path.suffix in CPP else check_python(text)
        errors += [f"{path}:{number}: {what}" for number, what in findings]
    return errors


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    errors = check(root)
    print("\n".join(errors) if errors else "check_tests: no test drops NaN")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
