"""Functions of a robot with the Jacobians by their arguments, in NumPy; limb.jax and limb.torch make them differentiable.

Jacobians by q are by its entries. Derivatives along tangents are converted to them: for quaternions this is the
derivative tangent to the unit sphere.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
from numpy import ndarray as Array


class Function(NamedTuple):
    """A function of arrays: values, and Jacobians of each result by each argument, `(..., *result, n)`."""

    inputs: tuple[str, ...]  #: names: q, q0, q1 are configurations, all others have nv entries
    shape: Callable[..., tuple[tuple[int, ...], ...]]  #: (robot, **options) -> shape of each result
    values: Callable[..., tuple[Array, ...]]  #: (robot, *arrays, **options)
    jacobians: Callable[..., tuple[tuple[Array, ...], ...]]  #: per result, per argument


def _times_pure(q: Array, w: Array) -> Array:
    """Hamilton product q (w, 0), both in order x y z w."""
    v, s = q[..., :3], q[..., 3:]
    return numpy.concatenate([s * w + numpy.cross(v, w), -(v * w).sum(-1, keepdims=True)], axis=-1)


def _rotate(q: Array, p: Array) -> Array:
    v, s = q[..., :3], q[..., 3:]
    t = 2 * numpy.cross(v, p)
    return p + s * t + numpy.cross(v, t)


def _rotate_back(q: Array, p: Array) -> Array:
    return _rotate(numpy.concatenate([-q[..., :3], q[..., 3:]], axis=-1), p)


def _expand(q: Array, like: Array) -> Array:
    """q with the dimensions of a result between those of the batch and its own."""
    return q.reshape(q.shape[:-1] + (1,) * (like.ndim - q.ndim) + q.shape[-1:])


def to_entries(robot: Any, q: Array, g: Array) -> Array:
    """From derivatives g by tangents of q (last axis, nv) to derivatives x by its entries (nq): x . dq = g . w for all
    dq = J w.

    For angles and lengths both are equal. The rate of a quaternion is q (w, 0) / 2: the columns of J are orthogonal
    with norm 1/2, so x = 4 J g. The rate of the position of a free joint is R v; a planar joint is rotated likewise.
    """
    q = numpy.broadcast_to(_expand(q, g), g.shape[:-1] + (robot.nq,))
    x = numpy.zeros(g.shape[:-1] + (robot.nq,))
    for joint in robot.joints:
        if joint.q_index < 0:
            continue
        i, k = joint.q_index, joint.v_index
        if joint.type == "spherical":
            x[..., i:i + 4] = 2 * _times_pure(q[..., i:i + 4], g[..., k:k + 3])
        elif joint.type == "free":
            x[..., i:i + 3] = _rotate(q[..., i + 3:i + 7], g[..., k:k + 3])
            x[..., i + 3:i + 7] = 2 * _times_pure(q[..., i + 3:i + 7], g[..., k + 3:k + 6])
        elif joint.type == "planar":
            c, s = numpy.cos(q[..., i + 2]), numpy.sin(q[..., i + 2])
            x[..., i] = c * g[..., k] - s * g[..., k + 1]
            x[..., i + 1] = s * g[..., k] + c * g[..., k + 1]
            x[..., i + 2] = g[..., k + 2]
        else:
            x[..., i:i + joint.nq] = g[..., k:k + joint.nv]
    return x


def entries_of_tangents(robot: Any, q: Array) -> Array:
    """J with dq = J w for tangents w of q: `(..., nq, nv)`."""
    n = robot.nv
    w = numpy.broadcast_to(numpy.eye(n), q.shape[:-1] + (n, n))
    at = numpy.broadcast_to(q[..., None, :], q.shape[:-1] + (n, robot.nq))
    x = numpy.zeros(q.shape[:-1] + (n, robot.nq))
    for joint in robot.joints:
        if joint.q_index < 0:
            continue
        i, k = joint.q_index, joint.v_index
        if joint.type == "spherical":
            x[..., i:i + 4] = _times_pure(at[..., i:i + 4], w[..., k:k + 3]) / 2
        elif joint.type == "free":
            x[..., i:i + 3] = _rotate(at[..., i + 3:i + 7], w[..., k:k + 3])
            x[..., i + 3:i + 7] = _times_pure(at[..., i + 3:i + 7], w[..., k + 3:k + 6]) / 2
        elif joint.type == "planar":
            c, s = numpy.cos(at[..., i + 2]), numpy.sin(at[..., i + 2])
            x[..., i] = c * w[..., k] - s * w[..., k + 1]
            x[..., i + 1] = s * w[..., k] + c * w[..., k + 1]
            x[..., i + 2] = w[..., k + 2]
        else:
            x[..., i:i + joint.nq] = w[..., k:k + joint.nv]
    return numpy.swapaxes(x, -1, -2)


def _one(values: Callable[..., Array]) -> Callable[..., tuple[Array, ...]]:
    return lambda robot, *arrays, **options: (values(robot, *arrays, **options),)


def _vector(n: int | None = None) -> Callable[..., tuple[tuple[int, ...], ...]]:
    return lambda robot, **_: ((robot.nv if n is None else n,),)


def _by_q(robot: Any, q: Array, first: Array, *others: Array) -> tuple[tuple[Array, ...], ...]:
    """Jacobians of one result, the first by tangents of q."""
    return ((to_entries(robot, q, first), *others),)


def _mass_matrix_rates(robot: Any, q: Array) -> Array:
    """dM[i, j] along tangent k of q: the derivative by q of the derivative of the torques by a."""
    zero = numpy.zeros(q.shape[:-1] + (robot.nv,))
    return robot.rnea_second_derivatives(q, zero, zero).uq


def _pose_jacobian(robot: Any, q: Array, frame: str) -> tuple[tuple[Array, ...], ...]:
    """Of the 16 entries of X: dX = X [V], V in the axes of the frame."""
    X, J = robot.frame_pose(q, frame), robot.frame_jacobian(q, frame, "local")
    R = X[..., :3, :3]
    dX = numpy.zeros(X.shape + (robot.nv,))
    dX[..., :3, 3, :] = R @ J[..., :3, :]
    w = J[..., 3:, :]  # dR = R [w]: columns are w x e_j, so dR e_j = R (w x e_j)
    for j in range(3):
        e = numpy.zeros(3)
        e[j] = 1
        dX[..., :3, j, :] = R @ numpy.swapaxes(numpy.cross(numpy.swapaxes(w, -1, -2), e), -1, -2)
    return _by_q(robot, q, dX)


def _kinetic(robot: Any, q: Array, v: Array) -> tuple[tuple[Array, ...], ...]:
    rate = numpy.einsum("...ijk,...i,...j->...k", _mass_matrix_rates(robot, q), v, v) / 2
    return _by_q(robot, q, rate, numpy.einsum("...ij,...j->...i", robot.mass_matrix(q), v))


def _mass_inverse(robot: Any, q: Array) -> tuple[tuple[Array, ...], ...]:
    inverse = robot.mass_inverse(q)
    rate = -numpy.einsum("...ab,...bck,...cd->...adk", inverse, _mass_matrix_rates(robot, q), inverse)
    return _by_q(robot, q, rate)


def _integrate(robot: Any, q: Array, v: Array) -> tuple[tuple[Array, ...], ...]:
    ahead = entries_of_tangents(robot, robot.integrate(q, v))
    d = robot.integrate_jacobians(v)
    return _by_q(robot, q, ahead @ d.q, ahead @ d.v)


def _difference(robot: Any, q0: Array, q1: Array) -> tuple[tuple[Array, ...], ...]:
    d = robot.difference_jacobians(q0, q1)
    return ((to_entries(robot, q0, d.q0), to_entries(robot, q1, d.q1)),)


def _constrained(robot: Any, q: Array, v: Array, tau: Array, contacts: Any) -> tuple[tuple[Array, ...], ...]:
    d = robot.constrained_derivatives(q, v, tau, contacts)
    return ((to_entries(robot, q, d.da_dq), d.da_dv, d.da_dtau), (to_entries(robot, q, d.df_dq), d.df_dv, d.df_dtau))


def _impact(robot: Any, q: Array, v: Array, contacts: Any, restitution: float) -> tuple[tuple[Array, ...], ...]:
    d = robot.impact_derivatives(q, v, contacts, restitution)
    return ((to_entries(robot, q, d.dv_dq), d.dv_dv), (to_entries(robot, q, d.dimpulse_dq), d.dimpulse_dv))


def _rows(robot: Any, contacts: Any) -> int:
    return robot.constraint_jacobian(robot.neutral(), numpy.zeros(robot.nv), contacts).J.shape[-2]


def _inverse(robot: Any, q: Array, v: Array, a: Array) -> tuple[tuple[Array, ...], ...]:
    d = robot.inverse_dynamics_derivatives(q, v, a)
    return _by_q(robot, q, d.dtau_dq, d.dtau_dv, d.dtau_da)


def _forward(robot: Any, q: Array, v: Array, tau: Array) -> tuple[tuple[Array, ...], ...]:
    d = robot.forward_dynamics_derivatives(q, v, tau)
    return _by_q(robot, q, d.da_dq, d.da_dv, d.da_dtau)


def _bias(robot: Any, q: Array, v: Array) -> tuple[tuple[Array, ...], ...]:
    d = robot.inverse_dynamics_derivatives(q, v, numpy.zeros(robot.nv))
    return _by_q(robot, q, d.dtau_dq, d.dtau_dv)


def _gravity(robot: Any, q: Array) -> tuple[tuple[Array, ...], ...]:
    zero = numpy.zeros(robot.nv)
    return _by_q(robot, q, robot.inverse_dynamics_derivatives(q, zero, zero).dtau_dq)


def _method(name: str) -> Callable[..., tuple[Array, ...]]:
    return _one(lambda robot, *arrays, **options: getattr(robot, name)(*arrays, **options))


def _derivatives(name: str) -> Callable[..., tuple[tuple[Array, ...], ...]]:
    """By a method that returns the Jacobians by tangents of q, by v and by a."""
    def jacobians(robot: Any, q: Array, *others: Array, **options: Any) -> tuple[tuple[Array, ...], ...]:
        first, *rest = getattr(robot, name)(q, *others, **options)
        return _by_q(robot, q, first, *rest)
    return jacobians


def _matrix(robot: Any, **_: Any) -> tuple[tuple[int, ...], ...]:
    return ((robot.nv, robot.nv),)


_Q, _QV, _QVA = ("q",), ("q", "v"), ("q", "v", "a")

FUNCTIONS: dict[str, Function] = {
    "inverse_dynamics": Function(_QVA, _vector(), _method("inverse_dynamics"), _inverse),
    "forward_dynamics": Function(("q", "v", "tau"), _vector(), _method("forward_dynamics"), _forward),
    "bias": Function(_QV, _vector(), _method("bias"), _bias),
    "gravity": Function(_Q, _vector(), _method("gravity"), _gravity),
    "mass_matrix": Function(_Q, _matrix, _method("mass_matrix"),
                            lambda robot, q: _by_q(robot, q, _mass_matrix_rates(robot, q))),
    "mass_inverse": Function(_Q, _matrix, _method("mass_inverse"), _mass_inverse),
    "kinetic_energy": Function(_QV, lambda robot: ((),), _method("kinetic_energy"), _kinetic),
    "potential_energy": Function(_Q, lambda robot: ((),), _method("potential_energy"),
                                 lambda robot, q: _by_q(robot, q, robot.gravity(q))),
    "center_of_mass": Function(_Q, _vector(3), _method("center_of_mass"),
                               lambda robot, q: _by_q(robot, q, robot.center_of_mass_jacobian(q))),
    "center_of_mass_velocity": Function(_QV, _vector(3), _method("center_of_mass_velocity"),
                                        _derivatives("center_of_mass_velocity_derivatives")),
    "center_of_mass_acceleration": Function(_QVA, _vector(3), _method("center_of_mass_acceleration"),
                                            _derivatives("center_of_mass_acceleration_derivatives")),
    "centroidal_momentum": Function(_QV, _vector(6), _method("centroidal_momentum"),
                                    _derivatives("centroidal_momentum_derivatives")),
    "centroidal_momentum_rate": Function(_QVA, _vector(6), _method("centroidal_momentum_rate"),
                                         _derivatives("centroidal_momentum_rate_derivatives")),
    "frame_pose": Function(_Q, lambda robot, **_: ((4, 4),), _method("frame_pose"), _pose_jacobian),
    "frame_velocity": Function(_QV, _vector(6), _method("frame_velocity"), _derivatives("frame_velocity_derivatives")),
    "frame_acceleration": Function(_QVA, _vector(6), _method("frame_acceleration"),
                                   _derivatives("frame_acceleration_derivatives")),
    "frame_jacobian": Function(_Q, lambda robot, **_: ((6, robot.nv),), _method("frame_jacobian"),
                               lambda robot, q, **options: _by_q(robot, q, robot.frame_hessian(q, **options))),
    "integrate": Function(_QV, lambda robot: ((robot.nq,),), _method("integrate"), _integrate),
    "difference": Function(("q0", "q1"), _vector(), _method("difference"), _difference),
    "constrained_forward_dynamics": Function(
        ("q", "v", "tau"), lambda robot, contacts: ((robot.nv,), (_rows(robot, contacts),)),
        lambda robot, q, v, tau, contacts: tuple(robot.constrained_forward_dynamics(q, v, tau, contacts)[:2]), _constrained),
    "impact": Function(
        _QV, lambda robot, contacts, restitution: ((robot.nv,), (_rows(robot, contacts),)),
        lambda robot, q, v, contacts, restitution: tuple(robot.impact(q, v, contacts, restitution)[:2]), _impact),
}


def size_of(robot: Any, name: str) -> int:
    """Number of entries of an argument."""
    return robot.nq if name in ("q", "q0", "q1") else robot.nv
