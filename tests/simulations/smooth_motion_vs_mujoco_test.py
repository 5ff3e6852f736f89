"""Smooth motion of public robots against MuJoCo's Runge-Kutta method, and orders of convergence. Skipped without MuJoCo
or without the robots (CONTRIBUTING.md).
"""

import numpy as np
import pytest

import smooth_motion

mujoco = pytest.importorskip("mujoco", reason="the package 'mujoco' is not installed")
DURATION = 0.1
ORDERS = {"semi-implicit-euler": 1, "implicit-midpoint": 2, "runge-kutta-4": 4}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Run in a temporary folder: MuJoCo writes its warnings into a file in the current folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("robot", ["acrobot", "cheetah"])
def test_agrees_and_converges(robot):
    path = smooth_motion.SUITE / f"{robot}.xml"
    if not path.exists():
        pytest.skip(f"{path} is not there (CONTRIBUTING.md: public collections of robots)")
    names, expected = smooth_motion.reference(mujoco, path, DURATION)
    for method, order in ORDERS.items():
        # Long steps, so that the errors are far above the 1e-12 of the reference.
        errors = [np.abs(smooth_motion.simulate(path, names, DURATION, method, step) - expected).max()
                  for step in (5e-3, 2.5e-3)]
        print(f"{robot}, {method}: {errors[0]:.1e}, {errors[1]:.1e}")
        assert errors[1] < {1: 0.1, 2: 1e-3, 4: 1e-6}[order]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.5)
