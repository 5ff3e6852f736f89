"""Whole-body programs of a quadruped against scipy's SLSQP, which shares no code with ProxQP. Skips with a line where
scipy or the solver is not installed.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

optimize = pytest.importorskip("scipy.optimize")
DUMP = Path(os.environ.get("LIMB_BUILD_DIR", "build")) / "tests/qp_dump"


def numbers(values, missing):
    return np.array([missing if value is None else value for value in values], dtype=float)


def test_whole_body_programs():
    run = subprocess.run([DUMP], capture_output=True, text=True, timeout=1200)
    assert run.returncode == 0, run.stderr
    dump = json.loads(run.stdout)
    if not dump["available"]:
        pytest.skip("limb was built without a solver of quadratic programs")
    assert len(dump["programs"]) == 6
    for program in dump["programs"]:
        assert program["status"] == "ok"
        H, A, C = (np.array(program[name]) for name in "HAC")
        g, b, x = (np.array(program[name], dtype=float) for name in "gbx")
        lower, upper = numbers(program["lower"], -np.inf), numbers(program["upper"], np.inf)
        below, above = np.isfinite(lower), np.isfinite(upper)

        def cost(y):
            return 0.5 * y @ H @ y + g @ y

        constraints = [
            {"type": "eq", "fun": lambda y: A @ y - b, "jac": lambda y: A},
            {"type": "ineq", "fun": lambda y: C[below] @ y - lower[below], "jac": lambda y: C[below]},
            {"type": "ineq", "fun": lambda y: upper[above] - C[above] @ y, "jac": lambda y: -C[above]},
        ]
        found = optimize.minimize(cost, np.zeros(len(g)), jac=lambda y: H @ y + g, method="SLSQP",
                                  constraints=constraints, options={"maxiter": 500, "ftol": 1e-13})
        assert found.success, found.message
        # limb satisfies the constraints to 1e-6, scipy to about 1e-9; the cost may differ by that times
        # multipliers of about 100, and by the rounding of a cost of about 1000.
        scale = 1 + abs(cost(found.x))
        assert cost(x) == pytest.approx(cost(found.x), abs=1e-4 * scale)
        # The weight of the forces is 1e-3, so that the tolerance of the point is a thousand times that of the gradient.
        assert np.abs(x - found.x).max() < 1e-2
