"""Smooth motion of public MJCF robots, without contacts, limits and controls, against MuJoCo's Runge-Kutta method with
steps of 0.01 ms: largest difference of joint positions and velocities at the end, and orders of convergence.

    .venv/bin/python tests/simulations/smooth_motion.py          prints a table in Markdown

Robots with hinges and slides are compared; each starts in the pose of its file with joint velocities of +-1 in turn.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
LIMB = Path(os.environ.get("LIMB_CLI", ROOT / "build/limb")).resolve()
SUITE = Path(os.environ.get("LIMB_ROBOTS", ROOT / ".robots")) / "dm_control/suite"
ROBOTS = ("acrobot", "cartpole", "cheetah", "hopper", "walker", "pendulum", "finger", "reacher")
REFERENCE_STEP = 1e-5
STEPS = (1e-3, 5e-4, 2.5e-4)
METHODS = ("semi-implicit-euler", "implicit-midpoint", "runge-kutta-4")


def reference(mujoco, path, duration):
    """Names of the joints, and their positions and velocities at the end by MuJoCo."""
    model = mujoco.MjModel.from_xml_path(str(path))
    if any(kind not in (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)) for kind in model.jnt_type):
        raise ValueError(f"{path.name} has joints of other types")
    model.opt.timestep = REFERENCE_STEP
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS | flags.mjDSBL_ACTUATION
    data = mujoco.MjData(model)
    data.qvel[:] = [(-1) ** i for i in range(model.nv)]
    for _ in range(round(duration / REFERENCE_STEP)):
        mujoco.mj_step(model, data)
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, i) for i in range(model.njnt)]
    return names, np.concatenate([data.qpos, data.qvel])


def simulate(path, names, duration, method, step):
    """Positions and velocities of the joints at the end by limb."""
    with tempfile.TemporaryDirectory() as folder:
        velocities = ", ".join(f'"{name}" = {(-1) ** i}' for i, name in enumerate(names))
        scenario, log = Path(folder) / "scenario.toml", Path(folder) / "log.csv"
        scenario.write_text(
            f'model = "{path}"\nduration = {duration}\nstep = {step}\nintegrator = "{method}"\nlog_period = {duration}\n'
            f'friction = "none"\nstops = "none"\n[ground]\nkind = "none"\n[initial]\nv = {{{velocities}}}\n'
            '[controller]\ntype = "none"\n')
        done = subprocess.run([LIMB, "simulate", scenario, "-o", log], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{path.name}, {method}: {done.stderr}")
        with open(log) as file:
            rows = list(csv.DictReader(file))
    return np.array([float(rows[-1][f"state.{part}.{name}"]) for part in "qv" for name in names])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--duration", type=float, default=0.5, help="s, default 0.5")
    parser.add_argument("--only", default="", help="robots whose name contains this")
    options = parser.parse_args()
    try:
        import mujoco
    except ImportError:
        sys.exit("the package 'mujoco' is not installed")
    heads = [f"{method}, {step * 1e3:g} ms" for method in METHODS for step in STEPS[:1]]
    print("| robot | " + " | ".join(heads) + " | orders |\n|---|" + "---|" * (len(heads) + 1))
    for robot in ROBOTS:
        path = SUITE / f"{robot}.xml"
        if options.only not in robot or not path.exists():
            continue
        names, expected = reference(mujoco, path, options.duration)
        cells, orders = [], []
        for method in METHODS:
            errors = [np.abs(simulate(path, names, options.duration, method, step) - expected).max() for step in STEPS]
            cells.append(f"{errors[0]:.1e}")
            orders.append(f"{np.log2(errors[0] / errors[-1]) / 2:.1f}")
        print(f"| {robot} | " + " | ".join(cells) + " | " + ", ".join(orders) + " |", flush=True)


if __name__ == "__main__":
    main()
