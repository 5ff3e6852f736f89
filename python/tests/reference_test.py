"""The reference (docs/api): every public class and function appears in it, and has a docstring with all arguments."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import limb

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(limb.__file__).parent
MODULES = ["limb", "limb.control", "limb.convert", "limb.estimate", "limb.legged", "limb.plot", "limb.results", "limb.sim"]
# Modules that need a package which may be absent; their names are read from the source.
OPTIONAL = ["limb.jax", "limb.torch"]
# Parts of other classes, which users do not make.
INTERNAL = {"ClosedForms", "CompiledCore", "Entries", "RobotParts"}
# Functions behind limb.check and limb.loads, and methods for copies.
HIDDEN = {"check_file", "load_text"}


def documented():
    """(module or class, shows its members) of the directives in the pages."""
    found = {}
    for page in (ROOT / "docs/api").glob("*.md"):
        for name, options in re.findall(r"^::: ([\w.]+)\n((?:    .*\n)*)", page.read_text() + "\n", re.MULTILINE):
            found[name] = "members: false" not in options
    return found


def public_names():
    for module in MODULES:
        for name in importlib.import_module(module).__all__:
            yield module, name
    for module in OPTIONAL:
        tree = ast.parse((PACKAGE / f"{module.partition('.')[2]}.py").read_text())
        names = next(part.value for part in tree.body if isinstance(part, ast.Assign) and part.targets[0].id == "__all__")
        for name in ast.literal_eval(names):
            yield module, name


def test_every_public_name_is_in_the_reference():
    pages = documented()
    missing = []
    for module, name in public_names():
        value = getattr(importlib.import_module(module), name) if module in MODULES else None
        if inspect.ismodule(value) or name.startswith("__"):
            continue
        home = getattr(value, "__module__", module)
        places = {f"{module}.{name}", f"{home}.{name}", f"limb._limb.{name}"}
        shown = any(place in pages for place in places) or any(pages.get(owner) for owner in (module, home))
        if not shown:
            missing.append(f"{module}.{name}")
    assert missing == []


def test_pages_name_what_exists():
    for name in documented():
        if name.startswith(tuple(OPTIONAL)):
            continue
        owner, _, last = name.rpartition(".")
        try:
            importlib.import_module(name)
        except ImportError:
            assert hasattr(importlib.import_module(owner), last), name


def functions(tree, owner=""):
    for part in tree.body:
        if isinstance(part, ast.ClassDef) and part.name not in INTERNAL and not part.name.startswith("_"):
            yield f"{owner}{part.name}", part
            yield from functions(part, f"{owner}{part.name}.")
        elif isinstance(part, ast.FunctionDef) and part.name not in HIDDEN:
            if not part.name.startswith("_") or part.name == "__init__":
                yield f"{owner}{part.name}", part


def sources():
    return [PACKAGE / "_limb.pyi"] + [PACKAGE / f"{name}.py" for name in (
        "_show", "compiled", "control", "convert", "derivation", "estimate", "jax", "legged", "plot", "robot", "sim", "torch")]


def decorated(function, name):
    return any(getattr(x, "attr", getattr(x, "id", "")) == name for x in function.decorator_list)


def problems(path):
    tree = ast.parse(path.read_text())
    classes = {name: node for name, node in functions(tree) if isinstance(node, ast.ClassDef)}
    for name, node in functions(tree):
        text = ast.get_docstring(node) or ""
        owner = classes.get(name.rpartition(".")[0])
        if isinstance(node, ast.ClassDef):
            if not text:
                yield f"{name}: no docstring"
            continue
        if decorated(node, "setter"):
            continue
        arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        if owner is not None and not decorated(node, "staticmethod"):
            arguments = arguments[1:]
        if node.name == "__init__":
            text += ast.get_docstring(owner) or ""  # of Python classes
        if not text and node.name != "__init__":
            yield f"{name}: no docstring"
        elif not text.startswith("Alias of"):
            absent = [a for a in arguments if not re.search(rf"^\s+{a}: \S", text, re.MULTILINE)]
            if absent:
                yield f"{name}: {', '.join(absent)}"


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.name)
def test_every_argument_is_described(path):
    assert list(problems(path)) == []


def test_every_public_class_has_a_text():
    """A repr of its own, not that of object."""
    for module, name in public_names():
        value = getattr(importlib.import_module(module), name) if module in MODULES else None
        if inspect.isclass(value) and not issubclass(value, Exception):
            assert value.__repr__ is not object.__repr__, f"{module}.{name}"


def test_docstrings_at_run_time():
    """help() shows the same arguments as the reference."""
    for text in ("q: Configuration", "external: Wrenches", "check: Whether"):
        assert text in limb.Robot.forward_dynamics.__doc__
    assert "torque_limit: " in limb.sim.World.set_actuator.__doc__
