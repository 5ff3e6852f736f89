"""Constrained forward dynamics, impacts and their derivatives against Pinocchio, on the robots of the shared folder.

Each test is skipped with a message if the robots or Pinocchio are missing.
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

BUILD = Path(os.environ.get("LIMB_BUILD_DIR", "build"))
EPS = np.finfo(float).eps

# The condition numbers of J M^-1 J^T and M multiply: 1e7 at worst among these states.
# Measured with pin 4.1.0: at most 1e-11 (hyq).
TOLERANCE = 1e6 * EPS
# Derivatives of solutions may have its square; measured on these robots: 2e-11 (hyq).
# Central differences of step h have an error of h^2 times a third derivative, which is large here.
STEP = np.cbrt(EPS)
DIFFERENCE_TOLERANCE = 1e3 * STEP**2

RESTITUTION = 0.3  # as in tests/oracles/constrained_dump
ROBOTS = [
    ("hyq.urdf", "point", ["lf_foot", "rf_foot", "lh_foot", "rh_foot"]),
    ("anymal_b.urdf", "point", ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"]),
    ("talos_reduced.urdf", "point", ["left_sole_link", "right_sole_link"]),
    ("talos_reduced.urdf", "surface", ["left_sole_link", "right_sole_link"]),
]


class Standing:
    """A Pinocchio model standing on its feet, and limb's results at its states."""

    def __init__(self, file, kind, feet):
        self.pin = pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed (pip install pin)")
        if why_no_shared():
            pytest.skip(why_no_shared())
        urdf = shared_path() / "robots" / file
        self.model = model = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
        self.contacts = pin.StdVec_RigidConstraintModel()
        self.contact_data = pin.StdVec_RigidConstraintData()
        kinds = {"point": pin.ContactType.CONTACT_3D, "surface": pin.ContactType.CONTACT_6D}
        for name in feet:
            frame = model.frames[model.getFrameId(name)]
            self.contacts.append(pin.RigidConstraintModel(kinds[kind], model, frame.parentJoint,
                                                          frame.placement,
                                                          pin.ReferenceFrame.LOCAL))
            self.contact_data.append(self.contacts[-1].createData())
        self.data = model.createData()
        self.settings = pin.ProximalSettings(1e-12, 0, 1)
        pin.initConstraintDynamics(model, self.data, self.contacts, self.contact_data)
        found = subprocess.run(
            [str(BUILD / "tests/constrained_dump"), str(urdf), kind,
             ",".join(list(model.names)[1:]), *feet], capture_output=True, text=True, check=True)
        self.states = json.loads(found.stdout)
        self.rows = 3 if kind == "point" else 6

    def forces(self):
        return np.concatenate([c.contact_force.vector[:self.rows] for c in self.contact_data])

    def impact(self, q, v):
        after = self.pin.impulseDynamics(self.model, self.data, q, v, self.contacts,
                                         self.contact_data, RESTITUTION, self.settings).copy()
        return np.concatenate([after, self.forces()])


@pytest.mark.parametrize("file,kind,feet", ROBOTS)
def test_constraint_dynamics(file, kind, feet):
    robot = Standing(file, kind, feet)
    pin, model, data = robot.pin, robot.model, robot.data
    worst = {}
    for state in robot.states:
        q, v, tau = (np.array(state[name]) for name in ("q", "v", "tau"))
        a = pin.constraintDynamics(model, data, q, v, tau, robot.contacts, robot.contact_data,
                                   robot.settings)
        assert state["rank"] == robot.rows * len(feet)
        expected = {"a": a, "f": robot.forces()}
        names = ("da_dq", "da_dv", "da_dtau", "df_dq", "df_dv", "df_dtau")
        parts = pin.computeConstraintDynamicsDerivatives(model, data, robot.contacts,
                                                         robot.contact_data, robot.settings)
        expected |= dict(zip(names, parts, strict=True))
        for name, value in expected.items():
            worst[name] = np.maximum(worst.get(name, 0), relative(state[name], value))
    print(file, kind, {name: f"{error:.0e}" for name, error in worst.items()})
    assert all(error < TOLERANCE for error in worst.values())


@pytest.mark.parametrize("file,kind,feet", ROBOTS)
def test_impacts(file, kind, feet):
    """Pinocchio's dv_after/dv_before disagrees with finite differences of Pinocchio's own impact:
    the finite differences are the reference. Its other derivatives read results of
    computeConstraintDynamicsDerivatives at the same q from its data."""
    robot = Standing(file, kind, feet)
    pin, model, data = robot.pin, robot.model, robot.data
    worst, by_differences = {}, 0
    for state in robot.states:
        q, v = np.array(state["q"]), np.array(state["v_before"])
        limb_q = np.vstack([state["dv_dq"], state["dimpulse_dq"]])
        limb_v = np.vstack([state["dv_dv"], state["dimpulse_dv"]])
        by_q, by_v = np.zeros_like(limb_q), np.zeros_like(limb_v)
        for i in range(model.nv):
            step = np.zeros(model.nv)
            step[i] = STEP
            back = pin.integrate(model, q, -step)
            by_q[:, i] = robot.impact(pin.integrate(model, q, step), v) - robot.impact(back, v)
            by_v[:, i] = robot.impact(q, v + step) - robot.impact(q, v - step)
        by_differences = np.max([by_differences, relative(limb_q, by_q / (2 * STEP)),
                                 relative(limb_v, by_v / (2 * STEP))])
        pin.constraintDynamics(model, data, q, v, v, robot.contacts, robot.contact_data,
                               robot.settings)
        pin.computeConstraintDynamicsDerivatives(model, data, robot.contacts, robot.contact_data,
                                                 robot.settings)
        after = robot.impact(q, v)
        pin.computeImpulseDynamicsDerivatives(model, data, robot.contacts, robot.contact_data,
                                              RESTITUTION, robot.settings)
        expected = {"v_after": after[:model.nv], "impulse": after[model.nv:],
                    "dv_dq": data.ddq_dq, "dimpulse_dq": data.dlambda_dq,
                    "dimpulse_dv": data.dlambda_dv}
        for name, value in expected.items():
            worst[name] = np.maximum(worst.get(name, 0), relative(state[name], value))
    print(file, kind, {name: f"{error:.0e}" for name, error in worst.items()},
          f"differences {by_differences:.0e}")
    assert all(error < TOLERANCE for error in worst.values())
    assert by_differences < DIFFERENCE_TOLERANCE


def relative(found, expected):
    return np.linalg.norm(np.asarray(found) - expected) / (1 + np.linalg.norm(expected))
