"""Where a walking robot's base is, from its inertial sensor, its joints and its feet."""

from collections.abc import Sequence

import numpy

from . import _limb
from ._limb import synthetic_walk
from .results import BaseEstimate, FootStatus

__all__ = ["BaseEstimate", "BaseEstimator", "FootStatus", "run", "synthetic_walk"]


class BaseEstimator(_limb.BaseEstimator):
    """A Kalman filter over position, orientation, velocity, biases and standing feet.

    `filter` is "inekf" (right-invariant) or "eskf" (error state); `odometry` uses feet by "position" or by
    "velocity". Further options are those of EstimatorOptions in C++ by name: gyro_noise, accel_noise, encoder,
    contact_noise, gate, rest, yaw, position, ground_height, ...; a wrong name is an error that lists them.
    """

    def __init__(self, robot, feet: Sequence[str], *, imu: str = "", filter: str = "inekf",
                 odometry: str = "position", **options):
        super().__init__(robot, list(feet), imu, filter, odometry, options)


def run(estimator: BaseEstimator, t, gyro, accel, q, v, forces) -> dict[str, numpy.ndarray]:
    """A whole log at once: rows are instants. Returns arrays t, p, R, v, sigma (of p, R, v), from when there is an
    estimate on."""
    rows: list[BaseEstimate] = []
    for k, now in enumerate(t):
        used = estimator.imu(now, gyro[k], accel[k])
        estimator.legs(now, q[k], v[k], forces[k])
        if used and estimator.ready:
            rows.append(estimator.estimate())
    if not rows:
        raise _limb.ComputationError("run: the robot never stood still, so there is nothing to begin from")
    return {"t": numpy.array([row.t for row in rows]), "p": numpy.array([row.p for row in rows]),
            "R": numpy.array([row.R for row in rows]), "v": numpy.array([row.v for row in rows]),
            "sigma": numpy.sqrt(numpy.array([numpy.diag(row.covariance) for row in rows]))}
