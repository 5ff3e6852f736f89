"""What whole-body controllers shall do, to be changed in place. Vectors are in world axes."""

from dataclasses import dataclass
from typing import Any

from numpy import ndarray as Array


@dataclass
class WholeBodyTargets:
    """Of WholeBody.solve; WholeBody.targets() makes them of the right sizes."""

    stands: Any  #: (feet,): whether each stands
    normals: Array  #: (feet, 3): of the ground, unit
    forces: Array  #: (feet, 3): N, of standing feet
    swing: Array  #: (feet, 6): accelerations of feet in the air, linear and (of soles) angular
    mass_center: Array  #: (3,): its acceleration, m/s^2
    turn: Array  #: (3,): angular acceleration of the base, rad/s^2
    posture: Array  #: (nv,): accelerations; those of motors are read


@dataclass
class BalanceReference:
    """Of Balance.step; Balance.reference_at(q) makes the one that stays."""

    mass_center: Array  #: (3,): m
    mass_center_velocity: Array  #: (3,): m/s
    mass_center_acceleration: Array  #: (3,): m/s^2
    R: Array  #: (3, 3): turn of the base
    posture: Array  #: (nq,): a configuration; the base's part is not read
