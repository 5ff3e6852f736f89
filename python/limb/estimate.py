"""State estimation of a floating base from an IMU, joint encoders and foot contacts."""

from collections.abc import Sequence

import numpy

from . import _limb
from ._arguments import named_arguments
from ._limb import synthetic_walk
from .results import BaseEstimate, FootStatus

__all__ = ["BaseEstimate", "BaseEstimator", "FootStatus", "run", "synthetic_walk"]


class BaseEstimator(_limb.BaseEstimator):
    """A Kalman filter over position, orientation, velocity, IMU biases and the feet in stance.

    `filter` is "inekf" (right-invariant) or "eskf" (error state); `odometry` uses the "position" or the
    "velocity" of the feet. Further options are those of EstimatorOptions in C++, by name: gyro_noise, accel_noise,
    encoder, contact_noise, gate, rest, yaw, position, ground_height, ...; an unknown name is an error that lists them.
    """

    @named_arguments
    def __init__(self, robot, feet: Sequence[str], *, imu: str = "", filter: str = "inekf",
                 odometry: str = "position", **options):
        super().__init__(robot, list(feet), imu, filter, odometry, options)


@named_arguments
def run(estimator: BaseEstimator, t, gyro, accel, q, v, forces) -> dict[str, numpy.ndarray]:
    """Runs the estimator over a log with one row per instant. Returns arrays t, p, R, v, sigma (of p, R, v), starting
    with the first estimate."""
    rows: list[BaseEstimate] = []
    for k, now in enumerate(t):
        used = estimator.imu(now, gyro[k], accel[k])
        estimator.legs(now, q[k], v[k], forces[k])
        if used and estimator.ready:
            rows.append(estimator.estimate())
    if not rows:
        raise _limb.ComputationError("run: the robot was never at rest, so the filter could not be initialised")
    return {"t": numpy.array([row.t for row in rows]), "p": numpy.array([row.p for row in rows]),
            "R": numpy.array([row.R for row in rows]), "v": numpy.array([row.v for row in rows]),
            "sigma": numpy.sqrt(numpy.array([numpy.diag(row.covariance) for row in rows]))}
