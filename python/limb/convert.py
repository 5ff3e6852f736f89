"""Conversion between the conventions of limb and those of Pinocchio, MuJoCo, Drake and RBDL.

    there = limb.convert.to_pinocchio(robot, q, v, a)      # a state: there.q, there.v, there.a
    here = limb.convert.from_pinocchio(robot, q, v)
    c = limb.convert.pinocchio(robot)                      # for matrices, Jacobians, wrenches

docs/conventions.md lists the conventions of each library.
"""

from collections.abc import Sequence
from typing import NamedTuple

from numpy import ndarray as Array
from numpy.typing import ArrayLike

from ._arguments import named_arguments
from ._limb import Converter

__all__ = ["Converter", "State", "drake", "from_drake", "from_mujoco", "from_pinocchio", "from_rbdl", "mujoco",
           "pinocchio", "pinocchio_model", "rbdl", "to_drake", "to_mujoco", "to_pinocchio", "to_rbdl"]


class State(NamedTuple):
    """The converted vectors; those that were not given are None."""

    q: Array
    v: Array | None = None
    a: Array | None = None
    tau: Array | None = None


def _to(library, robot, q, v, a, tau, joint_names):
    c = Converter(robot, library, list(joint_names))
    _check_velocity_given(a, v)
    return State(c.q_to(q), None if v is None else c.v_to(q, v), None if a is None else c.a_to(q, v, a),
                 None if tau is None else c.tau_to(q, tau))


def _from(library, robot, q, v, a, tau, joint_names):
    c = Converter(robot, library, list(joint_names))
    _check_velocity_given(a, v)
    here = c.q_from(q)
    v_here = None if v is None else c.v_from(here, v)
    return State(here, v_here, None if a is None else c.a_from(here, v_here, a),
                 None if tau is None else c.tau_from(here, tau))


def _check_velocity_given(a, v):
    if a is not None and v is None:
        raise TypeError("accelerations convert only together with velocities: give v as well")


def _functions(library: str, title: str):
    def make(robot, joint_names: Sequence[str] = ()) -> Converter:
        return Converter(robot, library, list(joint_names))

    def to(robot, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
           tau: ArrayLike | None = None, *, joint_names: Sequence[str] = ()) -> State:
        return _to(library, robot, q, v, a, tau, joint_names)

    def from_(robot, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
              tau: ArrayLike | None = None, *, joint_names: Sequence[str] = ()) -> State:
        return _from(library, robot, q, v, a, tau, joint_names)

    make.__name__, to.__name__, from_.__name__ = library, f"to_{library}", f"from_{library}"
    make.__doc__ = (f"A Converter between limb and {title}; joint_names is the joint order of the other library, "
                    "if it differs from that of its file reader.")
    to.__doc__ = f"Converts a state of limb to the conventions of {title}."
    from_.__doc__ = f"Converts a state of {title} to the conventions of limb."
    return tuple(map(named_arguments, (make, to, from_)))


pinocchio, to_pinocchio, from_pinocchio = _functions("pinocchio", "Pinocchio")
mujoco, to_mujoco, from_mujoco = _functions("mujoco", "MuJoCo")
drake, to_drake, from_drake = _functions("drake", "Drake")
rbdl, to_rbdl, from_rbdl = _functions("rbdl", "RBDL")


@named_arguments
def pinocchio_model(robot):
    """The robot as a `pinocchio.Model`, through URDF; needs the package pin."""
    free = robot.base == "free"
    import pinocchio as pin

    if free:
        return pin.buildModelFromXML(robot.to_urdf(), pin.JointModelFreeFlyer())
    return pin.buildModelFromXML(robot.to_urdf())
