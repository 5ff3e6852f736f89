"""Differentiable dynamics for PyTorch.

    import limb.torch
    tau = limb.torch.inverse_dynamics(robot, q, v, a)      # q, v, a: tensors, one state or a batch
    tau.sum().backward()

Values and analytical derivatives are computed on the CPU; tensors on a GPU are copied to the host and the results
back. The gradient by q is by its entries; for quaternions it is the one tangent to the unit sphere.
"""

import numpy
import torch

__all__ = ["aba", "forward_dynamics", "inverse_dynamics", "rnea"]


def inverse_dynamics(robot, q: torch.Tensor, v: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    """Inverse dynamics; differentiable once by q, v and a."""
    return _InverseDynamics.apply(robot, q, v, a)


def forward_dynamics(robot, q: torch.Tensor, v: torch.Tensor, tau: torch.Tensor) -> torch.Tensor:
    """Forward dynamics; differentiable once by q, v and tau."""
    return _ForwardDynamics.apply(robot, q, v, tau)


def rnea(robot, q: torch.Tensor, v: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    """Alias of inverse_dynamics."""
    return inverse_dynamics(robot, q, v, a)


def aba(robot, q: torch.Tensor, v: torch.Tensor, tau: torch.Tensor) -> torch.Tensor:
    """Alias of forward_dynamics."""
    return forward_dynamics(robot, q, v, tau)


def _host(*tensors):
    return [tensor.detach().cpu().numpy() for tensor in tensors]


def _like(array, tensor):
    """A gradient in the shape of the tensor: for a vector that was broadcast over a batch, the sum."""
    array = numpy.asarray(array)
    extra = array.ndim - tensor.dim()
    if extra > 0:
        array = array.sum(axis=tuple(range(extra)))
    return torch.from_numpy(numpy.ascontiguousarray(array)).to(tensor)


def _tangent_to_entries(robot, q, g):
    """From a gradient g by tangents of q to a gradient x by its entries: x . dq = g . dv for all dq = J dv.

    For angles and lengths both are equal. The rate of a quaternion is q (w, 0) / 2: the columns of J are orthogonal
    with norm 1/2, so x = 4 J g. The rate of the position of a free joint is R v; a planar joint is rotated likewise.
    """
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


def _times_pure(q, w):
    """Hamilton product q (w, 0), both in order x y z w."""
    v, s = q[..., :3], q[..., 3:]
    return numpy.concatenate([s * w + numpy.cross(v, w), -(v * w).sum(-1, keepdims=True)], axis=-1)


def _rotate(q, p):
    v, s = q[..., :3], q[..., 3:]
    t = 2 * numpy.cross(v, p)
    return p + s * t + numpy.cross(v, t)


def _transpose_times(J, g):
    """J^T g of each state."""
    return numpy.einsum("...ij,...i->...j", J, g)


class _InverseDynamics(torch.autograd.Function):
    @staticmethod
    def forward(ctx, robot, q, v, a):
        ctx.robot = robot
        ctx.save_for_backward(q, v, a)
        return torch.from_numpy(robot.inverse_dynamics(*_host(q, v, a))).to(q)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient):
        q, v, a = ctx.saved_tensors
        host, g = _host(q, v, a), _host(gradient)[0]
        d = ctx.robot.inverse_dynamics_derivatives(*host)
        return (None, _like(_tangent_to_entries(ctx.robot, host[0], _transpose_times(d.dtau_dq, g)), q),
                _like(_transpose_times(d.dtau_dv, g), v), _like(_transpose_times(d.dtau_da, g), a))


class _ForwardDynamics(torch.autograd.Function):
    @staticmethod
    def forward(ctx, robot, q, v, tau):
        ctx.robot = robot
        ctx.save_for_backward(q, v, tau)
        return torch.from_numpy(robot.forward_dynamics(*_host(q, v, tau))).to(q)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient):
        q, v, tau = ctx.saved_tensors
        host, g = _host(q, v, tau), _host(gradient)[0]
        d = ctx.robot.forward_dynamics_derivatives(*host)
        return (None, _like(_tangent_to_entries(ctx.robot, host[0], _transpose_times(d.da_dq, g)), q),
                _like(_transpose_times(d.da_dv, g), v), _like(_transpose_times(d.da_dtau, g), tau))
