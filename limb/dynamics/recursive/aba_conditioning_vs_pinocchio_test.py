"""Residuals of forward dynamics, in long double, of limb and of Pinocchio: chains whose mass matrix has a condition
number of up to 1e11, and the reference robots. Skipped where Pinocchio is not installed.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
from shared_folder import shared_path, why_no_shared  # noqa: E402

DUMP = Path(os.environ.get("LIMB_BUILD_DIR", ROOT / "build")).resolve() / "tests/forward_residual_dump"
EPS = np.finfo(float).eps
STATES = 8
AXES = {"planar": ["0 0 1"], "alternating": ["0 0 1", "0 1 0"], "rolling": ["0 0 1", "0 1 0", "1 0 0"]}

# Name: links, axes, mass of the base (0: fixed), mass and length of the links and of the last one, width.
CHAINS = {
    "40 equal links, planar": (40, "planar", 0, 1, 0.2, 1, 0.2, 0.05),
    "40 equal links": (40, "alternating", 0, 1, 0.2, 1, 0.2, 0.05),
    "heavy end, 12 links": (12, "alternating", 0, 1e-5, 0.2, 1, 0.2, 0.02),
    "heavy end, 20 links": (20, "alternating", 0, 1e-5, 0.2, 1, 0.2, 0.02),
    "heavy end, floating": (20, "alternating", 0.01, 1e-5, 0.2, 1, 0.2, 0.02),
    "short arms": (20, "alternating", 0, 1, 1e-3, 1, 0.5, 1e-3),
    "tiny links 1e-3 kg, floating": (12, "alternating", 20, 1e-3, 0.02, 1e-3, 0.02, 5e-3),
    "tiny links 1e-5 kg, floating": (20, "alternating", 20, 1e-5, 0.02, 1e-5, 0.02, 5e-3),
    "rods of 1 mm": (9, "rolling", 0, 1, 1, 1, 1, 1e-3),
    "rods of 0.1 mm, floating": (9, "rolling", 1, 1, 1, 1, 1, 1e-4),
}
ROBOTS = {"iiwa14": False, "panda": False, "ur5": False, "hyq": True, "anymal_b": True, "go2": True,
          "talos_reduced": True, "simple_humanoid": True}


def link(name, mass, length, width):
    if mass == 0:
        return f'<link name="{name}"/>'
    across, along = mass * (length**2 + width**2) / 12, mass * width**2 / 6
    return (f'<link name="{name}"><inertial><origin xyz="{length / 2!r} 0 0"/><mass value="{mass!r}"/><inertia '
            f'ixx="{along!r}" iyy="{across!r}" izz="{across!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>')


def chain_urdf(links, axes, base, mass, length, last_mass, last_length, width):
    parts, before = [link("l00", base, 0.4, 0.3)], 0.0
    for i in range(1, links + 1):
        last = i == links
        parts.append(link(f"l{i:02}", last_mass if last else mass, last_length if last else length, width))
        parts.append(f'<joint name="j{i:02}" type="revolute"><parent link="l{i - 1:02}"/><child link="l{i:02}"/>'
                     f'<origin xyz="{before!r} 0 0"/><axis xyz="{AXES[axes][(i - 1) % len(AXES[axes])]}"/>'
                     '<limit lower="-9" upper="9" effort="9" velocity="9"/></joint>')
        before = length
    return '<robot name="chain">' + "".join(parts) + "</robot>"


def compare(pin, urdf, free):
    """Largest residuals over the states."""
    model = (pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer()) if free
             else pin.buildModelFromUrdf(str(urdf)))
    data, random = model.createData(), np.random.default_rng(3)
    states = []
    for _ in range(STATES):
        q = pin.integrate(model, pin.neutral(model), random.uniform(-2, 2, model.nv))
        v, tau = random.normal(size=model.nv), random.normal(size=model.nv)
        a = pin.aba(model, data, q, v, tau)
        states.append({"q": q.tolist(), "v": v.tolist(), "tau": tau.tolist(), "a": a.tolist()})
    robots = {"robots": [{"urdf": str(urdf), "free": free, "states": states}]}
    found = subprocess.run([str(DUMP)], input=json.dumps(robots), capture_output=True, text=True, check=True)
    rows = json.loads(found.stdout)[0]
    assert len(rows) == STATES
    return {key: np.max([float(row[key]) for row in rows]) for key in rows[0]}  # null, a NaN, is an error


def expect_as_accurate(worst, name):
    print(f"{name}: condition {worst['condition']:.0e}, residual of limb {worst['limb'] / EPS:.2f} eps, of Pinocchio "
          f"{worst['other'] / EPS:.2f} eps; by entries {worst['limb_entries'] / EPS:.1f} and "
          f"{worst['other_entries'] / EPS:.1f} eps")
    # The exact accelerations, rounded to double, have a residual of up to eps / 2.
    assert worst["limb"] <= np.maximum(10 * worst["other"], EPS)
    assert worst["limb_entries"] <= np.maximum(10 * worst["other_entries"], 16 * EPS)


@pytest.mark.parametrize("name", CHAINS)
def test_chains(name, tmp_path):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed (pip package 'pin')")
    urdf = tmp_path / "chain.urdf"
    urdf.write_text(chain_urdf(*CHAINS[name]))
    expect_as_accurate(compare(pin, urdf, CHAINS[name][2] > 0), name)


@pytest.mark.parametrize("name", ROBOTS)
def test_robots(name):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed (pip package 'pin')")
    if why_no_shared():
        pytest.skip(why_no_shared())
    expect_as_accurate(compare(pin, shared_path() / f"robots/{name}.urdf", ROBOTS[name]), name)
