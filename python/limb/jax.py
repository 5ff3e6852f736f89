"""Differentiable kinematics and dynamics for JAX, on the CPU.

    import limb.jax
    grad = jax.jit(jax.grad(lambda q: limb.jax.potential_energy(robot, q)))
    tau = jax.vmap(lambda q, v, a: limb.jax.inverse_dynamics(robot, q, v, a))(Q, V, A)

Every function of a robot that has analytical derivatives is here, for jit, vmap, grad, jacfwd, jacrev and jvp. Values and
derivatives are computed by limb in a callback of the host; a batch, also one of vmap, is one call that uses all cores.
Functions can be differentiated once. The derivative by q is by its entries; for quaternions it is the one tangent to the
unit sphere. JAX computes in float32 unless `jax_enable_x64` is set; results have the type of the arguments.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from ._gradients import FUNCTIONS, size_of
from .robot import Robot
from .types import AccelerationKind, Axes, Contacts

__all__ = ["aba", "bias", "center_of_mass", "center_of_mass_acceleration", "center_of_mass_velocity",
           "centroidal_momentum", "centroidal_momentum_rate", "constrained_forward_dynamics", "crba", "difference",
           "forward_dynamics", "frame_acceleration", "frame_jacobian", "frame_pose", "frame_velocity", "gravity",
           "impact", "integrate", "inverse_dynamics", "kinetic_energy", "mass_inverse", "mass_matrix",
           "potential_energy", "rnea"]


def _call(name: str, robot: Robot, arrays: tuple[Any, ...], **options: Any) -> Any:
    names = FUNCTIONS[name].inputs
    given = [jnp.asarray(x) for x in arrays]
    dtype = jnp.result_type(*given)
    if not jnp.issubdtype(dtype, jnp.floating):
        dtype = jnp.result_type(float)
    for x, argument in zip(given, names):
        if x.ndim == 0 or x.shape[-1] != size_of(robot, argument):
            n = size_of(robot, argument)
            raise ValueError(f"limb.jax.{name}: {argument} has shape {x.shape}, expected ({n},) or (..., {n})")
    batch = jnp.broadcast_shapes(*(x.shape[:-1] for x in given))
    given = [jnp.broadcast_to(x.astype(dtype), batch + x.shape[-1:]) for x in given]
    if isinstance(options.get("contacts"), list):
        options["contacts"] = tuple(options["contacts"])
    return _differentiable(name, robot, tuple(sorted(options.items())))(*given)


@functools.lru_cache(maxsize=256)
def _differentiable(name: str, robot: Robot, options: tuple[tuple[str, Any], ...]) -> Any:
    """The function of arrays with equal batch dimensions, with its derivative."""
    function, keywords = FUNCTIONS[name], dict(options)
    if isinstance(keywords.get("contacts"), tuple):
        keywords["contacts"] = list(keywords["contacts"])
    shapes = function.shape(robot, **keywords)
    sizes = [size_of(robot, argument) for argument in function.inputs]

    def callback(compute, flat_shapes, arrays):
        batch, dtype = arrays[0].shape[:-1], arrays[0].dtype
        results = tuple(jax.ShapeDtypeStruct(batch + shape, dtype) for shape in flat_shapes)

        def host(*given):
            values = compute(*[numpy.asarray(x, dtype=float) for x in given])
            lead = numpy.broadcast_shapes(*(numpy.shape(x)[:-1] for x in given))
            return tuple(numpy.broadcast_to(numpy.asarray(value, dtype=dtype), lead + shape)
                         for value, shape in zip(values, flat_shapes))

        return jax.pure_callback(host, results, *arrays, vmap_method="broadcast_all")

    @jax.custom_jvp
    def call(*arrays):
        return callback(lambda *x: function.values(robot, *x, **keywords), shapes, arrays)

    @call.defjvp
    def derivative(primals, tangents):
        values = call(*primals)
        flat = [shape + (size,) for shape in shapes for size in sizes]
        jacobians = callback(
            lambda *x: [J for by_input in function.jacobians(robot, *x, **keywords) for J in by_input], flat, primals)
        rates = []
        for k, shape in enumerate(shapes):
            letters = "ab"[:len(shape)]
            rates.append(sum(jnp.einsum(f"...{letters}n,...n->...{letters}", J, t)
                             for J, t in zip(jacobians[k * len(sizes):(k + 1) * len(sizes)], tangents)))
        return values, tuple(rates)

    return call


def inverse_dynamics(robot: Robot, q: jax.Array, v: jax.Array, a: jax.Array) -> jax.Array:
    """Inverse dynamics: the torques.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        a: Acceleration, `(..., nv)`.
    """
    return _call("inverse_dynamics", robot, (q, v, a))[0]


def forward_dynamics(robot: Robot, q: jax.Array, v: jax.Array, tau: jax.Array) -> jax.Array:
    """Forward dynamics: the accelerations.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        tau: Generalised forces, `(..., nv)`.
    """
    return _call("forward_dynamics", robot, (q, v, tau))[0]


def bias(robot: Robot, q: jax.Array, v: jax.Array) -> jax.Array:
    """Bias: the torques at zero acceleration.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
    """
    return _call("bias", robot, (q, v))[0]


def gravity(robot: Robot, q: jax.Array) -> jax.Array:
    """Gravity: the torques that hold the robot at rest.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
    """
    return _call("gravity", robot, (q,))[0]


def mass_matrix(robot: Robot, q: jax.Array) -> jax.Array:
    """Mass matrix, `(..., nv, nv)`.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
    """
    return _call("mass_matrix", robot, (q,))[0]


def mass_inverse(robot: Robot, q: jax.Array) -> jax.Array:
    """Inverse of the mass matrix, `(..., nv, nv)`.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
    """
    return _call("mass_inverse", robot, (q,))[0]


def kinetic_energy(robot: Robot, q: jax.Array, v: jax.Array) -> jax.Array:
    """Kinetic energy, J.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
    """
    return _call("kinetic_energy", robot, (q, v))[0]


def potential_energy(robot: Robot, q: jax.Array) -> jax.Array:
    """Potential energy, J.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
    """
    return _call("potential_energy", robot, (q,))[0]


def center_of_mass(robot: Robot, q: jax.Array) -> jax.Array:
    """Centre of mass in the world.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
    """
    return _call("center_of_mass", robot, (q,))[0]


def center_of_mass_velocity(robot: Robot, q: jax.Array, v: jax.Array) -> jax.Array:
    """Velocity of the centre of mass.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
    """
    return _call("center_of_mass_velocity", robot, (q, v))[0]


def center_of_mass_acceleration(robot: Robot, q: jax.Array, v: jax.Array, a: jax.Array) -> jax.Array:
    """Acceleration of the centre of mass.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        a: Acceleration, `(..., nv)`.
    """
    return _call("center_of_mass_acceleration", robot, (q, v, a))[0]


def centroidal_momentum(robot: Robot, q: jax.Array, v: jax.Array) -> jax.Array:
    """Momentum about the centre of mass.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
    """
    return _call("centroidal_momentum", robot, (q, v))[0]


def centroidal_momentum_rate(robot: Robot, q: jax.Array, v: jax.Array, a: jax.Array) -> jax.Array:
    """Time derivative of the momentum about the centre of mass.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        a: Acceleration, `(..., nv)`.
    """
    return _call("centroidal_momentum_rate", robot, (q, v, a))[0]


def frame_pose(robot: Robot, q: jax.Array, frame: str) -> jax.Array:
    """Pose of a frame in the world, `(..., 4, 4)`.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        frame: Name of the frame.
    """
    return _call("frame_pose", robot, (q,), frame=frame)[0]


def frame_velocity(robot: Robot, q: jax.Array, v: jax.Array, frame: str, axes: Axes = "local") -> jax.Array:
    """Spatial velocity of a frame.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        frame: Name of the frame.
        axes: Axes and reference point, as in `Robot`.
    """
    return _call("frame_velocity", robot, (q, v), frame=frame, axes=axes)[0]


def frame_acceleration(robot: Robot, q: jax.Array, v: jax.Array, a: jax.Array, frame: str, axes: Axes = "local",
                       kind: AccelerationKind = "spatial") -> jax.Array:
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


def frame_jacobian(robot: Robot, q: jax.Array, frame: str, axes: Axes = "local") -> jax.Array:
    """Jacobian of a frame, `(..., 6, nv)`.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        frame: Name of the frame.
        axes: Axes and reference point, as in `Robot`.
    """
    return _call("frame_jacobian", robot, (q,), frame=frame, axes=axes)[0]


def integrate(robot: Robot, q: jax.Array, v: jax.Array) -> jax.Array:
    """The configuration after moving from q with velocity v for unit time.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
    """
    return _call("integrate", robot, (q, v))[0]


def difference(robot: Robot, q0: jax.Array, q1: jax.Array) -> jax.Array:
    """The velocity that moves q0 to q1 in unit time.

    Args:
        robot: The robot.
        q0: First configuration, `(..., nq)`.
        q1: Second configuration, `(..., nq)`.
    """
    return _call("difference", robot, (q0, q1))[0]


def constrained_forward_dynamics(robot: Robot, q: jax.Array, v: jax.Array, tau: jax.Array,
                                 contacts: Contacts) -> tuple[jax.Array, jax.Array]:
    """Forward dynamics with contacts: accelerations and contact forces.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        tau: Generalised forces, `(..., nv)`.
        contacts: Names of frames, or a `ContactSet`.
    """
    return _call("constrained_forward_dynamics", robot, (q, v, tau), contacts=contacts)


def impact(robot: Robot, q: jax.Array, v: jax.Array, contacts: Contacts,
           restitution: float = 0.0) -> tuple[jax.Array, jax.Array]:
    """An inelastic or elastic impact: velocities after it, and impulses.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        contacts: Names of frames, or a `ContactSet`.
        restitution: Coefficient of restitution.
    """
    return _call("impact", robot, (q, v), contacts=contacts, restitution=restitution)


def rnea(robot: Robot, q: jax.Array, v: jax.Array, a: jax.Array) -> jax.Array:
    """Alias of inverse_dynamics.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        a: Acceleration, `(..., nv)`.
    """
    return inverse_dynamics(robot, q, v, a)


def aba(robot: Robot, q: jax.Array, v: jax.Array, tau: jax.Array) -> jax.Array:
    """Alias of forward_dynamics.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
        v: Velocity, `(..., nv)`.
        tau: Generalised forces, `(..., nv)`.
    """
    return forward_dynamics(robot, q, v, tau)


def crba(robot: Robot, q: jax.Array) -> jax.Array:
    """Alias of mass_matrix.

    Args:
        robot: The robot.
        q: Configuration, `(..., nq)`.
    """
    return mass_matrix(robot, q)
