"""State estimation of a floating base from an IMU, joint encoders and foot contacts."""

from collections.abc import Sequence
from typing import Any

import numpy
from numpy import ndarray as Array

from . import _limb
from ._arguments import named_arguments
from ._limb import synthetic_walk
from .results import BaseEstimate, FootStatus
from .types import Filter, Odometry

__all__ = ["BaseEstimate", "BaseEstimator", "FootStatus", "run", "smooth", "synthetic_walk"]


class BaseEstimator(_limb.BaseEstimator):
    """A Kalman filter over position, orientation, velocity, IMU biases and the feet in stance.

    `filter` is "inekf" (right-invariant) or "eskf" (error state); `odometry` uses the "position" or the
    "velocity" of the feet. Further options are those of EstimatorOptions in C++, by name: gyro_noise, accel_noise,
    encoder, contact_noise, gate, rest, yaw, position, ground_height, ...; an unknown name is an error that lists them.
    Noise is measured from these values on, unless `adapt=False`.

    Args:
        robot: The robot, on a free joint.
        feet: Frames of the feet.
        imu: Frame of the IMU; empty: the base.
        filter: "inekf" (right-invariant) or "eskf" (error state).
        odometry: Measurements of the legs: "position" or "velocity" of the feet.
        options: Further options, by name.
    """

    @named_arguments
    def __init__(self, robot: _limb.Robot, feet: Sequence[str], *, imu: str = "", filter: Filter = "inekf",
                 odometry: Odometry = "position", **options: Any) -> None:
        super().__init__(robot, list(feet), imu, filter, odometry, options)


@named_arguments
def run(estimator: BaseEstimator, t: Array, gyro: Array, accel: Array, q: Array, v: Array,
        forces: Array) -> dict[str, Array]:
    """Runs the estimator over a log with one row per instant.

    Args:
        estimator: The estimator.
        t: Times, `(n,)`, s.
        gyro: Angular velocities in sensor axes, `(n, 3)`, rad/s.
        accel: Specific forces in sensor axes, `(n, 3)`, m/s^2.
        q: Configurations, `(n, nq)`; the entries of the base are ignored.
        v: Velocities, `(n, nv)`; likewise.
        forces: Of the feet, `(n, feet)`, N.

    Returns:
        Arrays t, p, R, v, sigma (of p, R, v), starting with the first estimate.
    """
    rows: list[BaseEstimate] = []
    for k, now in enumerate(t):
        used = estimator.imu(now, gyro[k], accel[k])
        estimator.legs(now, q[k], v[k], forces[k])
        if used and estimator.ready:
            rows.append(estimator.estimate())
    return _arrays("run", rows)


@named_arguments
def smooth(estimator: BaseEstimator, t: Array, gyro: Array, accel: Array, q: Array, v: Array,
           forces: Array) -> dict[str, Array]:
    """Fixed-interval smoothing of a log with one row per instant: as run(), but each estimate uses the whole log. For
    offline use. The estimator must not have been used before, and does not change.

    Args:
        estimator: An estimator that was not used before.
        t: Times, `(N,)`, s.
        gyro: Angular velocities, `(N, 3)`, rad/s.
        accel: Specific forces, `(N, 3)`, m/s^2.
        q: Joint positions, `(N, nq)`.
        v: Joint velocities, `(N, nv)`.
        forces: Normal forces of the feet, `(N, feet)`, N.
    """
    return _arrays("smooth", estimator.smooth(t, gyro, accel, q, v, forces))


def _arrays(call: str, rows: list[BaseEstimate]) -> dict[str, Array]:
    if not rows:
        raise _limb.ComputationError(f"{call}: the robot was never at rest, so the filter could not be initialised")
    return {"t": numpy.array([row.t for row in rows]), "p": numpy.array([row.p for row in rows]),
            "R": numpy.array([row.R for row in rows]), "v": numpy.array([row.v for row in rows]),
            "sigma": numpy.sqrt(numpy.array([numpy.diag(row.covariance) for row in rows]))}
