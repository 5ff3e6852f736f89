"""Constrained forward dynamics against Pinocchio's own, on robots of the shared folder.

Each test skips with a line that says what is missing: the robots, or the wheel.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

BUILD = Path(os.environ.get("LIMB_BUILD_DIR", "build"))
SHARED = Path(os.environ.get("LIMB_SHARED", "../shared"))
EPS = np.finfo(float).eps

# The condition of J M^-1 J^T multiplies that of M, 1e7 together at worst among these states.
# Measured with pin 4.1.0: at most 1e-11 (hyq).
TOLERANCE = 1e6 * EPS

ROBOTS = [
    ("hyq.urdf", "point", ["lf_foot", "rf_foot", "lh_foot", "rh_foot"]),
    ("anymal_b.urdf", "point", ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"]),
    ("talos_reduced.urdf", "point", ["left_sole_link", "right_sole_link"]),
    ("talos_reduced.urdf", "surface", ["left_sole_link", "right_sole_link"]),
]


@pytest.mark.parametrize("file,kind,feet", ROBOTS)
def test_constraint_dynamics(file, kind, feet):
    pin = pytest.importorskip("pinocchio", reason="no pinocchio wheel (pin)")
    urdf = SHARED / "robots" / file
    if not urdf.exists():
        pytest.skip("no folder of reference robots (LIMB_SHARED)")
    model = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
    contacts = []
    for name in feet:
        frame = model.frames[model.getFrameId(name)]
        kinds = {"point": pin.ContactType.CONTACT_3D, "surface": pin.ContactType.CONTACT_6D}
        contacts.append(pin.RigidConstraintModel(kinds[kind], model, frame.parentJoint,
                                                 frame.placement, pin.ReferenceFrame.LOCAL))
    data = model.createData()
    contact_data = [contact.createData() for contact in contacts]
    pin.initConstraintDynamics(model, data, contacts, contact_data)
    found = subprocess.run(
        [str(BUILD / "tests/constrained_dump"), str(urdf), kind,
         ",".join(list(model.names)[1:]), *feet], capture_output=True, text=True, check=True)
    worst = 0
    for state in json.loads(found.stdout):
        q, v, tau = (np.array(state[name]) for name in ("q", "v", "tau"))
        a = pin.constraintDynamics(model, data, q, v, tau, contacts, contact_data,
                                   pin.ProximalSettings(1e-12, 0, 1))
        rows = 3 if kind == "point" else 6
        assert state["rank"] == rows * len(feet)
        f = np.concatenate([c.contact_force.vector[:rows] for c in contact_data])
        worst = max(worst, relative(state["a"], a), relative(state["f"], f))
    print(f"{file} {kind}: worst {worst:.1e}")
    assert worst < TOLERANCE


def relative(found, expected):
    return np.linalg.norm(np.asarray(found) - expected) / (1 + np.linalg.norm(expected))
