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
