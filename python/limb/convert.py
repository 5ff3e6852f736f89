"""Conversion between the conventions of limb and those of Pinocchio, MuJoCo, Drake and RBDL.

    there = limb.convert.to_pinocchio(robot, q, v, a)      # a state: there.q, there.v, there.a
    here = limb.convert.from_pinocchio(robot, q, v)
    c = limb.convert.pinocchio(robot)                      # for matrices, Jacobians, wrenches

docs/conventions.md lists the conventions of each library.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy import ndarray as Array
from numpy.typing import ArrayLike

from ._arguments import named_arguments
from ._limb import Converter, Robot

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


@named_arguments
def pinocchio(robot: Robot, joint_names: Sequence[str] = ()) -> Converter:
    """A Converter between limb and Pinocchio.

    Args:
        robot: The robot.
        joint_names: Joint order of the other library, if it differs from that of its file reader.
    """
    return Converter(robot, "pinocchio", list(joint_names))


@named_arguments
def to_pinocchio(robot: Robot, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
                 tau: ArrayLike | None = None, *, joint_names: Sequence[str] = ()) -> State:
    """Converts a state of limb to the conventions of Pinocchio.

    Args:
        robot: The robot.
        q: Configuration.
        v: Velocity.
        a: Acceleration; needs v.
        tau: Generalised forces.
        joint_names: Joint order of the other library, if it differs from that of its file reader.
    """
    return _to("pinocchio", robot, q, v, a, tau, joint_names)


@named_arguments
def from_pinocchio(robot: Robot, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
                   tau: ArrayLike | None = None, *, joint_names: Sequence[str] = ()) -> State:
    """Converts a state of Pinocchio to the conventions of limb.

    Args:
        robot: The robot.
        q: Configuration.
        v: Velocity.
        a: Acceleration; needs v.
        tau: Generalised forces.
        joint_names: Joint order of the other library, if it differs from that of its file reader.
    """
    return _from("pinocchio", robot, q, v, a, tau, joint_names)


@named_arguments
def mujoco(robot: Robot, joint_names: Sequence[str] = ()) -> Converter:
    """A Converter between limb and MuJoCo.

    Args:
        robot: The robot.
        joint_names: Joint order of the other library, if it differs from that of its file reader.
    """
    return Converter(robot, "mujoco", list(joint_names))


@named_arguments
def to_mujoco(robot: Robot, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
              tau: ArrayLike | None = None, *, joint_names: Sequence[str] = ()) -> State:
    """Converts a state of limb to the conventions of MuJoCo.

    Args:
        robot: The robot.
        q: Configuration.
        v: Velocity.
        a: Acceleration; needs v.
        tau: Generalised forces.
        joint_names: Joint order of the other library, if it differs from that of its file reader.
    """
    return _to("mujoco", robot, q, v, a, tau, joint_names)


@named_arguments
def from_mujoco(robot: Robot, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
                tau: ArrayLike | None = None, *, joint_names: Sequence[str] = ()) -> State:
    """Converts a state of MuJoCo to the conventions of limb.

    Args:
        robot: The robot.
        q: Configuration.
        v: Velocity.
        a: Acceleration; needs v.
        tau: Generalised forces.
        joint_names: Joint order of the other library, if it differs from that of its file reader.
    """
    return _from("mujoco", robot, q, v, a, tau, joint_names)


@named_arguments
def drake(robot: Robot, joint_names: Sequence[str] = ()) -> Converter:
    """A Converter between limb and Drake.

    Args:
        robot: The robot.
        joint_names: Joint order of the other library, if it differs from that of its file reader.
    """
    return Converter(robot, "drake", list(joint_names))


@named_arguments
def to_drake(robot: Robot, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
             tau: ArrayLike | None = None, *, joint_names: Sequence[str] = ()) -> State:
    """Converts a state of limb to the conventions of Drake.

    Args:
        robot: The robot.
        q: Configuration.
        v: Velocity.
        a: Acceleration; needs v.
        tau: Generalised forces.
        joint_names: Joint order of the other library, if it differs from that of its file reader.
    """
    return _to("drake", robot, q, v, a, tau, joint_names)


@named_arguments
def from_drake(robot: Robot, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
               tau: ArrayLike | None = None, *, joint_names: Sequence[str] = ()) -> State:
    """Converts a state of Drake to the conventions of limb.

    Args:
        robot: The robot.
        q: Configuration.
        v: Velocity.
        a: Acceleration; needs v.
        tau: Generalised forces.
        joint_names: Joint order of the other library, if it differs from that of its file reader.
    """
    return _from("drake", robot, q, v, a, tau, joint_names)


@named_arguments
def rbdl(robot: Robot, joint_names: Sequence[str] = ()) -> Converter:
    """A Converter between limb and RBDL.

    Args:
        robot: The robot.
        joint_names: Joint order of the other library, if it differs from that of its file reader.
    """
    return Converter(robot, "rbdl", list(joint_names))


@named_arguments
def to_rbdl(robot: Robot, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
            tau: ArrayLike | None = None, *, joint_names: Sequence[str] = ()) -> State:
    """Converts a state of limb to the conventions of RBDL.

    Args:
        robot: The robot.
        q: Configuration.
        v: Velocity.
        a: Acceleration; needs v.
        tau: Generalised forces.
        joint_names: Joint order of the other library, if it differs from that of its file reader.
    """
    return _to("rbdl", robot, q, v, a, tau, joint_names)


@named_arguments
def from_rbdl(robot: Robot, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
              tau: ArrayLike | None = None, *, joint_names: Sequence[str] = ()) -> State:
    """Converts a state of RBDL to the conventions of limb.

    Args:
        robot: The robot.
        q: Configuration.
        v: Velocity.
        a: Acceleration; needs v.
        tau: Generalised forces.
        joint_names: Joint order of the other library, if it differs from that of its file reader.
    """
    return _from("rbdl", robot, q, v, a, tau, joint_names)


@named_arguments
def pinocchio_model(robot: Robot) -> Any:
    """The robot as a `pinocchio.Model`, through URDF; needs the package pin.

    Args:
        robot: The robot.
    """
    free = robot.base == "free"
    import pinocchio as pin

    if free:
        return pin.buildModelFromXML(robot.to_urdf(), pin.JointModelFreeFlyer())
    return pin.buildModelFromXML(robot.to_urdf())
