"""Targets of whole-body controllers; modify them in place. Vectors are in world axes."""

from dataclasses import dataclass
from typing import Any

from numpy import ndarray as Array


@dataclass
class WholeBodyTargets:
    """Targets of WholeBody.solve; WholeBody.targets() returns one with arrays of the right sizes."""

    stands: Any  #: (feet,): whether each foot is in stance
    normals: Array  #: (feet, 3): ground normals, unit vectors
    forces: Array  #: (feet, 3): N, of stance feet
    swing: Array  #: (feet, 6): accelerations of swing feet, linear and (for soles) angular
    mass_center: Array  #: (3,): acceleration of the centre of mass, m/s^2
    turn: Array  #: (3,): angular acceleration of the base, rad/s^2
    posture: Array  #: (nv,): joint accelerations; only entries of actuated joints are used


@dataclass
class BalanceReference:
    """Reference of Balance.step; Balance.reference_at(q) returns the one that holds q."""

    mass_center: Array  #: (3,): m
    mass_center_velocity: Array  #: (3,): m/s
    mass_center_acceleration: Array  #: (3,): m/s^2
    R: Array  #: (3, 3): orientation of the base
    posture: Array  #: (nq,): a configuration; the entries of the base are ignored
