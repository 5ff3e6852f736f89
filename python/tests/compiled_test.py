"""Compiled functions, compared with the methods of the robot."""

import pickle

import numpy as np
import pytest

import limb


def states(robot, n, seed=1):
    random = np.random.default_rng(seed)
    return robot.random_configuration(seed, n), random.normal(size=(n, robot.nv)), random.normal(size=(n, robot.nv))


def near(found, expected, tolerance):
    scale = max(1.0, np.abs(expected).max())
    assert np.abs(np.asarray(found) - expected).max() < tolerance * scale


@pytest.fixture(scope="module", params=["arm7", "quadruped"])
def robot(request):
    return limb.load(f"builtin:{request.param}")


@pytest.fixture(scope="module")
def fast(robot):
    return robot.compile(["rnea", "bias", "gravity", "mass_matrix", "aba", "mass_inverse", "rnea_derivatives",
                          "aba_derivatives", "frame_poses", "frame_jacobians", "centroidal"],
                         frames=robot.frames[-2:])


# Compiled functions sum in another order: errors of some hundred eps relative to the result, 2^29 times as much in
# float. aba also has the condition number of the mass matrix.
DOUBLE, FLOAT = 1e-11, 2e-4


@pytest.mark.parametrize("n", [None, 1, 37])
def test_agrees_with_methods(robot, fast, n):
    Q, V, A = states(robot, n or 1)
    if n is None:
        Q, V, A = Q[0], V[0], A[0]
    tau = robot.rnea(Q, V, A)
    near(fast.rnea(Q, V, A), tau, DOUBLE)
    near(fast.bias(Q, V), robot.bias(Q, V), DOUBLE)
    near(fast.gravity(Q), robot.gravity(Q), DOUBLE)
    near(fast.mass_matrix(Q), robot.mass_matrix(Q), DOUBLE)
    near(fast.mass_inverse(Q), robot.mass_inverse(Q), 1e-9)
    near(fast.aba(Q, V, tau), A, 1e-8)
    frames = robot.frames[-2:]
    R, p = fast.frame_poses(Q)
    J = fast.frame_jacobians(Q)
    for k, frame in enumerate(frames):
        pose = robot.frame_pose(Q, frame)
        near(R[..., k, :, :], pose[..., :3, :3], DOUBLE)
        near(p[..., k, :], pose[..., :3, 3], DOUBLE)
        near(J[..., k, :, :], robot.frame_jacobian(Q, frame), DOUBLE)
    A_G, com = fast.centroidal(Q)
    near(A_G, robot.centroidal_matrix(Q), DOUBLE)
    near(com, robot.center_of_mass(Q), DOUBLE)
    dtau_dq, dtau_dv = fast.rnea_derivatives(Q, V, A)
    d = robot.rnea_derivatives(Q, V, A)
    near(dtau_dq, d.dtau_dq, DOUBLE)
    near(dtau_dv, d.dtau_dv, DOUBLE)


def test_float32(robot, fast):
    Q, V, A = (x.astype(np.float32) for x in states(robot, 50))
    tau = fast.rnea(Q, V, A)
    assert tau.dtype == np.float32
    near(tau, robot.rnea(Q, V, A), FLOAT)
    assert fast.rnea(Q[0], V[0], A[0]).dtype == np.float32
    near(fast.rnea(Q, V.astype(float), A), robot.rnea(Q, V.astype(float), A), DOUBLE)


def test_broadcast_out_and_errors(robot, fast):
    Q, V, A = states(robot, 20)
    near(fast.rnea(Q, V[0], A), robot.rnea(Q, V[0], A), DOUBLE)
    out = np.empty((20, robot.nv))
    assert fast.rnea(Q, V, A, out=out) is out
    near(out, robot.rnea(Q, V, A), DOUBLE)
    J = fast.frame_jacobians(Q)
    assert np.shares_memory(fast.frame_jacobians(Q, out=J), J)
    with pytest.raises(limb.Error, match="rnea: the number of arguments is 2, expected 3: q, v, a"):
        fast.rnea(Q, V)
    with pytest.raises(limb.Error, match=r"rnea: v has shape \(20, 3\), expected"):
        fast.rnea(Q, V[:, :3], A)
    with pytest.raises(limb.Error, match="rnea: out shares memory with v"):
        fast.rnea(Q, V, A, out=V)
    with pytest.raises(limb.Error, match="compile: no function is named 'rnia'.*rnea"):
        robot.compile(["rnia"])
    with pytest.raises(AttributeError, match="aba is not among the functions that were compiled: rnea"):
        robot.compile(["rnea"]).aba
    assert "compiled rnea(q, v, a) -> tau" in repr(fast.rnea)
    assert fast.rnea.arguments == ["q", "v", "a"] and fast.why_not_compiled == ""


def test_added_inertias(robot):
    """A different payload in each state, compared with the robot with that payload."""
    joint = robot.joints[-1]
    fast = robot.compile(["rnea"], added_inertias=[joint.name])
    Q, V, A = states(robot, 3)
    mass, com = np.array([0.0, 1.0, 2.5]), np.array([0.1, 0.0, 0.2])
    added = np.zeros((3, 10))
    added[:, 0] = mass
    added[:, 1:4] = mass[:, None] * com
    I = mass[:, None, None] * (com @ com * np.eye(3) - np.outer(com, com))
    added[:, 4:] = I[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    tau = fast.rnea(Q, V, A, added)
    near(tau[0], robot.rnea(Q[0], V[0], A[0]), DOUBLE)
    loaded = robot.attach_payload(joint.link, 2.5, com, np.zeros((3, 3)))
    near(tau[2], loaded.rnea(Q[2], V[2], A[2]), DOUBLE)


def test_nonzeros(robot):
    fast = robot.compile(["crba", "rnea_derivatives", "rnea"], nonzeros=True)
    Q, V, A = states(robot, 20)
    rows, cols = fast.crba.pattern()
    entries = fast.crba(Q)
    assert len(rows) <= entries.shape[1] < robot.nv**2  # rows are padded to whole cache lines
    assert not entries[:, len(rows):].any()
    M = np.zeros((20, robot.nv, robot.nv))
    M[:, rows, cols] = M[:, cols, rows] = entries[:, :len(rows)]
    near(M, robot.mass_matrix(Q), DOUBLE)
    near(fast.crba(Q[3]), entries[3], DOUBLE)
    for k, (found, expected) in enumerate(zip(fast.rnea_derivatives(Q, V, A), robot.rnea_derivatives(Q, V, A))):
        D = np.zeros((20, robot.nv, robot.nv))
        rows, cols = fast.rnea_derivatives.pattern(k)
        D[:, rows, cols] = found[:, :len(rows)]
        near(D, expected, DOUBLE)
    assert fast.rnea(Q, V, A).shape == (20, robot.nv)
    again = pickle.loads(pickle.dumps(fast))
    assert again.crba.pattern() == fast.crba.pattern()


def test_strategies_packed_matrices_and_moved_joints(robot):
    Q, V, A = states(robot, 20)
    joint = robot.joints[-1].name
    fast = robot.compile(["crba_packed", "rnea_derivatives", "rnea"], strategy="recursion")
    assert fast.rnea_derivatives.strategy()[0] == "recursion"
    upper = np.triu_indices(robot.nv)
    near(fast.crba_packed(Q), robot.mass_matrix(Q).transpose(0, 2, 1)[:, upper[1], upper[0]][:, np.lexsort(upper)],
         DOUBLE)
    near(fast.rnea_derivatives(Q, V, A)[0], robot.rnea_derivatives(Q, V, A).dtau_dq, DOUBLE)
    moved = robot.compile(["rnea"], shifted_joints=[joint], rotated_joints=[joint])
    assert moved.rnea.arguments == ["q", "v", "a", "shifted", "rotated"]
    zero = np.zeros((20, 3))
    near(moved.rnea(Q, V, A, zero, zero), robot.rnea(Q, V, A), DOUBLE)
    shifted = moved.rnea(Q, V, A, zero + 0.1, zero)
    assert np.abs(shifted - robot.rnea(Q, V, A)).max() > 1e-3
    straight = robot.compile(["rnea"], strategy="straight_line")
    if straight.why_not_compiled == "":
        assert straight.rnea.strategy() == ("straight_line", "straight_line", "requested")
    with pytest.raises(limb.Error, match="compile: strategy is 'loops', expected 'automatic', 'straight_line', "
                                         "'recursion' or 'split'"):
        robot.compile(["rnea"], strategy="loops")


def test_both_names_of_a_function(robot):
    Q, V, A = states(robot, 5)
    fast = robot.compile(["inverse_dynamics", "forward_dynamics", "crba", "inverse_dynamics_derivatives",
                          "aba_derivatives"])
    assert fast.functions == ("rnea", "aba", "crba", "rnea_derivatives", "aba_derivatives")
    for name, alias in (("inverse_dynamics", "rnea"), ("forward_dynamics", "aba"), ("mass_matrix", "crba"),
                        ("inverse_dynamics_derivatives", "rnea_derivatives"),
                        ("forward_dynamics_derivatives", "aba_derivatives")):
        assert getattr(fast, name) is getattr(fast, alias)
    near(fast.inverse_dynamics(Q, V, A), robot.inverse_dynamics(Q, V, A), DOUBLE)
    with pytest.raises(AttributeError, match="forward_dynamics is not among the functions that were compiled: rnea"):
        robot.compile(["inverse_dynamics"]).forward_dynamics


def test_pickle_and_interpreter(robot):
    Q, V, A = states(robot, 5)
    fast = robot.compile(["rnea"])
    again = pickle.loads(pickle.dumps(fast))
    assert np.array_equal(again.rnea(Q, V, A), fast.rnea(Q, V, A))
    slow = robot.compile("rnea", interpret=True)
    assert slow.why_not_compiled != ""
    near(slow.rnea(Q, V, A), fast.rnea(Q, V, A), DOUBLE)


def test_results_are_named_and_contiguous(robot):
    """With the names of the robot's own results; C-contiguous, and with order="F" as computed, the same numbers."""
    frames = [robot.frames[-1], robot.frames[0]]
    names = {"rnea_derivatives": ("dtau_dq", "dtau_dv"), "aba_derivatives": ("da_dq", "da_dv", "da_dtau"),
             "frame_poses": ("R", "p"), "centroidal": ("A_G", "com"), "operational_space": ("Lambda", "J_bar")}
    functions = [*names, "frame_jacobians", "crba", "rnea"]
    # One strategy: the automatic choice is by measurement, and strategies differ in the last bits.
    fast = robot.compile(functions, frames=frames[:1], strategy="straight_line")
    views = robot.compile(functions, frames=frames[:1], strategy="straight_line", order="F")
    assert set(names["rnea_derivatives"]) <= set(limb.results.InverseDerivatives._fields)
    assert set(names["aba_derivatives"]) <= set(limb.results.ForwardDerivatives._fields)
    assert set(names["operational_space"]) <= set(limb.results.OperationalSpace._fields)
    random = np.random.default_rng(2)
    for states in (None, 1, 5, 2000):
        lead = () if states is None else (states,)
        q = robot.random_configuration(1, states)
        v = random.normal(size=lead + (robot.nv,))
        for name in functions:
            call = getattr(fast, name)
            arrays = (q, v, v)[:len(call.arguments)]
            result, view = call(*arrays), getattr(views, name)(*arrays)
            if name in names:
                assert result._fields == view._fields == names[name] == tuple(call.results)
            else:
                result, view = (result,), (view,)
            for x, y in zip(result, view):
                assert x.flags.c_contiguous and x.shape[:len(lead)] == lead
                assert np.array_equal(x, y), name
    single = fast.rnea_derivatives(*(x.astype("f4") for x in (q, v, v)))
    assert single.dtau_dq.dtype == np.float32 and single.dtau_dq.flags.c_contiguous


def test_out_of_matrices(robot):
    fast = robot.compile("rnea_derivatives")
    q, v = robot.random_configuration(1, 3), np.zeros((3, robot.nv))
    expected = fast.rnea_derivatives(q, v, v)
    out = tuple(np.empty((3, robot.nv, robot.nv)) for _ in range(2))
    given = fast.rnea_derivatives(q, v, v, out=out)
    assert given.dtau_dq is out[0] and given.dtau_dv is out[1]
    assert np.array_equal(out[0], expected.dtau_dq) and np.array_equal(out[1], expected.dtau_dv)
    with pytest.raises(limb.Error, match="compile: order is 'K', expected 'C' or 'F'"):
        robot.compile("rnea", order="K")
