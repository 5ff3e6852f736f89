"""Compares derivatives of frames, centre of mass and centroidal momentum with Pinocchio on random trees of all joint
types. Skipped where Pinocchio is not installed.

Two kinds of Pinocchio's results disagree with its own finite differences, and the differences are used instead: columns
of composite joints whose axes move in the body (the universal joint), and derivatives by q of velocities in
LOCAL_WORLD_ALIGNED axes and of accelerations in all but LOCAL ones.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

LIMB = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(LIMB / "dynamics/recursive"), str(LIMB / "model/convert")]
from convert_vs_pinocchio_test import dump, in_frame, pinocchio_model  # noqa: E402
from dynamics_vs_pinocchio_test import (  # noqa: E402, F401
    DIFFERENCE_TOLERANCE, DUMP, STEP, close, plain_columns, report_worst)

SEEDS = range(1, 13)
# Largest errors over these seeds (pin 4.1.0): 43 eps by formula, 1.7e-10 by differences.


def differences(pin, model, q, v, a, function):
    """function(q, v, a) differentiated by q (a tangent), v and a."""
    columns = []
    for i in range(model.nv):
        step = np.zeros(model.nv)
        step[i] = STEP
        back = pin.integrate(model, q, -step)
        columns.append([
            function(pin.integrate(model, q, step), v, a) - function(back, v, a),
            function(q, v + step, a) - function(q, v - step, a),
            function(q, v, a + step) - function(q, v, a - step)])
    return [np.column_stack([column[k] for column in columns]) / (2 * STEP) for k in range(3)]


class Motions:
    """Pinocchio's values as functions of the state, stacked in rows."""

    def __init__(self, pin, model, joint):
        self.pin, self.model, self.joint, self.data = pin, model, joint, model.createData()

    def __call__(self, q, v, a):
        pin, model, data = self.pin, self.model, self.data
        pin.forwardKinematics(model, data, q, v, a)
        parts = []
        for axes in AXES:
            frame = getattr(pin.ReferenceFrame, axes)
            parts += [pin.getVelocity(model, data, self.joint, frame).vector,
                      pin.getAcceleration(model, data, self.joint, frame).vector,
                      pin.getClassicalAcceleration(model, data, self.joint, frame).vector]
        pin.centerOfMass(model, data, q, v, a)
        parts.append(data.vcom[0])
        pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
        return np.concatenate([*parts, data.hg.vector, data.dhg.vector])


AXES = ["LOCAL", "LOCAL_WORLD_ALIGNED", "WORLD"]


def compare_differences(found, limb, in_axes):
    """found: by q, v, a, rows as in Motions."""
    for k, name in enumerate(("dq", "dv", "da")):
        rows = iter(range(0, 100, 6))
        for axes in AXES:
            for part in ("dV", "dA", "dclassical"):
                at = next(rows)
                if name in limb["frame"][axes][part]:
                    close(found[k][at:at + 6], in_axes(axes, limb["frame"][axes][part][name]),
                          f"{part} {name} by differences", DIFFERENCE_TOLERANCE)
        at = next(rows)
        if name == "dq":
            close(found[k][at:at + 3], limb["vcom_dq"], "vcom by differences", DIFFERENCE_TOLERANCE)
            close(found[k][at + 3:at + 9], limb["hg_dq"], "hg by differences", DIFFERENCE_TOLERANCE)
        close(found[k][at + 9:at + 15], limb[f"dhg_{name}"], "dhg by differences",
              DIFFERENCE_TOLERANCE)


def compare_formulas(pin, model, data, joint, limb, in_axes, fixed):
    """After computeForwardKinematicsDerivatives."""
    for axes in AXES:
        frame = getattr(pin.ReferenceFrame, axes)
        by_q, by_v = pin.getJointVelocityDerivatives(model, data, joint, frame)
        expected = limb["frame"][axes]
        if axes != "LOCAL_WORLD_ALIGNED":
            close(by_q[:, fixed], in_axes(axes, expected["dV"]["dq"])[:, fixed], "dV dq")
        close(by_v, in_axes(axes, expected["dV"]["dv"]), "dV dv")
        _, by_q, by_v, by_a = pin.getJointAccelerationDerivatives(model, data, joint, frame)
        if axes == "LOCAL":
            close(by_q[:, fixed], in_axes(axes, expected["dA"]["dq"])[:, fixed], "dA dq")
        close(by_v[:, fixed], in_axes(axes, expected["dA"]["dv"])[:, fixed], "dA dv")
        close(by_a, in_axes(axes, expected["dA"]["da"]), "dA da")


@pytest.mark.parametrize("seed", SEEDS)
def test_pinocchio_agrees(seed):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed (pip package 'pin')")
    tree = dump("pinocchio", seed)
    found = subprocess.run([str(DUMP), str(seed)], input=json.dumps(tree), capture_output=True,
                           text=True, check=True)
    model, frames = pinocchio_model(pin, tree)
    data, fixed = model.createData(), plain_columns(model, tree)
    for state, limb in zip(tree["states"], json.loads(found.stdout), strict=True):
        q, v, a = (np.array(state[x]) for x in "qva")
        joint, C = model.getJointId(state["J_body"]), frames[state["J_body"]][:3, :3]

        def in_axes(axes, x, C=C):
            return in_frame(C, x) if axes == "LOCAL" else np.asarray(x)

        motions = Motions(pin, model, joint)
        compare_differences(differences(pin, model, q, v, a, motions), limb, in_axes)
        pin.computeForwardKinematicsDerivatives(model, data, q, v, a)
        compare_formulas(pin, model, data, joint, limb, in_axes, fixed)
        pin.centerOfMass(model, data, q, v)
        com = pin.getCenterOfMassVelocityDerivatives(model, data)
        close(com[:, fixed], np.array(limb["vcom_dq"])[:, fixed], "vcom dq")
        names = ("hg_dq", "dhg_dq", "dhg_dv", "dhg_da")
        parts = pin.computeCentroidalDynamicsDerivatives(model, data, q, v, a)
        for name, part in zip(names, parts, strict=True):
            close(part[:, fixed], np.array(limb[name])[:, fixed], name)
