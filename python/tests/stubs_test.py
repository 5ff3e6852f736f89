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


def test_mypy_strict_on_the_examples():
    """If mypy is installed: all examples, and the types of compiled functions."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    examples = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))
    assert len(examples) >= 12
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent", *examples],
                          capture_output=True, text=True, cwd=STUB.parent.parent)
    assert done.returncode == 0, done.stdout


def test_mypy_knows_compiled_functions(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    program = tmp_path / "compiled.py"
    program.write_text("import limb\nfast = limb.load('builtin:arm7').compile(['rnea_derivatives', 'aba', 'frame_poses'])\n"
                       "q = [0.0] * 7\nreveal_type(fast.rnea_derivatives(q, q, q).dtau_dq)\n"
                       "reveal_type(fast.frame_poses(q))\nfast.aba(q, q)\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent", program],
                          capture_output=True, text=True, cwd=STUB.parent.parent)
    assert 'Revealed type is "numpy.ndarray' in done.stdout and "FramePoses" in done.stdout, done.stdout
    assert 'Missing positional argument "tau"' in done.stdout and "Found 1 error" in done.stdout, done.stdout
