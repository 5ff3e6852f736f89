"""Controllers, compared with formulas and SciPy, and in closed loop."""

import numpy as np
import pytest

import limb
from limb import control


@pytest.fixture(scope="module")
def arm():
    return limb.load("builtin:arm7")


Q = np.array([0.2, 0.6, 0.1, -1.4, 0.2, 1.1, 0.3])
V = np.array([0.1, -0.2, 0.3, 0.1, -0.1, 0.2, 0.4])


def run(robot, controller, q, seconds, dt=1e-3):
    """Semi-implicit Euler."""
    v = np.zeros(robot.nv)
    for _ in range(int(seconds / dt)):
        a = robot.aba(q, v, controller(q, v))
        v = v + dt * a
        q = robot.integrate(q, dt * v)
    return q, v


def test_pd_formula(arm):
    tau = control.JointPd(arm, 40, 5).step(Q, V, Q + 0.1)
    assert np.allclose(tau, 40 * 0.1 - 5 * V + arm.gravity(Q), atol=1e-12)
    plain = control.JointPd(arm, 40, 5, gravity=False).step(Q, V, Q + 0.1)
    assert np.allclose(plain, 40 * 0.1 - 5 * V, atol=1e-12)


def test_computed_torque_gives_the_acceleration(arm):
    a_ref = np.linspace(-1, 1, 7)
    controller = control.ComputedTorque(arm, 2, 1)
    tau = controller.step(Q, V, Q + 0.01, V - 0.02, a_ref)
    w = 4 * np.pi
    assert controller.saturated == 0
    assert np.allclose(arm.aba(Q, V, tau), a_ref + w * w * 0.01 - 2 * w * 0.02, atol=1e-9)


def test_impedance_has_the_commanded_stiffness(arm):
    stiffness = np.array([400, 600, 900, 30, 40, 25])
    X = arm.frame_pose(Q, "tool")
    controller = control.CartesianImpedance(arm, "tool", stiffness, damping_ratio=1, posture=Q)
    force = np.array([6.0, -4.0, 5.0])

    def torque(q, v):
        return controller.step(q, v, X) + arm.frame_jacobian(q, "tool", "local_world_aligned")[:3].T @ force

    q, _ = run(arm, torque, Q, 2.5)
    moved = arm.frame_pose(q, "tool")[:3, 3] - X[:3, 3]
    assert np.allclose(moved, force / stiffness[:3], rtol=0.02, atol=0)


def test_operational_space_decouples(arm):
    X = arm.frame_pose(Q, "tool")
    controller = control.OperationalSpaceControl(arm, "tool", 2, 1, threshold=1e-3)
    J = arm.frame_jacobian(Q, "tool", "local_world_aligned")
    base = J @ arm.aba(Q, V, controller.step(Q, V, X))
    for i, pull in enumerate(np.eye(6)):
        change = J @ arm.aba(Q, V, controller.step(Q, V, X, np.zeros(6), pull)) - base
        assert np.allclose(change, np.eye(6)[i], atol=1e-9)
    assert controller.Lambda.shape == (6, 6)


def test_hybrid_force_feedforward(arm):
    X = arm.frame_pose(Q, "tool")
    controller = control.HybridForceControl(arm, "tool", ["z"], force_ki=0, posture=Q)
    f_ref = np.array([0, 0, -20.0, 0, 0, 0])
    measured = np.r_[X[:3, :3].T @ [0, 0, 20.0], 0, 0, 0]  # the reaction of the table is equal
    tau = controller.step(Q, np.zeros(7), X, f_ref, measured)
    J = arm.frame_jacobian(Q, "tool", "local_world_aligned")
    assert np.allclose(tau, arm.gravity(Q) + J.T @ f_ref, atol=1e-9)


def test_pid_integral_compensates_gravity():
    robot = limb.load("builtin:2r")
    pid = control.JointPid(robot, [600, 120], [90, 20], [1200, 300])
    goal = np.array([0.8, -0.2])
    q, _ = run(robot, lambda q, v: pid.step(q, v, goal), np.array([0.3, 0.4]), 6)
    assert np.allclose(q, goal, atol=1e-5)
    assert np.allclose(pid.integral, robot.gravity(q), rtol=1e-3)
    pid.reset()
    assert not pid.integral.any()


def test_riccati_against_scipy():
    linalg = pytest.importorskip("scipy.linalg", reason="scipy is not installed")
    random = np.random.default_rng(3)
    for n, m in ((2, 1), (6, 2), (12, 3), (20, 4)):
        A = 1.7 / np.sqrt(n) * random.uniform(-1, 1, (n, n))
        B = random.uniform(-1, 1, (n, m))
        C = random.uniform(-1, 1, (n, n))
        Q_cost, R = C.T @ C, np.eye(m) * 0.7
        X, K = control.solve_riccati(A, B, Q_cost, R)
        expected = linalg.solve_continuous_are(A, B, Q_cost, R)
        # Measured error, from the conditioning of the equation: at most 1e-11.
        assert np.allclose(X, expected, rtol=0, atol=1e-9 * np.linalg.norm(expected))
        assert np.allclose(K, B.T @ X / 0.7, atol=1e-9 * np.linalg.norm(K))
        X, _ = control.solve_discrete_riccati(A, B, Q_cost, R)
        expected = linalg.solve_discrete_are(A, B, Q_cost, R)
        assert np.allclose(X, expected, rtol=0, atol=1e-9 * np.linalg.norm(expected))


def test_lqr_stabilises_the_cartpole():
    robot = limb.load("builtin:cartpole")
    up = np.array([0, np.pi])
    lqr = control.Lqr(robot, up, 1, 0.1)
    q, v = run(robot, lqr.step, np.array([0.1, np.pi - 0.2]), 15)
    assert np.allclose(q, up, atol=1e-3) and np.allclose(v, 0, atol=1e-3)
    A, B, tau = control.linearize(robot, up)
    assert A.shape == (4, 4) and B.shape == (4, 1) and not tau.any()
    assert np.linalg.eigvals(A - B @ lqr.K).real.max() < 0


def test_path_is_minimum_jerk(arm):
    path = control.JointPath(arm, [Q, Q + 0.5], [2.0])
    assert path.duration == 2
    q, v, a = path.sample(1.0)
    assert np.allclose(q, Q + 0.25) and np.allclose(v, 15 / 8 * 0.5 / 2) and np.allclose(a, 0, atol=1e-12)


def test_limits_and_errors(arm):
    controller = control.JointPd(arm, 1e6, 0)
    tau = controller.step(Q, V, Q + 1)
    assert controller.saturated == 7 and np.allclose(np.abs(tau), [320, 320, 176, 176, 110, 40, 40])
    tau = control.JointPd(arm, 1e6, 0, limits=3).step(Q, V, Q + 1)
    assert np.allclose(np.abs(tau), 3)
    with pytest.raises(limb.Error, match="q has 3 entries, expected 7"):
        controller.step(np.ones(3), V, Q)
    with pytest.raises(limb.Error, match="is not finite"):
        controller.step(np.full(7, np.nan), V, Q)
    with pytest.raises(limb.Error, match="closest: 'tool'"):
        control.OperationalSpaceControl(arm, "tol")
    with pytest.raises(limb.Error, match="stiffness has 3 entries, expected 6"):
        control.CartesianImpedance(arm, "tool", [1, 2, 3])
    with pytest.raises(limb.ComputationError, match="joint 'hinge' has no motor"):
        control.linearize(limb.load("builtin:cartpole"), [0, 1])
    with pytest.raises(limb.ComputationError, match="not stabilisable"):
        control.solve_riccati(np.diag([1.0, -1.0]), [[0.0], [1.0]], np.eye(2), np.eye(1))


def controllers(arm):
    """Each joint and frame controller, native and as a Python function."""
    X = arm.frame_pose(Q, "tool")
    X[1, 3] += 0.02
    hold = Q + 0.05
    path = control.JointPath(arm, [Q, hold], [0.2])
    f_ref = np.array([0, 0, -5.0, 0, 0, 0])
    push = np.array([0, 0, 4.0, 0.1, 0, 0])  # wrench applied below, in tool axes

    kp = np.array([200, 200, 100, 100, 5, 5, 1])  # in proportion to the joint inertias
    kd = kp / 20

    def make(kind):
        return {"pd": lambda: control.JointPd(arm, kp, kd), "pid": lambda: control.JointPid(arm, kp, kd, kp),
                "computed torque": lambda: control.ComputedTorque(arm), "path": lambda: control.ComputedTorque(arm),
                "joint impedance": lambda: control.JointImpedance(arm, kp, kd),
                "operational space": lambda: control.OperationalSpaceControl(arm, "tool", posture=Q),
                "cartesian impedance": lambda: control.CartesianImpedance(arm, "tool", 300, posture=Q),
                "hybrid force": lambda: control.HybridForceControl(arm, "tool", ["z"], posture=Q)}[kind]()

    def calls(kind):
        native, python = make(kind), make(kind)
        if kind == "path":
            return native, native.controller(path), lambda t, q, v: python.step(q, v, *path.sample(t))
        if kind in ("operational space", "cartesian impedance"):
            return native, native.controller(X), lambda t, q, v: python.step(q, v, X)
        if kind == "hybrid force":  # no wrench is measured in the first step
            return native, native.controller(X, f_ref), lambda t, q, v: python.step(q, v, X, f_ref, push if t > 0 else 0 * push)
        return native, native.controller(hold), lambda t, q, v: python.step(q, v, hold)

    return calls, push


@pytest.mark.parametrize("kind", ["pd", "pid", "computed torque", "path", "joint impedance", "operational space",
                                  "cartesian impedance", "hybrid force"])
def test_native_controllers_agree(arm, kind):
    calls, push = controllers(arm)
    law, native, python = calls(kind)
    ends = []
    for controller in (native, python):
        world = limb.sim.World(arm)
        world.add_push("tool", begin=-1, end=9, force=push[:3], moment=push[3:], axes="frame")
        simulation = limb.sim.Simulation(world)
        simulation.set_state(Q)
        simulation.set_controller(controller)
        simulation.run(0.3)
        ends.append(np.r_[simulation.q, simulation.v])
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-12, equal_nan=False)
    assert np.abs(ends[0][:7] - Q).max() > 1e-3 and law.saturated == 0


def test_native_regulator():
    robot = limb.load("builtin:cartpole")
    simulation = limb.sim.Simulation(limb.sim.World(robot))
    simulation.set_state([0.1, np.pi - 0.2])
    simulation.set_controller(control.Lqr(robot, [0, np.pi], 1, 0.1).controller())
    simulation.run(15)
    assert np.allclose(simulation.q, [0, np.pi], atol=1e-3)


def test_native_controller_errors(arm):
    simulation = limb.sim.Simulation(limb.sim.World(arm))
    with pytest.raises(limb.Error, match="nq=2, nv=2, expected nq=7, nv=7"):
        simulation.set_controller(control.JointPd(limb.load("builtin:2r"), 1, 1).controller([0, 0]))
    with pytest.raises(limb.Error, match="reference has 3 entries, expected 7"):
        control.JointPd(arm, 1, 1).controller([0, 0, 0])
    simulation.set_controller(control.JointPd(arm, 1, 1).controller([np.nan] * 7))
    with pytest.raises(limb.Error):
        simulation.run(0.1)
    slow = limb.sim.Simulation(limb.sim.World(arm), control_period=0.002)
    for law in (control.JointPid(arm, 1, 1, 1).controller(Q),
                control.HybridForceControl(arm, "tool", ["z"]).controller(arm.frame_pose(Q, "tool"), np.zeros(6))):
        with pytest.raises(limb.Error, match="control_period is 0.002 s, expected that of the controller, 0.001 s"):
            slow.set_controller(law)  # its integrals would be wrong by a factor of two
