"""Kinematics and dynamics of manipulators and legged robots.

    import limb
    robot = limb.load("builtin:arm7")
    tau = robot.inverse_dynamics(q, v, a)        # one state (n,) or a batch (..., n)

Linear before angular; a free joint has q = (p, quaternion xyzw) and v = its body twist; SI units.
"""

from . import _reprs, control, convert, estimate, legged, plot, results, sim  # noqa: F401
from ._limb import (ComputationError, ContactSet, Error, Inertia, Quaternion, SE3, SO3, __version__,
                    builtin_names, function_names, set_threads, threads)
from .compiled import Compiled
from .derivation import Answer, Derivation, FloatingBaseForm, Formula, OperationalSpaceForm
from .robot import Robot, check, load, loads

__all__ = [
    "Answer", "Compiled", "ComputationError", "ContactSet", "Derivation", "Error", "FloatingBaseForm", "Formula",
    "Inertia", "OperationalSpaceForm", "Quaternion", "Robot", "SE3", "SO3", "__version__", "builtin_names", "check",
    "control", "convert", "estimate", "function_names", "legged", "load", "loads", "plot", "results", "set_threads", "sim", "threads",
]


def _array(self, dtype=None, copy=None):
    """A rotation, pose, quaternion (x y z w) or inertia as a new NumPy array."""
    import numpy

    if copy is False:
        raise ValueError(f"{type(self).__name__}: always makes a new array, copy=False is not supported")
    numbers = self.xyzw() if isinstance(self, Quaternion) else self.matrix()
    return numpy.asarray(numbers, dtype=dtype)


for _type in (Inertia, Quaternion, SE3, SO3):
    setattr(_type, "__array__", _array)
