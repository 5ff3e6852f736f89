"""limb.legged: a quadruped that walks on its own state estimate, recordings, seeds in threads, errors."""

import concurrent.futures
import subprocess
import sys

import numpy as np
import pytest

import limb
from limb import control, legged

FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]
needs_qp = pytest.mark.skipif(not control.has_qp(), reason="limb was built without a QP solver")


@pytest.fixture(scope="module")
def robot():
    return legged.load_quadruped("builtin:quadruped")


def trot(robot, seed=1, until=5.0, **options):
    run = legged.LeggedRun(robot, plan=[(1.5, control.Gait.trot(), (0.5, 0, 0))], seed=seed, **options)
    assert run.run(until) and not run.fell and run.t == pytest.approx(until, abs=2e-3)
    return run


def test_robots(robot, quadruped):
    assert robot.feet == FEET and 0.2 < robot.height < 0.4 and robot.q[2] == robot.height
    feet = np.array([quadruped.frame_pose(robot.q, foot)[:3, 3] for foot in FEET])
    np.testing.assert_allclose(feet[:, 2], 0, atol=1e-9, equal_nan=False)
    own = legged.LeggedRobot(quadruped, FEET, {f"{leg}_{joint}": angle for leg in ("FL", "FR", "RL", "RR")
                                               for joint, angle in (("flexion", 0.8), ("knee", -1.6))})
    np.testing.assert_allclose(own.q[7:10], [0, 0.8, -1.6], equal_nan=False)
    for call, text in [(lambda: legged.LeggedRobot(quadruped, ["FL_fot"]), "closest: 'FL_foot'"),
                       (lambda: legged.LeggedRobot(quadruped, FEET, {"FL_kne": 1}), "FL_kne"),
                       (lambda: legged.LeggedRobot(quadruped, FEET, imu="hea"), "no frame is named 'hea'"),
                       (lambda: legged.load_quadruped("builtin:arm7"), "builtin:arm7|foot|legs")]:
        with pytest.raises(limb.Error, match=text):
            call()


def test_stands_without_a_plan(robot):
    """Also without a QP solver: joints are held by PD control."""
    run = legged.LeggedRun(robot)
    assert run.run(1.0)
    steps = run.record()
    weight = 9.81 * 14.98
    assert steps["foot_force"].shape == (len(steps["t"]), 4, 3)
    last = steps["t"] > 0.5  # sensor noise causes small motions
    assert steps["foot_force"][last, :, 2].sum(axis=1).mean() == pytest.approx(weight, rel=0.01)
    assert np.linalg.norm(steps["q"][-1, :2]) < 0.03 and np.abs(steps["v"][-1]).max() < 0.05


@needs_qp
def test_trots_on_its_own_estimate(robot):
    run = trot(robot)
    summary = run.summary(2.5)
    assert summary.mean_velocity[0] == pytest.approx(0.5, rel=0.15) and not summary.fell
    assert summary.fell_back == 0 and summary.unsolved == 0 and summary.beyond_three_sigma < 0.02
    assert summary.velocity_error < 0.03 and summary.position_error < 0.03 * summary.distance
    steps = run.record()
    t, estimate = steps["t"], steps["estimate"]
    assert (np.diff(t) > 0).all() and steps["q"].shape == (len(t), 19) and steps["tau"].shape == (len(t), 18)
    assert not steps["tau"][:, :6].any()
    # The error of the summary, computed from the arrays: body velocities rotated into world axes.
    late = t >= 2.5
    x, y, z, w = steps["q"][late, 3:7].T
    v_x = steps["v"][late, :3]
    R = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), 2 * (x * y + z * w),
                     1 - 2 * (x * x + z * z), 2 * (y * z - x * w), 2 * (x * z - y * w), 2 * (y * z + x * w),
                     1 - 2 * (x * x + y * y)], axis=-1).reshape(-1, 3, 3)
    error = estimate["v"][late] - np.einsum("nij,nj->ni", R, v_x)
    assert np.sqrt((error**2).sum(axis=1).mean()) == pytest.approx(summary.velocity_error, rel=1e-9)
    # The estimate differs from the true state, and is NaN before initialisation.
    assert np.isnan(estimate["p"][~estimate["ready"]]).all() and not np.isnan(estimate["p"][estimate["ready"]]).any()
    assert np.abs(steps["readings"]["joint_q"] - steps["q"][:, 7:]).max() > 1e-4
    assert steps["readings"]["gyro"].shape == steps["readings"]["accel"].shape == (len(steps["readings"]["imu_t"]), 3)
    assert len(steps["readings"]["imu_t"]) == pytest.approx(2 * len(t), abs=2)
    assert not steps["stands"][late].all() and steps["walks"][late].all() and not steps["fell_back"].any()
    assert steps["command"][late, 0].max() == 0.5
    normal, along, allowed = np.moveaxis(steps["foot_cone"], -1, 0)
    np.testing.assert_allclose(allowed, 0.8 * normal, atol=1e-12, equal_nan=False)
    np.testing.assert_allclose(normal, steps["foot_force"][:, :, 2], atol=1e-9, equal_nan=False)  # level ground
    assert (along <= allowed * (1 + 1e-9) + 1e-9).all() and normal.max() > 50


@needs_qp
def test_pushes_and_blocks(robot):
    ground = legged.block_ground(3, height=0.015)
    assert legged.ground_height(ground, 0.0, 0.0) == 0
    heights = [legged.ground_height(ground, x, 0.1) for x in np.arange(0.5, 4, 0.25)]
    assert 0.002 < np.std(heights) and np.abs(heights).max() <= 0.015
    run = trot(robot, until=6.0, ground=ground, pushes=[(3.0, (0, 4, 0)), (4.0, (2, 0, 0), 0.2)],
               locomotion={"clearance": 0.09}, noise={"encoder": 5e-4})
    y = run.record()["q"][:, 1]
    assert np.abs(y).max() > 0.02 and run.summary(2.5).distance > 1.0


@needs_qp
def test_threads_do_not_change_results(robot):
    """Runs release the GIL and share only the robot."""
    def end(seed):
        return trot(robot, seed, until=2.0).record()["q"][-1]

    one = [end(seed) for seed in range(1, 5)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        many = list(pool.map(end, range(1, 5)))
    assert np.array_equal(one, many)
    assert len({tuple(q) for q in one}) == 4


@needs_qp
def test_run_in_pieces(robot):
    whole = trot(robot, until=2.5)
    run = legged.LeggedRun(robot, plan=[(1.5, control.Gait.trot(), (0.5, 0, 0))])
    for t in (0.5, 1.0, 2.5):
        run.run(t)
    assert np.array_equal(run.record()["q"], whole.record()["q"])


def test_errors_name_the_argument(robot):
    trot_gait = control.Gait.trot()
    for call, text in [(lambda: legged.LeggedRun(robot, plan=[(1, trot_gait)]), r"plan is \(1, Gait.*expected \(begin, gait"),
                       (lambda: legged.LeggedRun(robot, plan=[(1, trot_gait, [1, 2])]), r"command of the plan has shape \(2,\)"),
                       (lambda: legged.LeggedRun(robot, plan=[(2, trot_gait, [0, 0, 0]), (1, trot_gait, [0, 0, 0])]),
                        "phases out of order"),
                       (lambda: legged.LeggedRun(robot, plan=[(1, control.Gait.stand(2), [0, 0, 0])]), "offsets of gait"),
                       (lambda: legged.LeggedRun(robot, pushes=[(1,)]), "pushes is"),
                       (lambda: legged.LeggedRun(robot, pushes=[(1, [1, 2])]), r"impulse of a push has shape \(2,\)"),
                       (lambda: legged.LeggedRun(robot, pushes=[(1, [1, 2, 3], 0)]), "duration of a push is 0"),
                       (lambda: legged.LeggedRun(robot, noise={"imu": 1}), "option is 'imu', expected one of gyro,"),
                       (lambda: legged.LeggedRun(robot, locomotion={"speed": 1}), "option is 'speed'"),
                       (lambda: legged.LeggedRun(robot, step=-1), "step is -1"),
                       (lambda: legged.LeggedRun(robot, step=0.0015), "a divisor of the control period"),
                       (lambda: legged.LeggedRun(robot).run(np.nan), "t_end is nan"),
                       (lambda: legged.block_ground(1, size=0), "size|positive|0")]:
        with pytest.raises(limb.Error, match=text):
            call()


INTERRUPTED = """
import sys, threading, os, signal
sys.path[:0] = {path!r}
import limb
signal.signal(signal.SIGINT, signal.default_int_handler)
run = limb.legged.LeggedRun(limb.legged.load_quadruped("builtin:quadruped"))
run.run(0.1)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    run.run(1e6)
except KeyboardInterrupt:
    print("interrupted", run.t > 0.1)
"""


def test_control_c_ends_a_run():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED.format(path=sys.path)], capture_output=True, text=True,
                          timeout=1200)
    assert done.stdout == "interrupted True\n", done.stderr
