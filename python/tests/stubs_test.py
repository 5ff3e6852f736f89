"""Type stubs of the C++ extension: every public name, with a type for each argument and result."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import limb

STUB = Path(limb.__file__).parent / "_limb.pyi"


@pytest.fixture(scope="module")
def tree():
    return ast.parse(STUB.read_text())


def functions(node, owner=""):
    for part in node.body:
        if isinstance(part, ast.ClassDef):
            yield from functions(part, f"{owner}{part.name}.")
        elif isinstance(part, ast.FunctionDef):
            yield f"{owner}{part.name}", part


def test_the_package_is_typed():
    assert (STUB.parent / "py.typed").exists()


def test_every_name_is_in_the_stub(tree):
    written = {part.name: part for part in tree.body if isinstance(part, (ast.ClassDef, ast.FunctionDef))}
    for name, value in vars(limb._limb).items():
        if name.startswith("_"):
            continue
        assert name in written, name
        if not inspect.isclass(value) or issubclass(value, Exception):
            continue
        members = {part.name for part in written[name].body if isinstance(part, ast.FunctionDef)}
        own = {key for key in vars(value) if not key.startswith("_")}
        assert own <= members, f"{name}: {sorted(own - members)}"


def test_every_argument_has_a_type(tree):
    for name, function in functions(tree):
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        if "." in name and arguments and not any(isinstance(d, ast.Name) and d.id == "staticmethod"
                                                 for d in function.decorator_list):
            arguments = arguments[1:]
        types = [(a.arg, a.annotation) for a in arguments] + [("result", function.returns)]
        for argument, annotation in types:
            assert annotation is not None, f"{name}: {argument}"
            public = not any(part.startswith("_") and not part.startswith("__") for part in name.split("."))
            special = name.endswith(("__eq__", "__array__", "__ne__"))
            if public and not special:
                assert ast.unparse(annotation) != "object", f"{name}: {argument} is an object"


def test_every_type_is_known(tree):
    """Names in annotations are defined in the stub, built in, or imported by the stub."""
    import builtins

    known = set(dir(builtins)) | {part.name for part in tree.body if isinstance(part, ast.ClassDef)}
    for part in ast.walk(tree):
        if isinstance(part, ast.ImportFrom):
            for alias in part.names:
                known |= set(limb.results.__all__) if alias.name == "*" else {alias.asname or alias.name}
        elif isinstance(part, ast.Import):
            known |= {(alias.asname or alias.name).split(".")[0] for alias in part.names}
    for name, function in functions(tree):
        for annotation in [a.annotation for a in (*function.args.args, *function.args.kwonlyargs)] + [function.returns]:
            for part in ast.walk(annotation) if annotation is not None else ():
                if isinstance(part, ast.Name):
                    assert part.id in known, f"{name}: {part.id}"


def test_mypy_checks_programs(tmp_path):
    """If mypy is installed: a correct program, and one with a wrong type."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    right = tmp_path / "right.py"
    right.write_text("import limb\nfrom limb.control import Gait, Locomotion\nrobot = limb.load('builtin:quadruped')\n"
                     "walk = Locomotion(robot, ['FL_foot'], robot.neutral())\nwalk.set_gait(Gait.trot())\n"
                     "world = limb.sim.World(robot)\nworld.set_contact(limb.sim.Ground.plane(friction=0.5), feet=['FL_foot'])\n"
                     "residual: float = limb.sim.Simulation(world).contact_report().residual\n")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import limb\nlimb.sim.Ground.plane(friction='high')\n")
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--ignore-missing-imports"]
    runs = [subprocess.run([*command, path], capture_output=True, text=True, cwd=STUB.parent.parent)
            for path in (right, wrong)]
    assert runs[0].returncode == 0, runs[0].stdout
    assert runs[1].returncode == 1 and "arg-type" in runs[1].stdout, runs[1].stdout
