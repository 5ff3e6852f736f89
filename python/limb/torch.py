"""Differentiable kinematics and dynamics for PyTorch.

    import limb.torch
    tau = limb.torch.inverse_dynamics(robot, q, v, a)      # q, v, a: tensors, one state or a batch
    tau.sum().backward()

Every function of a robot that has analytical derivatives is here. Values and derivatives are computed on the CPU;
tensors on a GPU are copied to the host and the results back. Functions can be differentiated once. The gradient by q is
by its entries; for quaternions it is the one tangent to the unit sphere.
"""

from typing import Any

import numpy
import torch

from ._gradients import FUNCTIONS
from .robot import Robot
from .types import AccelerationKind, Axes, Contacts

__all__ = ["aba", "bias", "center_of_mass", "center_of_mass_acceleration", "center_of_mass_velocity",
           "centroidal_momentum", "centroidal_momentum_rate", "constrained_forward_dynamics", "crba", "difference",
           "forward_dynamics", "frame_acceleration", "frame_jacobian", "frame_pose", "frame_velocity", "gravity",
           "impact", "integrate", "inverse_dynamics", "kinetic_energy", "mass_inverse", "mass_matrix",
           "potential_energy", "rnea"]


def _call(name: str, robot: Robot, tensors: tuple[torch.Tensor, ...], **options: Any) -> Any:
    return _Call.apply(name, robot, options, *tensors)


def _host(tensors):
    return [tensor.detach().cpu().numpy() for tensor in tensors]


def _like(array, tensor):
    """A gradient in the shape of the tensor: summed over the dimensions in which the tensor was broadcast."""
    array = numpy.asarray(array)
    extra = array.ndim - tensor.dim()
    array = array.sum(axis=tuple(range(extra))) if extra > 0 else array
    repeated = tuple(i for i, n in enumerate(tensor.shape) if n == 1 and array.shape[i] != 1)
    array = array.sum(axis=repeated, keepdims=True) if repeated else array
    return torch.from_numpy(numpy.ascontiguousarray(array)).to(tensor)


class _Call(torch.autograd.Function):
    @staticmethod
    def forward(ctx, name, robot, options, *tensors):
        ctx.call = name, robot, options
        ctx.save_for_backward(*tensors)
        values = FUNCTIONS[name].values(robot, *_host(tensors), **options)
        return tuple(torch.from_numpy(numpy.asarray(value)).to(tensors[0]) for value in values)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *gradients):
        name, robot, options = ctx.call
        tensors = ctx.saved_tensors
        arrays = [x.astype(float) for x in _host(tensors)]
        batch = numpy.broadcast_shapes(*(x.shape[:-1] for x in arrays))
        arrays = [numpy.broadcast_to(x, batch + x.shape[-1:]) for x in arrays]
        jacobians = FUNCTIONS[name].jacobians(robot, *arrays, **options)
        shapes = FUNCTIONS[name].shape(robot, **options)
        totals = [0] * len(tensors)
        for gradient, by_input, shape in zip(_host(gradients), jacobians, shapes):
            g = gradient.reshape(gradient.shape[:gradient.ndim - len(shape)] + (-1,))
            for k, J in enumerate(by_input):
                J = J.reshape(J.shape[:J.ndim - 1 - len(shape)] + (-1, J.shape[-1]))
                totals[k] = totals[k] + numpy.einsum("...i,...ij->...j", g, J)
        return None, None, None, *[_like(total, tensor) for total, tensor in zip(totals, tensors)]


def inverse_dynamics(robot: Robot, q: torch.Tensor, v: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    """Inverse dynamics: the torques.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        a: Acceleration, `(..., nv)`.
    """
    return _call("inverse_dynamics", robot, (q, v, a))[0]


def forward_dynamics(robot: Robot, q: torch.Tensor, v: torch.Tensor, tau: torch.Tensor) -> torch.Tensor:
    """Forward dynamics: the accelerations.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        tau: Generalised forces, `(..., nv)`.
    """
    return _call("forward_dynamics", robot, (q, v, tau))[0]


def bias(robot: Robot, q: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Bias: the torques at zero acceleration.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
    """
    return _call("bias", robot, (q, v))[0]


def gravity(robot: Robot, q: torch.Tensor) -> torch.Tensor:
    """Gravity: the torques that hold the robot at rest.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
    """
    return _call("gravity", robot, (q,))[0]


def mass_matrix(robot: Robot, q: torch.Tensor) -> torch.Tensor:
    """Mass matrix, `(..., nv, nv)`.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
    """
    return _call("mass_matrix", robot, (q,))[0]


def mass_inverse(robot: Robot, q: torch.Tensor) -> torch.Tensor:
    """Inverse of the mass matrix, `(..., nv, nv)`.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
    """
    return _call("mass_inverse", robot, (q,))[0]


def kinetic_energy(robot: Robot, q: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Kinetic energy, J.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
    """
    return _call("kinetic_energy", robot, (q, v))[0]


def potential_energy(robot: Robot, q: torch.Tensor) -> torch.Tensor:
    """Potential energy, J.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
    """
    return _call("potential_energy", robot, (q,))[0]


def center_of_mass(robot: Robot, q: torch.Tensor) -> torch.Tensor:
    """Centre of mass in the world.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
    """
    return _call("center_of_mass", robot, (q,))[0]


def center_of_mass_velocity(robot: Robot, q: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Velocity of the centre of mass.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
    """
    return _call("center_of_mass_velocity", robot, (q, v))[0]


def center_of_mass_acceleration(robot: Robot, q: torch.Tensor, v: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    """Acceleration of the centre of mass.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        a: Acceleration, `(..., nv)`.
    """
    return _call("center_of_mass_acceleration", robot, (q, v, a))[0]


def centroidal_momentum(robot: Robot, q: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Momentum about the centre of mass.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
    """
    return _call("centroidal_momentum", robot, (q, v))[0]


def centroidal_momentum_rate(robot: Robot, q: torch.Tensor, v: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    """Time derivative of the momentum about the centre of mass.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        a: Acceleration, `(..., nv)`.
    """
    return _call("centroidal_momentum_rate", robot, (q, v, a))[0]


def frame_pose(robot: Robot, q: torch.Tensor, frame: str) -> torch.Tensor:
    """Pose of a frame in the world, `(..., 4, 4)`.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        frame: Name of the frame.
    """
    return _call("frame_pose", robot, (q,), frame=frame)[0]


def frame_velocity(robot: Robot, q: torch.Tensor, v: torch.Tensor, frame: str, axes: Axes = "local") -> torch.Tensor:
    """Spatial velocity of a frame.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        frame: Name of the frame.
        axes: Axes and reference point, as in `Robot`.
    """
    return _call("frame_velocity", robot, (q, v), frame=frame, axes=axes)[0]


def frame_acceleration(robot: Robot, q: torch.Tensor, v: torch.Tensor, a: torch.Tensor, frame: str,
                       axes: Axes = "local", kind: AccelerationKind = "spatial") -> torch.Tensor:
    """Acceleration of a frame.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        a: Acceleration, `(..., nv)`.
        frame: Name of the frame.
        axes: Axes and reference point, as in `Robot`.
        kind: "spatial" or "classical".
    """
    return _call("frame_acceleration", robot, (q, v, a), frame=frame, axes=axes, kind=kind)[0]


def frame_jacobian(robot: Robot, q: torch.Tensor, frame: str, axes: Axes = "local") -> torch.Tensor:
    """Jacobian of a frame, `(..., 6, nv)`.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        frame: Name of the frame.
        axes: Axes and reference point, as in `Robot`.
    """
    return _call("frame_jacobian", robot, (q,), frame=frame, axes=axes)[0]


def integrate(robot: Robot, q: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """The configuration after moving from q with velocity v for unit time.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
    """
    return _call("integrate", robot, (q, v))[0]


def difference(robot: Robot, q0: torch.Tensor, q1: torch.Tensor) -> torch.Tensor:
    """The velocity that moves q0 to q1 in unit time.

    Args:
        robot: The robot.
        q0: First configuration, `(..., nq)`.
        q1: Second configuration, `(..., nq)`.
    """
    return _call("difference", robot, (q0, q1))[0]


def constrained_forward_dynamics(robot: Robot, q: torch.Tensor, v: torch.Tensor, tau: torch.Tensor,
                                 contacts: Contacts) -> tuple[torch.Tensor, torch.Tensor]:
    """Forward dynamics with contacts: accelerations and contact forces.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        tau: Generalised forces, `(..., nv)`.
        contacts: Names of frames, or a `ContactSet`.
    """
    return _call("constrained_forward_dynamics", robot, (q, v, tau), contacts=contacts)


def impact(robot: Robot, q: torch.Tensor, v: torch.Tensor, contacts: Contacts,
           restitution: float = 0.0) -> tuple[torch.Tensor, torch.Tensor]:
    """An inelastic or elastic impact: velocities after it, and impulses.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        contacts: Names of frames, or a `ContactSet`.
        restitution: Coefficient of restitution.
    """
    return _call("impact", robot, (q, v), contacts=contacts, restitution=restitution)


def rnea(robot: Robot, q: torch.Tensor, v: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    """Alias of inverse_dynamics.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        a: Acceleration, `(..., nv)`.
    """
    return inverse_dynamics(robot, q, v, a)


def aba(robot: Robot, q: torch.Tensor, v: torch.Tensor, tau: torch.Tensor) -> torch.Tensor:
    """Alias of forward_dynamics.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        tau: Generalised forces, `(..., nv)`.
    """
    return forward_dynamics(robot, q, v, tau)


def crba(robot: Robot, q: torch.Tensor) -> torch.Tensor:
    """Alias of mass_matrix.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
    """
    return mass_matrix(robot, q)
