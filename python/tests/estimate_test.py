"""State estimation, compared with the true states of synthetic walks."""

import numpy as np
import pytest

import limb
from limb import estimate

FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]


@pytest.fixture(scope="module")
def dog():
    return limb.load("builtin:quadruped")


@pytest.fixture(scope="module")
def walk(dog):
    return estimate.synthetic_walk(dog, FEET, duration=5, rate=200, seed=3, gyro_bias=[0.01, -0.02, 0.005])


def run(dog, walk, **options):
    start = walk["q_true"][0]
    estimator = estimate.BaseEstimator(dog, FEET, position=start[:3], **options)
    return estimator, estimate.run(estimator, walk["t"], walk["gyro"], walk["accel"], walk["q"], walk["v"],
                                   walk["contact"])


@pytest.mark.parametrize("kind", ["inekf", "eskf"])
def test_error_is_within_three_sigma(dog, walk, kind):
    estimator, found = run(dog, walk, filter=kind)
    assert estimator.filter == kind
    truth = walk["q_true"][-len(found["t"]):, :3]
    error = found["p"] - truth
    length = np.linalg.norm(np.diff(truth[:, :2], axis=0), axis=1).sum()
    assert length > 0.5
    assert np.linalg.norm(error[-1]) < 0.02 * length
    # One of 370 normal samples is outside three standard deviations; neighbouring samples are correlated.
    assert np.mean(np.abs(error) < 3 * found["sigma"][:, :3] + 1e-4) > 0.97
    last = estimator.estimate()
    assert np.allclose(last.gyro_bias, [0.01, -0.02, 0.005], atol=0.01)
    assert np.allclose(last.R @ last.twist[:3], last.v, atol=1e-12)
    assert np.all(np.linalg.eigvalsh(last.covariance) > 0)
    counts = estimator.counts()
    assert counts["imu_samples"] == len(walk["t"])
    assert counts["contacts_made"] > 10
    assert len(estimator.feet()) == 4


@pytest.mark.parametrize("kind", ["inekf", "eskf"])
def test_smoothing_uses_the_whole_log(dog, walk, kind):
    _, filtered = run(dog, walk, filter=kind)
    estimator = estimate.BaseEstimator(dog, FEET, position=walk["q_true"][0][:3], filter=kind)
    smoothed = estimate.smooth(estimator, walk["t"], walk["gyro"], walk["accel"], walk["q"], walk["v"], walk["contact"])
    assert not estimator.ready
    assert np.array_equal(smoothed["t"], filtered["t"])
    # The last estimate has no future; before it, deviations are not larger.
    assert np.allclose(smoothed["p"][-1], filtered["p"][-1], rtol=0, atol=1e-12)
    assert np.all(smoothed["sigma"] <= filtered["sigma"] * (1 + 1e-9))
    middle = len(smoothed["t"]) // 2
    assert np.all(smoothed["sigma"][middle, 6:] < 0.9 * filtered["sigma"][middle, 6:])
    truth = walk["q_true"][-len(smoothed["t"]):, :3]
    assert np.mean(np.abs(smoothed["p"] - truth) < 3 * smoothed["sigma"][:, :3] + 1e-4) > 0.97
    with pytest.raises(limb.ComputationError, match="never at rest"):
        estimate.smooth(estimator, walk["t"][:3], walk["gyro"], walk["accel"], walk["q"], walk["v"], walk["contact"])


def test_fixes_and_reset(dog, walk):
    estimator, _ = run(dog, walk)
    t, p = estimator.estimate().t, walk["q_true"][-1][:3]
    assert estimator.position_fix(t, p, deviation=1e-3)
    assert np.allclose(estimator.estimate().p, p, atol=3e-3)
    assert not estimator.position_fix(t, p + [5, 0, 0], deviation=1e-3)
    assert estimator.yaw_fix(t, np.arctan2(estimator.estimate().R[1, 0], estimator.estimate().R[0, 0]))
    estimator.reset()
    assert not estimator.ready
    with pytest.raises(limb.Error, match="not available yet"):
        estimator.estimate()


@pytest.mark.parametrize("kind", ["yaw", "orientation", "velocity", "velocity in base axes", "position"])
def test_late_fixes_reduce_what_they_measure(dog, walk, kind):
    """Fixes of the truth of 0.1 s ago, ten per second."""
    def turned(q):
        x, y, z, w = q[3:7]
        return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])

    plain, _ = run(dog, walk)
    estimator = estimate.BaseEstimator(dog, FEET, position=walk["q_true"][0][:3])
    late, used = 20, []
    for k, t in enumerate(walk["t"]):
        estimator.imu(t, walk["gyro"][k], walk["accel"][k])
        estimator.legs(t, walk["q"][k], walk["v"][k], walk["contact"][k])
        if k < late or k % 20 or not estimator.ready:
            continue
        q, v, then = walk["q_true"][k - late], walk["v_true"][k - late], walk["t"][k - late]
        R = turned(q)
        if kind == "yaw":
            used.append(estimator.yaw_fix(then, np.arctan2(R[1, 0], R[0, 0]), deviation=1e-3))
        elif kind == "orientation":
            used.append(estimator.orientation_fix(then, R, deviation=1e-3))
        elif kind == "velocity":
            used.append(estimator.velocity_fix(then, R @ v[:3], deviation=2e-3))
        elif kind == "velocity in base axes":
            used.append(estimator.velocity_fix(then, v[:3], deviation=2e-3, in_base_axes=True))
        else:
            used.append(estimator.position_fix(then, q[:3], deviation=2e-3))
    # The first one may be of a time before there was an estimate.
    assert len(used) > 30 and np.mean(used) > 0.9
    part = {"yaw": slice(5, 6), "orientation": slice(3, 6), "position": slice(0, 3)}.get(kind, slice(6, 9))
    before, after = plain.estimate().covariance, estimator.estimate().covariance
    assert np.trace(after[part, part]) < np.trace(before[part, part])
    assert np.linalg.norm(estimator.estimate().p - walk["q_true"][-1][:3]) < 0.02


def test_contacts_by_force_and_by_probability(dog, walk):
    """Thresholds of forces, and positions of the feet with probabilities of contact instead of joints."""
    forces = np.where(walk["contact"] > 0, 70, 20)
    start = walk["q_true"][0][:3]
    results = []
    for contact, options in ((walk["contact"], {}), (forces, {"make_force": 50, "break_force": 40})):
        estimator = estimate.BaseEstimator(dog, FEET, position=start, **options)
        found = estimate.run(estimator, walk["t"], walk["gyro"], walk["accel"], walk["q"], walk["v"], contact)
        results.append(found["p"][-1])
    assert np.array_equal(*results)
    estimator = estimate.BaseEstimator(dog, FEET, position=start)
    for k, t in enumerate(walk["t"]):
        q = np.concatenate([[0, 0, 0, 0, 0, 0, 1], walk["q"][k][7:]])
        p = np.concatenate([dog.frame_pose(q, name)[:3, 3] for name in FEET])
        estimator.imu(t, walk["gyro"][k], walk["accel"][k])
        estimator.foot_positions(t, p, np.where(walk["contact"][k] > 0, 0.9, 0.1), deviation=1e-3)
    assert np.linalg.norm(estimator.estimate().p - walk["q_true"][-1][:3]) < 0.02
    assert estimator.counts()["contacts_made"] > 10


def test_errors(dog):
    with pytest.raises(limb.Error, match="FL_foot"):
        estimate.BaseEstimator(dog, ["FL_fot"])
    with pytest.raises(limb.Error, match="option is 'encoders', expected one of position, gyro_noise"):
        estimate.BaseEstimator(dog, FEET, encoders=1)
    with pytest.raises(limb.Error, match="'eskf' or 'inekf'"):
        estimate.BaseEstimator(dog, FEET, filter="ukf")
    with pytest.raises(limb.Error, match="root is not free"):
        estimate.BaseEstimator(limb.load("builtin:arm7"), ["tool"])
    estimator = estimate.BaseEstimator(dog, FEET)
    with pytest.raises(limb.Error, match="forces"):
        estimator.legs(0.0, dog.neutral(), np.zeros(18), [1.0])
    nan = [np.nan, 0, 0]
    assert not estimator.imu(0.0, nan, [0, 0, 9.81])
    assert estimator.counts()["imu_not_finite"] == 1
