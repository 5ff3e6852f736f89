"""Kinematics and dynamics of manipulators and legged robots.

    import limb
    robot = limb.load("builtin:arm7")
    tau = robot.rnea(q, v, a)        # one state (n,) or a batch (..., n)

Linear before angular; a free joint has q = (p, quaternion xyzw) and v = its body twist; SI units.
"""

from . import control, convert, estimate, legged, results, sim
from ._limb import (ComputationError, ContactSet, Error, Inertia, Quaternion, SE3, SO3, __version__,
                    builtin_names, function_names, set_threads, threads)
from .compiled import Compiled
from .derivation import Derivation, Form
from .robot import Robot, check, load

__all__ = [
    "Compiled", "ComputationError", "ContactSet", "Derivation", "Error", "Form", "Inertia",
    "Quaternion", "Robot", "SE3", "SO3", "__version__", "builtin_names", "check", "control", "convert",
    "estimate", "function_names", "legged", "load", "results", "set_threads", "sim", "threads",
]


def _array(self, dtype=None, copy=None):
    """NumPy's view of a rotation, pose, quaternion (x y z w) or inertia: a new array."""
    import numpy

    if copy is False:
        raise ValueError(f"{type(self).__name__}: a new array is always made, copy=False is refused")
    numbers = self.xyzw() if isinstance(self, Quaternion) else self.matrix()
    return numpy.asarray(numbers, dtype=dtype)


for _type in (Inertia, Quaternion, SE3, SO3):
    setattr(_type, "__array__", _array)
