"""The wheel: made from the binaries of the build, installed in an empty environment, and used there.

Building it from source in a fresh clone takes minutes and is not tested here: pip install .
"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("LIMB_BUILD_DIR", ROOT / "build"))
MEGABYTES = 15

pytest.importorskip("scikit_build_core", reason="scikit-build-core is not installed")

PROGRAM = """
import limb, numpy, pickle, sys
assert sys.prefix in limb.__file__, limb.__file__
robot = limb.load("builtin:quadruped")
Q = robot.random_configuration(1, 100)
V = numpy.ones((100, 18))
tau = robot.rnea(Q, V, V)
assert numpy.allclose(robot.compile(["rnea"]).rnea(Q, V, V), tau)
assert numpy.array_equal(pickle.loads(pickle.dumps(robot)).rnea(Q, V, V), tau)
assert "cos(q2)" in limb.load("builtin:rr").derive().M[0, 0]
print(limb.__version__, limb.__file__)
"""


def run(*command, **keywords):
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("PYTHONPATH", "LIMB_BUILD_DIR", "LIMB_CLI")}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment,
                          **keywords)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if not (BUILD / "limb").exists():
        pytest.skip("the command line is not built")
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", ROOT, "--no-deps", "--no-index",
        "--no-build-isolation", "-w", folder, f"--config-settings=cmake.define.LIMB_BUILT={BUILD}",
        f"--config-settings=build-dir={folder}/build", "--config-settings=build.targets=all")
    return next(folder.glob("*.whl"))


def test_contents(wheel):
    assert wheel.stat().st_size < MEGABYTES * 2**20
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for name in ("limb/__init__.py", "limb/__main__.py", "limb/_limb.pyi", "limb/py.typed", "limb/torch.py", "limb/legged.py",
                 "limb/bin/limb"):
        assert name in names, name
    assert any(name.startswith("limb/_limb.") and name.endswith(".so") for name in names)
    # Only the package and its metadata.
    assert {name.partition("/")[0] for name in names} == {"limb", wheel.name.split("-cp")[0] + ".dist-info"}


def test_in_an_empty_environment(wheel, tmp_path):
    venv = tmp_path / "venv"
    run(sys.executable, "-m", "venv", venv)
    python = venv / "bin/python"
    installed = subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "install", "--timeout", "15",
                                "--retries", "1", wheel], capture_output=True, text=True)
    if installed.returncode != 0 and ("No matching distribution found for numpy" in installed.stderr
                                      or "connection" in installed.stderr.lower()):
        pytest.skip("numpy cannot be installed: PyPI is not reachable")
    assert installed.returncode == 0, installed.stderr
    assert run(python, "-I", "-c", PROGRAM, cwd=tmp_path).startswith("0.1.0 ")
    assert "arm7" in run(python, "-I", "-m", "limb", "info", "builtin:arm7", cwd=tmp_path)
    assert "arm7" in run(venv / "bin/limb", "info", "builtin:arm7", cwd=tmp_path)
