"""Whole-body control and locomotion in limb.control: equations of motion, documented values, runs on rigid ground."""

import copy
import gc
import pickle
import resource
import threading
import time

import numpy as np
import pytest

import limb
from limb import control
from limb.sim import Ground, Simulation, World

FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]
needs_qp = pytest.mark.skipif(not control.has_qp(), reason="limb was built without a QP solver")


def stance(robot, radius=0.0):
    q = np.r_[0, 0, 0, 0, 0, 0, 1, np.tile([0, 0.8, -1.6], 4)]
    q[2] = radius - robot.frame_pose(q, FEET[0])[2, 3]
    return q


@pytest.fixture
def q(quadruped):
    return stance(quadruped)


def on_ground(robot, q, *, period=0.0, friction=0.8, pushes=()):
    world = World(robot)
    world.set_contact(Ground.plane(friction=friction), feet=FEET)
    for begin, force in pushes:
        world.add_push("trunk", begin=begin, end=begin + 0.1, force=force)
    simulation = Simulation(world, control_period=period)
    simulation.set_state(q)
    return simulation


@needs_qp
def test_documented_values(quadruped, q):
    """The values that the C++ program in docs/whole_body.md prints."""
    body = control.WholeBody(quadruped, FEET)
    body.update(q, np.zeros(18))
    targets = body.targets()
    tau = body.solve(targets)
    assert round(body.forces[:, 2].sum(), 1) == 147.0 and round(tau[8], 2) == 4.94
    targets.mass_center = [0, 0, 2]
    body.solve(targets)
    assert round(body.foot_forces[:, 2].sum(), 1) == 176.1
    targets.mass_center = [100, 0, 0]
    body.solve(targets)
    f = body.forces.sum(0)
    assert body.report.status == "solved" and round(f[0] / f[2], 3) == 0.424


@needs_qp
def test_equations_of_motion_hold(quadruped, q):
    """M a + h = tau + J^T f with M, h and J of limb.Robot at random states; torques are within their limits."""
    rng = np.random.default_rng(5)
    body = control.WholeBody(quadruped, FEET, friction=0.5, force_weight=1e-4, qp={"tolerance": 1e-8})
    weight = quadruped.mass * 9.81
    for case in range(12):
        now = quadruped.integrate(q, 0.15 * rng.normal(size=18))
        v = 0.3 * rng.normal(size=18)
        body.update(now, v)
        np.testing.assert_allclose(body.mass_center, quadruped.center_of_mass(now), atol=1e-12, equal_nan=False)
        np.testing.assert_allclose(body.mass_matrix, quadruped.mass_matrix(now), atol=1e-12, equal_nan=False)
        targets = body.targets()
        targets.stands = [case % 3 != 0, True, True, True]
        targets.swing[0, :3] = rng.normal(size=3)
        targets.mass_center = rng.normal(size=3)
        targets.turn = rng.normal(size=3)
        tau = body.solve(targets)
        assert body.report.status == "solved" and not body.report.fell_back
        assert not tau[:6].any() and (np.abs(tau) <= quadruped.limits.effort + 1e-6 * weight).all()
        left = quadruped.mass_matrix(now) @ body.acceleration + quadruped.bias(now, v)
        right = tau.copy()
        for foot, f in zip(FEET, body.foot_forces):
            J = quadruped.frame_jacobian(now, foot, "local_world_aligned")[:3]
            right += J.T @ f
        np.testing.assert_allclose(left, right, atol=2e-7 * weight, equal_nan=False)
        f = body.foot_forces
        assert (np.linalg.norm(f[:, :2], axis=1) <= 0.5 * f[:, 2] + 1e-6 * weight).all()
        if case % 3 == 0:
            assert np.abs(f[0]).max() < 1e-6 * weight


@needs_qp
def test_fall_back_is_reported(quadruped, q):
    """Invalid targets: the torques are from the fall-back."""
    body = control.WholeBody(quadruped, FEET)
    body.update(q, np.zeros(18))
    targets = body.targets()
    targets.mass_center = [np.nan, 0, 0]
    tau = body.solve(targets)
    assert body.report.status == "not finite" and body.report.fell_back and np.isfinite(tau).all() and tau.any()


@needs_qp
@pytest.mark.parametrize("native", [True, False])
def test_balance_rejects_pushes(quadruped, q, native):
    pushes = [(0.3, [50, 0, 0]), (0.9, [0, -50, 0])]
    simulation = on_ground(quadruped, q, pushes=pushes)
    balance = control.Balance(quadruped, FEET)
    reference = balance.reference_at(q)
    np.testing.assert_allclose(reference.mass_center, quadruped.center_of_mass(q), atol=1e-12, equal_nan=False)
    outside = [0.0]

    def step(t, now, v):
        tau = balance.step(now, v, reference)
        report = balance.report
        assert report.status == "solved"
        outside[0] = np.maximum(outside[0], report.outside_cone)
        return tau

    simulation.set_controller(balance.controller(reference) if native else step)
    motion = simulation.record(1.8)
    away = np.abs(motion["q"][:, :3] - q[:3]).max(axis=0)
    assert 0.005 < away[:2].min() and away.max() < 0.03  # moved, and balanced
    np.testing.assert_allclose(simulation.q, q, atol=2e-3, equal_nan=False)
    assert outside[0] < 2e-6 * quadruped.mass * 9.81
    assert balance.report.status == "solved" and motion["contact"]["touching"][-1] == 4


@needs_qp
def test_balance_tracks_a_squat(quadruped, q):
    simulation = on_ground(quadruped, q)
    balance = control.Balance(quadruped, FEET)
    reference = balance.reference_at(q)
    home, depth, rate = reference.mass_center.copy(), 0.03, 2 * np.pi
    error = []

    def step(t, now, v):
        reference.mass_center = home - [0, 0, depth / 2 * (1 - np.cos(rate * t))]
        reference.mass_center_velocity = -np.array([0, 0, depth / 2 * rate * np.sin(rate * t)])
        reference.mass_center_acceleration = -np.array([0, 0, depth / 2 * rate**2 * np.cos(rate * t)])
        error.append(np.abs(quadruped.center_of_mass(now) - reference.mass_center).max())
        return balance.step(now, v, reference)

    simulation.set_controller(step)
    simulation.run(1.0)
    assert np.max(error) < 1e-3


def trot(robot, q, seconds, native=True, forward=0.5):
    simulation = on_ground(robot, q, period=2e-3)
    walk = control.Locomotion(robot, FEET, q)
    command = np.array([[0.3, 0, 0, 0], [0.8, forward, 0, 0]])
    seen = []

    def step(t, now, v):
        fraction = np.clip((t - 0.3) / 0.5, 0, 1)
        tau = walk.step(now, v, [simulation.touches(foot) for foot in FEET], fraction * command[1, 1:])
        seen.append((walk.stands, walk.report.whole_body.fell_back))
        return tau

    simulation.set_controller(walk.controller(command) if native else step)
    simulation.run(0.3)
    walk.set_gait(control.Gait.trot())
    motion = simulation.record(seconds, period=0.02)
    return simulation, walk, motion, seen


@needs_qp
def test_trot_follows_the_command(quadruped, q):
    simulation, walk, motion, _ = trot(quadruped, q, 3.3)
    t, x = motion["t"], motion["q"]
    i, j = np.searchsorted(t, [1.3, 3.29])
    assert (x[j, 0] - x[i, 0]) / (t[j] - t[i]) == pytest.approx(0.5, rel=0.06)
    assert np.abs(x[:, 1]).max() < 0.06 and np.abs(x[:, 2] - q[2]).max() < 0.02 and x[:, 6].min() > 0.998
    report = walk.report
    assert report.whole_body.status == "solved" and report.mpc_status == "solved" and 0 < report.total_us
    assert walk.gait.name == "trot" and walk.footholds.shape == (4, 3) and walk.desired_mass_center[0] > 0.5
    # Two feet are in stance most of the time; forces are in their cones.
    assert 1.9 < motion["contact"]["touching"][20:].mean() < 3
    for foot in FEET:
        f = motion["contact"]["force"][foot]
        assert (np.linalg.norm(f[:, :2], axis=1) <= 0.8 * f[:, 2] * (1 + 1e-9) + 1e-9).all()


@needs_qp
def test_native_and_python_controllers_agree(quadruped, q):
    one, _, _, _ = trot(quadruped, q, 0.7)
    two, _, _, seen = trot(quadruped, q, 0.7, native=False)
    np.testing.assert_allclose(one.q, two.q, rtol=0, atol=1e-12, equal_nan=False)  # the ramp is rounded differently
    swings = {tuple(stands) for stands, _ in seen}
    assert (True, False, False, True) in swings and (False, True, True, False) in swings
    assert not any(fell_back for _, fell_back in seen)


@needs_qp
def test_turning_and_sideways(quadruped, q):
    simulation = on_ground(quadruped, q, period=2e-3)
    walk = control.Locomotion(quadruped, FEET, q, clearance=0.06, whole_body={"friction": 0.5}, mpc={"steps": 8})
    walk.set_gait(control.Gait(0.5, 0.6, [0, 0.5, 0.5, 0], "slow trot"))
    simulation.set_controller(walk.controller([[0, 0, 0, 0], [0.5, 0, 0.1, 0.5]]))
    motion = simulation.record(2.5)
    yaw = 2 * np.arctan2(simulation.q[5], simulation.q[6])
    assert yaw == pytest.approx(0.5 * (2.5 - 0.25), rel=0.15)
    assert np.abs(motion["q"][:, 2] - q[2]).max() < 0.03


@needs_qp
def test_runs_release_the_gil_and_reports_can_be_read(quadruped, q):
    """Another thread reads reports during a native run. On a busy machine it may not get to run during the first."""
    for _ in range(50):
        simulation = on_ground(quadruped, q, period=2e-3)
        walk = control.Locomotion(quadruped, FEET, q)
        walk.set_gait(control.Gait.trot())
        simulation.set_controller(walk.controller([0.2, 0, 0]))
        thread = threading.Thread(target=simulation.run, args=(4.0,))
        thread.start()
        forces = set()
        while thread.is_alive():
            assert walk.report.whole_body.status == "solved" and walk.foot_forces.shape == (4, 3)
            forces.add(walk.foot_forces.tobytes())
            time.sleep(1e-3)
        thread.join()
        assert simulation.t == pytest.approx(4.0)
        if len(forces) > 10:  # different steps of one run, not its start and end only
            return
    pytest.fail(f"only {len(forces)} different steps seen during a run")


def test_gaits():
    trot_gait = control.Gait.trot(period=0.4, duty=0.5)
    assert trot_gait.stance_time == trot_gait.swing_time == 0.2 and trot_gait.name == "trot"
    for foot, other in ((0, 3), (1, 2)):
        for t in np.linspace(0, 1.6, 41):
            assert trot_gait.phase(foot, t) == trot_gait.phase(other, t)
    assert [trot_gait.phase(foot, 0.1).stands for foot in range(4)] in ([True, False, False, True], [False, True, True, False])
    assert trot_gait.phase(0, 0.1).left == pytest.approx(0.1)
    stand = control.Gait.stand(2)
    assert stand.phase(1, 3.0).stands and stand.phase(1, 3.0).left == np.inf
    walk = control.Gait.walk()
    assert all(sum(walk.phase(foot, t).stands for foot in range(4)) >= 3 for t in np.linspace(0, 1, 101))
    for again in (pickle.loads(pickle.dumps(walk)), copy.copy(walk)):
        assert (again.name, again.period, again.duty, again.offsets) == (walk.name, walk.period, walk.duty, walk.offsets)
    with pytest.raises(limb.Error, match="duty of gait 'gait' is 0, expected above 0"):
        control.Gait(1, 0, [0, 0.5])
    with pytest.raises(limb.Error, match="period of gait 'gait' is -1"):
        control.Gait(-1, 0.5, [0, 0.5])
    with pytest.raises(limb.Error, match="offset of gait 'gait' is 1.5"):
        control.Gait(1, 0.5, [0, 1.5])
    with pytest.raises(limb.Error, match="foot is 4, expected 0 to 3"):
        walk.phase(4, 0)


@needs_qp
def test_soles(quadruped):
    """A humanoid balances on two soles of four points each."""
    robot = limb.load("builtin:humanoid", base="free")
    index = {joint.name: joint.q_index for joint in robot.joints}
    q = robot.neutral()
    for side in ("left", "right"):
        q[index[side + "_hip_pitch"]], q[index[side + "_knee"]], q[index[side + "_ankle_pitch"]] = -0.35, 0.7, -0.35
    q[2] = -robot.frame_pose(q, "left_sole")[2, 3]
    corners = [[0.13, 0.035, 0], [0.13, -0.035, 0], [-0.07, 0.035, 0], [-0.07, -0.035, 0]]
    balance = control.Balance(robot, {"left_sole": corners, "right_sole": corners})
    reference = balance.reference_at(q)
    reference.mass_center[:2] = [0.03, 0]
    world = World(robot)
    shapes = []
    for sole in ("left_sole", "right_sole"):
        for corner in corners:
            pose = np.eye(4)
            pose[:3, 3] = corner
            shapes.append(limb.sim.ContactShape(robot, sole, "sphere", 0, pose=pose))
    world.set_contact(Ground.plane(friction=0.8), shapes)
    simulation = Simulation(world)
    simulation.set_state(q)
    simulation.set_controller(balance.controller(reference))
    simulation.run(1.5)
    assert balance.report.status == "solved" and balance.forces.shape == (8, 3)
    np.testing.assert_allclose(robot.center_of_mass(simulation.q)[:2], [0.03, 0], atol=5e-3, equal_nan=False)
    assert simulation.touches("left_sole") and simulation.touches("right_sole")


@needs_qp
def test_errors_name_the_argument(quadruped, q):
    body = control.WholeBody(quadruped, FEET)
    balance = control.Balance(quadruped, FEET)
    walk = control.Locomotion(quadruped, FEET, q)
    wrong = body.targets()
    wrong.normals[2] = [0, 0, 2]
    short = body.targets()
    short.stands = [True] * 3
    twisted = balance.reference_at(q)
    twisted.R = np.ones((3, 3))
    body.update(q, np.zeros(18))
    fixed = limb.load("builtin:2r")
    for call, text in [(lambda: control.WholeBody(quadruped, FEET).solve(body.targets()), "no state yet"),
                       (lambda: body.update(q[:5], np.zeros(18)), r"q has shape \(5,\), expected \(19,\)"),
                       (lambda: body.solve(wrong), "normals is of length 2, expected unit vectors"),
                       (lambda: body.solve(short), r"stands has shape \(3,\), expected \(4,\)"),
                       (lambda: control.WholeBody(quadruped, FEET, frction=1), "option is 'frction', expected one of friction,"),
                       (lambda: control.WholeBody(quadruped, FEET, friction="high"), "friction is 'high', expected a number"),
                       (lambda: control.WholeBody(quadruped, FEET, cone_faces=5), "cone_faces is 5, expected an even number"),
                       (lambda: control.WholeBody(quadruped, FEET, qp=3), "qp is 3, expected a dict"),
                       (lambda: control.WholeBody(quadruped, FEET, qp={"tol": 3}), "option is 'tol'"),
                       (lambda: control.WholeBody(quadruped, "FL_foot"), "feet is a string"),
                       (lambda: control.WholeBody(quadruped, ["FL_fot"]), "closest: 'FL_foot'"),
                       (lambda: control.WholeBody(quadruped, []), "feet is empty"),
                       (lambda: control.WholeBody(quadruped, {"FL_foot": [1, 2, 3]}), r"points of a foot has shape \(3,\)"),
                       (lambda: control.WholeBody(quadruped, {"FL_foot": np.zeros((2, 3))}), "points of a foot is 2"),
                       (lambda: control.Balance(quadruped, FEET, turn=3), r"turn has shape \(\), expected \(2,\)"),
                       (lambda: control.Balance(quadruped, FEET, turn=(-3, 1)), "turn is -3"),
                       (lambda: balance.step(q, np.zeros(18), twisted), "R is not a rotation"),
                       (lambda: control.Locomotion(fixed, ["tool"], [0, 0]), "a robot on a free base"),
                       (lambda: control.Locomotion(quadruped, FEET, q, mpc_period=0.003), "a multiple of the control period"),
                       (lambda: walk.step(q, np.zeros(18), [True]), r"contact has shape \(1,\), expected \(4,\)"),
                       (lambda: walk.step(q, np.zeros(18), [True] * 4, [1]), r"command has shape \(1,\), expected \(3,\)"),
                       (lambda: walk.set_gait(control.Gait.stand(2)), "offsets of gait"),
                       (lambda: walk.controller([[0, 1], [2, 3]]), r"command has shape \(2, 2\), expected \(n, 4\)"),
                       (lambda: walk.controller([[1, 0, 0, 0], [0, 0, 0, 0]]), "expected increasing times"),
                       (lambda: on_ground(quadruped, q).set_controller(walk.controller()),
                        "control_period is 0.001 s, expected that of the controller, 0.002 s"),
                       (lambda: Simulation(World(quadruped), control_period=2e-3).set_controller(walk.controller()),
                        "no ground to walk on"),
                       (lambda: Simulation(World(fixed)).set_controller(balance.controller(balance.reference_at(q))),
                        "controller is for a robot of nq=19, nv=18, expected nq=2, nv=2")]:
        with pytest.raises(limb.Error, match=text):
            call()
    with pytest.raises(AttributeError, match="stands"):
        body.solve("stand")


def test_error_without_the_solver(quadruped, q):
    if control.has_qp():
        pytest.skip("limb was built with the solver")
    with pytest.raises(limb.Error, match="built without a solver of quadratic programs"):
        control.WholeBody(quadruped, FEET)


@needs_qp
def test_controllers_outlive_their_names(quadruped, q):
    """A simulation keeps its controller alive, and the controller its robot."""
    robot = pickle.loads(pickle.dumps(quadruped))
    simulation = on_ground(robot, q)
    balance = control.Balance(robot, FEET)
    simulation.set_controller(balance.controller(balance.reference_at(q)))
    del balance, robot
    gc.collect()
    simulation.run(0.05)
    np.testing.assert_allclose(simulation.q, q, atol=1e-3, equal_nan=False)


@needs_qp
def test_memory_does_not_grow(quadruped, q):
    def once():
        balance = control.Balance(quadruped, FEET)
        reference = balance.reference_at(q)
        walk = control.Locomotion(quadruped, FEET, q)
        for _ in range(20):
            balance.step(q, np.zeros(18), reference), balance.report
            walk.step(q, np.zeros(18), [True] * 4), walk.report, walk.controller()

    for _ in range(10):
        once()
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(40):
        once()
    gc.collect()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4000  # kB; leaking one program per iteration would be more
