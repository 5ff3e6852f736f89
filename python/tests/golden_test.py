"""Reference values of real robots, in the conventions of Pinocchio."""

import json

import numpy as np
import pytest

import limb

ROBOTS = ["double_pendulum_fixed", "double_pendulum_continuous_fixed", "ur5_fixed", "iiwa14_fixed", "iiwa14_ff",
          "panda_fixed", "go2_ff", "anymal_b_ff", "anymal_b_fixed", "hyq_ff", "simple_humanoid_ff",
          "talos_reduced_ff"]

EPS = np.finfo(float).eps
# Both sides round along chains of up to 30 joints.
TOLERANCE = 256 * EPS
# Through the inverse of the mass matrix, whose condition number is up to 1e5.
FORWARD = {"ddq_aba", "Minv", "da_dq", "da_dv", "a", "ddq_aba with fext"}
FORWARD_TOLERANCE = 16384 * EPS


def close(found, expected, what):
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape, f"{what}: {found.shape} instead of {expected.shape}"
    scale = max(1.0, np.abs(expected).max(initial=0))
    tolerance = FORWARD_TOLERANCE if what in FORWARD else TOLERANCE
    error = np.abs(found - expected).max(initial=0) / scale
    assert error <= tolerance, f"{what}: off by {error / EPS:.0f} eps"


@pytest.fixture(scope="module", params=ROBOTS)
def case(request, shared):
    """The robot, the converter to the conventions of the file, and the file. Mimic joints are independent there."""
    name, _, base = request.param.rpartition("_")
    data = json.loads((shared / f"golden/{request.param}.json").read_text())
    robot = limb.load(shared / f"robots/{name}.urdf", base="free" if base == "ff" else "fixed",
                      armature=False, damping=False, friction=False)
    if any(joint.q_index < 0 for joint in robot.joints):
        pytest.skip(f"{name} has coupled joints, which are independent in the file")
    return robot, limb.convert.pinocchio(robot), data


def states(case):
    robot, there, data = case
    for state in data["states"]:
        q = there.q_from(state["q"])
        v = there.v_from(q, state["v"])
        a = there.a_from(q, v, state["a"])
        yield q, v, a, there.tau_from(q, state["tau"]), state


def test_dynamics(case):
    robot, there, _ = case
    for q, v, a, tau, state in states(case):
        close(there.tau_to(q, robot.rnea(q, v, a)), state["tau_rnea"], "tau_rnea")
        close(there.tau_to(q, robot.bias(q, v)), state["nle"], "nle")
        close(there.tau_to(q, robot.gravity(q)), state["g"], "g")
        close(there.a_to(q, v, robot.aba(q, v, tau)), state["ddq_aba"], "ddq_aba")
        close(robot.kinetic_energy(q, v), state["kinetic_energy"], "kinetic_energy")
        close(robot.potential_energy(q), state["potential_energy"], "potential_energy")
        budget = robot.torque_budget(q, v, a)
        close(there.tau_to(q, budget.tau), state["tau_rnea"], "torque_budget")
        C = robot.coriolis_matrix(q, v)
        close(there.tau_to(q, C @ v + robot.gravity(q)), state["nle"], "C v + g")
        if "M" in state:
            close(there.mass_matrix_to(q, robot.mass_matrix(q)), state["M"], "M")
        if "Minv" in state:
            close(there.mass_matrix_to(q, robot.mass_inverse(q)), state["Minv"], "Minv")


def test_momentum(case):
    robot, there, _ = case
    for q, v, a, _, state in states(case):
        close(robot.center_of_mass(q), state["com"], "com")
        close(robot.center_of_mass_velocity(q, v), state["vcom"], "vcom")
        close(robot.center_of_mass_acceleration(q, v, a), state["acom"], "acom")
        close(robot.centroidal_momentum(q, v), state["hg"], "hg")
        close(robot.centroidal_momentum_rate(q, v, a), state["dhg"], "dhg")
        if "Ag" in state:
            close(there.jacobian_to(q, robot.centroidal_matrix(q)), state["Ag"], "Ag")


def test_frames(case):
    robot, there, _ = case
    names = {"local": "local", "world": "world", "lwa": "local_world_aligned"}
    for q, v, a, _, state in states(case):
        for name, frame in state["frames"].items():
            pose = robot.frame_pose(q, name)
            close(pose[:3, :3], frame["R"], "R")
            close(pose[:3, 3], frame["p"], "p")
            for short, axes in names.items():
                if f"J_{short}" in frame:
                    close(there.jacobian_to(q, robot.frame_jacobian(q, name, axes)), frame[f"J_{short}"], "J")
                close(robot.frame_velocity(q, v, name, axes), frame[f"v_{short}"], "v")
            close(robot.frame_acceleration(q, v, a, name, "local_world_aligned", "classical"),
                  frame["acc_lwa_classical"], "acc")
            close(robot.frame_acceleration(q, v, a, name), frame["acc_local_spatial"], "acc")
            # At a = 0 of the other library, which is also a = 0 of limb: P is constant along the joint axes.
            zero = there.a_from(q, v, np.zeros(there.nv))
            close(robot.frame_acceleration(q, v, zero, name, "local_world_aligned", "classical"),
                  frame["Jdotv_lwa_classical"], "Jdot v")


def test_derivatives(case):
    robot, there, _ = case
    for q, v, a, tau, state in states(case):
        if "dtau_dq" in state:
            d = robot.rnea_derivatives(q, v, a)
            close(there.mass_matrix_to(q, d.dtau_dq), state["dtau_dq"], "dtau_dq")
            close(there.mass_matrix_to(q, d.dtau_dv), state["dtau_dv"], "dtau_dv")
        if "ddq_dq" in state:
            d = robot.aba_derivatives(q, v, tau)
            close(there.mass_matrix_to(q, d.da_dq), state["ddq_dq"], "da_dq")
            close(there.mass_matrix_to(q, d.da_dv), state["ddq_dv"], "da_dv")
            close(there.a_to(q, v, d.a), state["ddq_aba"], "a")
        if "regressor" in state:
            Y = robot.regressor(q, v, a)
            close(there.tau_to(q, Y @ robot.inertial_parameters()), state["tau_rnea"], "regressor")


def test_manifold(case):
    robot, there, _ = case
    for q, v, _, _, state in states(case):
        close(there.q_to(robot.integrate(q, v)), state["q_integrate_v"], "q_integrate_v")
        close(there.v_to(q, robot.difference(robot.neutral(), q)), state["difference_neutral_q"], "difference")


def test_external_wrench(case):
    robot, there, _ = case
    for q, v, a, tau, state in states(case):
        fext = state["fext"]
        external = {fext["frame"]: fext["f_local"]}
        close(there.tau_to(q, robot.rnea(q, v, a, external=external)), fext["tau_rnea"], "tau_rnea with fext")
        close(there.a_to(q, v, robot.aba(q, v, tau, external=external)), fext["ddq_aba"], "ddq_aba with fext")


def test_batches_equal_single_states(case):
    """All states of the file at once give the same bits."""
    robot, _, _ = case
    rows = list(zip(*[(q, v, a, tau) for q, v, a, tau, _ in states(case)]))
    Q, V, A, Tau = (np.array(row) for row in rows)
    assert np.array_equal(robot.rnea(Q, V, A), [robot.rnea(*x) for x in zip(Q, V, A)])
    assert np.array_equal(robot.aba(Q, V, Tau), [robot.aba(*x) for x in zip(Q, V, Tau)])
    assert np.array_equal(robot.mass_matrix(Q), [robot.mass_matrix(q) for q in Q])
    frame = robot.frames[-1]
    assert np.array_equal(robot.frame_jacobian(Q, frame), [robot.frame_jacobian(q, frame) for q in Q])
    one = robot.rnea_derivatives(Q, V, A)
    for k, x in enumerate(zip(Q, V, A)):
        for part, single in zip(one, robot.rnea_derivatives(*x)):
            assert np.array_equal(part[k], single)
