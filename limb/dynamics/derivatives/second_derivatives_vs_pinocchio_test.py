"""Compares second derivatives of torques and accelerations, the number of base parameters, and log-Cholesky parameters
with Pinocchio on random trees of all joint types. Skipped where Pinocchio is not installed.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "model/convert"))
from convert_vs_pinocchio_test import dump, pinocchio_model  # noqa: E402

DUMP = Path(os.environ.get("LIMB_BUILD_DIR", "build")) / "tests/second_derivatives_dump"
EPS = np.finfo(float).eps
# The Python package has no second derivatives: compare with fourth-order differences of its rnea and aba. Their error
# is h^4 times a sixth derivative, of order 1e4 on these trees, plus eps / h^2.
STEP = 2e-3
TOLERANCE = 1e-6
WORST = {}


def close(found, expected, what, tolerance):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, what
    error = np.linalg.norm(found - expected) / max(1.0, np.linalg.norm(expected))
    WORST[what] = np.maximum(WORST.get(what, 0), error)
    assert error < tolerance, f"{what}: off by {error:.1e}"


@pytest.fixture(autouse=True, scope="module")
def report_worst():
    yield
    for what, error in sorted(WORST.items()):
        print(f"worst {what}: {error:.1e}")


def second_difference(f):
    weights = {-2: -1, -1: 16, 0: -30, 1: 16, 2: -1}
    return sum(w * f(k * STEP) for k, w in weights.items()) / (12 * STEP**2)


@pytest.mark.parametrize("seed", range(1, 11))
def test_pinocchio_agrees(seed):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed (pip package 'pin')")
    tree = dump("pinocchio", seed)
    found = subprocess.run([str(DUMP), str(seed)], input=json.dumps(tree), capture_output=True,
                           text=True, check=True)
    limb = json.loads(found.stdout)
    model, _ = pinocchio_model(pin, tree)
    data = model.createData()
    for state, expected in zip(tree["states"], limb["states"], strict=True):
        q, v, a = (np.array(state[x]) for x in "qva")

        def at(time, q=q, v=v, a=a):
            return pin.integrate(model, q, time * v), v + time * a

        close(expected["rnea"],
              second_difference(lambda t, a=a, at=at: pin.rnea(model, data, *at(t), a).copy()), "rnea", TOLERANCE)
        close(expected["aba"],
              second_difference(lambda t, v=v, at=at: pin.aba(model, data, *at(t), 3 * v).copy()), "aba", TOLERANCE)

    # Number of independent columns of Pinocchio's regressor at random states.
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(40):
        q = pin.integrate(model, pin.neutral(model), rng.uniform(-1.5, 1.5, model.nv))
        v, a = rng.uniform(-1, 1, (2, model.nv))
        rows.append(pin.computeJointTorqueRegressor(model, data, q, v, a).copy())
    assert np.linalg.matrix_rank(np.vstack(rows), rtol=1e-9) == limb["base_parameters"]


@pytest.mark.parametrize("seed", range(1, 11))
def test_log_cholesky_agrees(seed):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed (pip package 'pin')")
    if not hasattr(pin, "LogCholeskyParameters"):
        pytest.skip("this version of 'pin' has no log-Cholesky parameters")
    found = subprocess.run([str(DUMP), str(seed)], input='{"states": []}', capture_output=True,
                           text=True, check=True)
    for body in json.loads(found.stdout)["log_cholesky"]:
        other = pin.LogCholeskyParameters(np.array(body["theta"]))
        # The same formulas in another order.
        close(body["p"], other.toDynamicParameters(), "parameters", 64 * EPS)
        close(body["J"], other.calculateJacobian(), "jacobian", 64 * EPS)
