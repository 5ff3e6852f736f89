"""Compares rnea, crba, aba and their derivatives, frames, Jacobians and their time derivatives, centre of mass,
centroidal momentum and the manifold with Pinocchio on random trees of all joint types. Skipped where Pinocchio is not
installed.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "model/convert"))
from convert_vs_pinocchio_test import dump, in_frame, pinocchio_model  # noqa: E402

DUMP = Path(os.environ.get("LIMB_BUILD_DIR", "build")) / "tests/dynamics_dump"
SEEDS = range(1, 51)
DERIVATIVE_SEEDS = range(1, 13)
EPS = np.finfo(float).eps

# Chains of up to 22 joints, summed in another order in Pinocchio; relative to the largest entry.
# Measured over these seeds (pin 4.1.0): at most 63 eps, for integrate by v 169 eps; a wrong term
# gives an error of order 1.
TOLERANCE = 256 * EPS
# Pinocchio's planar logarithm loses digits at small angles: at 0.007 rad it is 4080 eps from the
# value in forty digits, limb's 0.5.
PLANAR_TOLERANCE = 16384 * EPS
# Central differences: h^2 times third derivatives of some hundreds, plus eps / h.
STEP = np.cbrt(EPS)
DIFFERENCE_TOLERANCE = 1024 * STEP**2
WORST = {}


def close(found, expected, what, tolerance=TOLERANCE):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, what
    error = np.abs(found - expected).max() / max(1.0, np.abs(expected).max())
    WORST[what] = np.maximum(WORST.get(what, 0), error)
    assert error < tolerance, f"{what}: off by {error / EPS:.0f} eps"


def close_rate(found, expected, at, constant, what):
    """Compares with Pinocchio's time derivative where it is valid: composite joints, such as the universal
    one, assume axes fixed in the body. All columns also by differences of the matrix itself, at(time)."""
    close(found[:, constant], np.asarray(expected)[:, constant], what)
    close((at(STEP) - at(-STEP)) / (2 * STEP), expected, what + " by differences",
          DIFFERENCE_TOLERANCE)


def constant_columns(model, tree):
    """Whether the axis of each velocity is fixed in its body."""
    constant = np.ones(model.nv, dtype=bool)
    for body in tree["bodies"]:
        if body["type"] == "universal":
            constant[model.idx_vs[model.getJointId(body["name"])]] = False
    return constant


def plain_columns(model, tree):
    """Whether the joint of each velocity is not a composite joint with moving axes."""
    plain = np.ones(model.nv, dtype=bool)
    for body in tree["bodies"]:
        if body["type"] == "universal":
            first = model.idx_vs[model.getJointId(body["name"])]
            plain[first:first + 2] = False
    return plain


@pytest.fixture(autouse=True, scope="module")
def report_worst():
    yield
    for what, error in sorted(WORST.items()):
        print(f"worst {what}: {error / EPS:.0f} eps")


def compare_frame(pin, model, data, joint, C, limb, moved, constant):
    """C: axes of Pinocchio's body frame in limb's. World axes are unaffected by it."""
    other = model.createData()

    def jacobian_at(axes, time):
        pin.computeJointJacobians(model, other, moved(time))
        return pin.getJointJacobian(model, other, joint, axes).copy()

    for name, expected in limb.items():
        axes = getattr(pin.ReferenceFrame, name)
        in_axes = (lambda x: in_frame(C[:3, :3], x)) if name == "LOCAL" else np.asarray
        close(pin.getJointJacobian(model, data, joint, axes), in_axes(expected["J"]), f"J {name}")
        close_rate(pin.getJointJacobianTimeVariation(model, data, joint, axes),
                   in_axes(expected["dJ"]), lambda time, axes=axes: jacobian_at(axes, time), constant,
                   f"dJ {name}")
        close(pin.getVelocity(model, data, joint, axes).vector, in_axes(expected["V"]), f"V {name}")
        close(pin.getAcceleration(model, data, joint, axes).vector, in_axes(expected["A"]),
              f"A {name}")
        close(pin.getClassicalAcceleration(model, data, joint, axes).vector,
              in_axes(expected["classical"]), f"classical {name}")


def compare_dynamics(pin, model, data, q, v, a, limb):
    close(pin.rnea(model, data, q, v, a), limb["tau"], "rnea")
    close(pin.nonLinearEffects(model, data, q, v), limb["nle"], "bias")
    close(pin.computeGeneralizedGravity(model, data, q), limb["g"], "gravity")
    M = np.triu(pin.crba(model, data, q))
    M += np.triu(M, 1).T
    close(M, limb["M"], "crba")
    # The error of M^-1 b grows with the condition number of M, in the thousands on these trees.
    condition = np.linalg.cond(M)
    close(pin.aba(model, data, q, v, 3 * v), limb["aba"], "aba", 4 * condition * EPS)
    close(np.linalg.inv(M), limb["Minv"], "inverse mass matrix", 4 * condition * EPS)


def by_differences(pin, model, q, v, x, function):
    """function(q, v, x) differentiated by q (a tangent), v and x."""
    parts = [np.empty((model.nv, model.nv)) for _ in range(3)]
    for i in range(model.nv):
        step = np.zeros(model.nv)
        step[i] = STEP
        forth, back = pin.integrate(model, q, step), pin.integrate(model, q, -step)
        parts[0][:, i] = function(forth, v, x) - function(back, v, x)
        parts[1][:, i] = function(q, v + step, x) - function(q, v - step, x)
        parts[2][:, i] = function(q, v, x + step) - function(q, v, x - step)
    return [part / (2 * STEP) for part in parts]


def compare_derivatives(pin, model, data, q, v, a, limb, plain):
    """plain: columns of joints that are not composite; in the others Pinocchio's formulas are not the
    derivatives of its rnea. Differences of rnea and aba are compared in all columns."""
    tau = 3 * v
    # Through the inverse of M.
    condition = np.linalg.cond(limb["dtau_da"])
    inverse, forward = ("dtau_dq", "dtau_dv"), ("ddq_dq", "ddq_dv")
    found = pin.computeRNEADerivatives(model, data, q, v, a)
    for name, part in zip(inverse, found[:2], strict=True):
        close(part[:, plain], np.array(limb[name])[:, plain], name)
    found = pin.computeABADerivatives(model, data, q, v, tau)
    for name, part in zip(forward, found[:2], strict=True):
        close(part[:, plain], np.array(limb[name])[:, plain], name, 4 * condition * EPS)
    other = model.createData()
    found = by_differences(pin, model, q, v, a, lambda *x: pin.rnea(model, other, *x).copy())
    for name, part in zip((*inverse, "dtau_da"), found, strict=True):
        close(part, limb[name], name + " by differences", DIFFERENCE_TOLERANCE)
    found = by_differences(pin, model, q, v, tau, lambda *x: pin.aba(model, other, *x).copy())
    for name, part in zip((*forward, "ddq_dtau"), found, strict=True):
        close(part, limb[name], name + " by differences", 4 * condition * STEP**2)


@pytest.mark.parametrize("seed", SEEDS)
def test_pinocchio_agrees(seed):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed (pip package 'pin')")
    tree = dump("pinocchio", seed)
    found = subprocess.run([str(DUMP), str(seed)], input=json.dumps(tree), capture_output=True,
                           text=True, check=True)
    model, frames = pinocchio_model(pin, tree)
    data, other = model.createData(), model.createData()
    constant = constant_columns(model, tree)
    for state, limb in zip(tree["states"], json.loads(found.stdout), strict=True):
        q, v, a = (np.array(state[x]) for x in "qva")
        moved = lambda time, q=q, v=v: pin.integrate(model, q, time * v)  # noqa: E731
        compare_dynamics(pin, model, data, q, v, a, limb["dynamics"])
        if seed in DERIVATIVE_SEEDS:
            compare_derivatives(pin, model, data, q, v, a, limb["dynamics"]["derivatives"],
                                plain_columns(model, tree))
        pin.computeJointJacobiansTimeVariation(model, data, q, v)
        pin.forwardKinematics(model, data, q, v, a)
        last = state["J_body"]
        compare_frame(pin, model, data, model.getJointId(last), frames[last], limb["frame"],
                      moved, constant)

        pin.centerOfMass(model, data, q, v, a)
        close(data.com[0], limb["com"], "com")
        close(data.vcom[0], limb["vcom"], "vcom")
        close(data.acom[0], limb["acom"], "acom")
        close(pin.jacobianCenterOfMass(model, data, q), limb["Jcom"], "Jcom")
        close(pin.computeKineticEnergy(model, data, q, v), limb["kinetic_energy"], "kinetic energy")
        close(pin.computePotentialEnergy(model, data, q), limb["potential_energy"],
              "potential energy")
        pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
        close(data.hg.vector, limb["hg"], "hg")
        close(data.dhg.vector, limb["dhg"], "dhg")
        pin.dccrba(model, data, q, v)
        close(data.Ag, limb["Ag"], "Ag")
        close_rate(data.dAg, limb["dAg"],
                   lambda time, v=v: pin.ccrba(model, other, moved(time), v).copy(), constant,
                   "dAg")

        q1 = pin.integrate(model, q, v)
        close(q1, limb["q1"], "integrate")
        by_q, by_v = pin.dIntegrate(model, q, v)
        close(by_q, limb["integrate_q"], "integrate by q")
        close(by_v, limb["integrate_v"], "integrate by v")
        by_q0, by_q1 = pin.dDifference(model, q, q1)
        close(by_q0, limb["difference_q0"], "difference by q0", PLANAR_TOLERANCE)
        close(by_q1, limb["difference_q1"], "difference by q1", PLANAR_TOLERANCE)
