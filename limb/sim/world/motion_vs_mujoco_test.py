"""Free motion of the 7-joint arm and the floating humanoid over one second, against MuJoCo. Skipped if MuJoCo is
not installed.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco", reason="the package 'mujoco' is not installed")
DUMP = Path(os.environ.get("LIMB_BUILD_DIR", "build")).resolve() / "tests/motion_dump"

# Both are far more accurate: Dormand-Prince with tolerance 1e-12 in limb, Runge-Kutta of order 4 with steps of
# 0.1 ms in MuJoCo. Measured: 1.2e-10 and 1.3e-12.
TOLERANCE = 1e-6


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Run in a temporary folder: MuJoCo writes its warnings into a file in the current folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("robot,base", [("builtin:arm7", "fixed"), ("builtin:humanoid", "free")])
def test_free_motion(robot, base):
    run = subprocess.run([DUMP, robot, base], capture_output=True, text=True, timeout=1200)
    assert run.returncode == 0, run.stderr
    limb = json.loads(run.stdout)
    model = mujoco.MjModel.from_xml_string(limb["mjcf"])
    model.opt.timestep = 1e-4
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    data.qpos[:] = limb["states"][0]["q"]
    data.qvel[:] = limb["states"][0]["v"]
    worst, moved = 0, 0
    for state in limb["states"][1:]:
        for _ in range(1000):
            mujoco.mj_step(model, data)
        dq = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, dq, 1, data.qpos, np.array(state["q"]))
        worst = np.max([worst, np.abs(dq).max(), np.abs(data.qvel - state["v"]).max()])
        moved = np.maximum(moved, np.abs(data.qvel - limb["states"][0]["v"]).max())
    print(f"{robot}: largest difference of positions and velocities {worst:.1e}")
    assert moved > 1  # it moved
    assert worst < TOLERANCE
