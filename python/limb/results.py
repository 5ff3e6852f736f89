"""Results of methods that return more than one array, as named tuples. For a batch, the batch dimensions come first in
every array."""

from typing import NamedTuple

from numpy import ndarray as Array

from . import reports
from .reports import *  # noqa: F403

__all__ = [
    "AccelerationDerivatives", "AccelerationSplit", "AxisAngle", "BaseEstimate", "BaseParameters", "CentroidalMatrix", "CompiledForwardDerivatives",
    "CompiledInverseDerivatives", "CompiledOperationalSpace", "ConstrainedDerivatives", "ConstrainedMotion",
    "ConstrainedTorques", "ConstraintJacobian", "DifferenceJacobians", "EulerLock", "Finding", "FootStatus",
    "ForwardDerivatives", "FramePoses", "Geometry", "Gradient", "HessianBlocks", "IkResult", "ImpactDerivatives", "ImpactResult",
    "IntegrateJacobians", "InverseDerivatives", "Joint", "BaseJointPartition", "Limits", "MomentumDerivatives",
    "MomentumRateDerivatives", "OperationalSpace", "PrincipalAxes", "Proof", "ProofRow", "SecondDerivatives", "TorqueBudget",
    "Underactuation", "VelocityDerivatives", "VelocitySplit",
]
__all__ += reports.__all__


class Joint(NamedTuple):
    """A joint and the indices of its coordinates."""

    name: str
    type: str
    parent: str  #: the parent joint, or "world"
    link: str  #: the child link
    nq: int  #: 0 if the joint is coupled to others
    nv: int
    q_index: int  #: index of its first coordinate in q; -1 if it is coupled to others
    v_index: int  #: the same in v, a, tau


class Geometry(NamedTuple):
    """A shape of a link: for pictures ("visual") or for contact ("collision")."""

    link: str
    role: str  #: "visual" or "collision"
    shape: str  #: box, cylinder, sphere, capsule, ellipsoid, plane, mesh
    pose: Array  #: (4, 4): in the frame of the link
    size: Array  #: box: edges; cylinder, capsule: radius, length; sphere: radius; ellipsoid: half axes; m
    file: str | None  #: of a mesh: the file that was found, or None
    uri: str  #: of a mesh: as written in the robot's file
    scale: Array  #: (3,): of a mesh; a vertex p of the file is at pose (scale * (mesh_pose p))
    mesh_pose: Array  #: (4, 4): of a mesh, before the scale; the identity for URDF
    name: str  #: empty if the robot's file gives none


class Limits(NamedTuple):
    """Limits of the coordinates; infinite if there is no limit."""

    lower: Array  #: of q
    upper: Array
    velocity: Array
    effort: Array


class AxisAngle(NamedTuple):
    """Axis and angle of a rotation."""

    axis: Array  #: (3,): unit; (1, 0, 0) if the angle is 0
    angle: float  #: rad, 0 to pi


class EulerLock(NamedTuple):
    """Euler angles, and how far they are from gimbal lock."""

    angles: Array  #: (3,): rad, in the order of the letters; at lock the third is 0
    distance: float  #: rad, from the middle angle to the nearest singular one
    measure: float  #: |cos| (three different axes) or |sin| (first axis = third) of the middle angle
    locked: bool  #: only the sum or difference of the first and the third angle is determined
    lost_direction: Array  #: (3,): in world axes; no rates turn the body about it at lock


class PrincipalAxes(NamedTuple):
    """Principal moments and axes of an inertia tensor: tensor = R diag(moments) R^T."""

    moments: Array  #: (3,): smallest first
    R: Array  #: (3, 3): the axes are its columns, right-handed


class AccelerationSplit(NamedTuple):
    """Acceleration of a frame by its terms; they add up to `frame_acceleration`, classical in world axes."""

    tangential: Array  #: J a
    centripetal: Array  #: terms of the squares of velocities
    coriolis: Array  #: terms of the products of different velocities


class IntegrateJacobians(NamedTuple):
    """Jacobians of integrate(q, v), in tangent spaces."""

    q: Array
    v: Array


class DifferenceJacobians(NamedTuple):
    """Jacobians of difference(q0, q1), in tangent spaces."""

    q0: Array
    q1: Array


class VelocitySplit(NamedTuple):
    """C v = squares v^2 + products [v1 v2, v1 v3, ...]."""

    squares: Array
    products: Array


class TorqueBudget(NamedTuple):
    """The torques and their terms; positive: supplied by the drives."""

    inertial: Array
    centrifugal: Array
    coriolis: Array
    gravity: Array
    damping: Array
    friction: Array
    armature: Array
    external: Array
    tau: Array


class InverseDerivatives(NamedTuple):
    """Derivatives of inverse dynamics; those by q are along tangents, here and below."""

    dtau_dq: Array
    dtau_dv: Array
    dtau_da: Array


class ForwardDerivatives(NamedTuple):
    """Forward dynamics and its derivatives."""

    a: Array  #: the accelerations themselves
    da_dq: Array
    da_dv: Array
    da_dtau: Array


class CompiledInverseDerivatives(NamedTuple):
    """Derivatives of inverse dynamics by a compiled function; dtau_da is the mass matrix, a function of its own."""

    dtau_dq: Array
    dtau_dv: Array


class CompiledForwardDerivatives(NamedTuple):
    """Derivatives of forward dynamics by a compiled function."""

    da_dq: Array
    da_dv: Array
    da_dtau: Array


class CompiledOperationalSpace(NamedTuple):
    """Task-space inertia and dynamically consistent inverse of the Jacobian by a compiled function, frames stacked."""

    Lambda: Array  #: (6 k, 6 k)
    J_bar: Array  #: (nv, 6 k)


class FramePoses(NamedTuple):
    """Poses of k frames in the world by a compiled function."""

    R: Array  #: (k, 3, 3)
    p: Array  #: (k, 3)


class CentroidalMatrix(NamedTuple):
    """Centroidal momentum matrix and centre of mass by a compiled function."""

    A_G: Array  #: (6, nv): momentum about the centre of mass = A_G v
    com: Array  #: (3,)


class VelocityDerivatives(NamedTuple):
    """Derivatives of the velocity V of a frame or of the centre of mass."""

    dV_dq: Array
    dV_dv: Array


class AccelerationDerivatives(NamedTuple):
    """Derivatives of the acceleration A of a frame or of the centre of mass."""

    dA_dq: Array
    dA_dv: Array
    dA_da: Array


class MomentumDerivatives(NamedTuple):
    """Derivatives of the centroidal momentum h."""

    dh_dq: Array
    dh_dv: Array


class MomentumRateDerivatives(NamedTuple):
    """Derivatives of the time derivative of the centroidal momentum."""

    dhdot_dq: Array
    dhdot_dv: Array
    dhdot_da: Array


class Gradient(NamedTuple):
    """Gradient by tangents of q, by v and by a."""

    q: Array
    v: Array
    a: Array


class HessianBlocks(NamedTuple):
    """qv[j, k]: second derivative by tangent j of q and by v[k]; u is a for inverse, tau for forward dynamics."""

    qq: Array
    qv: Array
    vv: Array
    qu: Array


class SecondDerivatives(NamedTuple):
    """xy[i, j, k]: derivative, along direction k of y, of entry (i, j) of the first derivative by x."""

    qq: Array
    vq: Array
    vv: Array
    uq: Array


class ConstrainedDerivatives(NamedTuple):
    """Forward dynamics with contacts, and its derivatives."""

    a: Array
    f: Array
    da_dq: Array
    da_dv: Array
    da_dtau: Array
    df_dq: Array
    df_dv: Array
    df_dtau: Array


class ImpactDerivatives(NamedTuple):
    """An impact and its derivatives."""

    v: Array
    impulse: Array
    dv_dq: Array
    dv_dv: Array
    dimpulse_dq: Array
    dimpulse_dv: Array


class ConstrainedMotion(NamedTuple):
    """Forward dynamics with contacts."""

    a: Array
    f: Array  #: forces of the contacts in their order, then of the loops of the model
    rank: int | Array  #: number of independent constraint rows
    residual: float | Array  #: residual of the constraint equations


class ConstrainedTorques(NamedTuple):
    """Inverse dynamics with contacts."""

    tau: Array
    f: Array
    rank: int | Array
    residual: float | Array


class ImpactResult(NamedTuple):
    """Velocities after an impact."""

    v: Array  #: velocities after the impact
    impulse: Array
    rank: int | Array
    residual: float | Array


class ConstraintJacobian(NamedTuple):
    """Jacobian of contacts and loops: `J v = 0`, `J a + drift = 0`."""

    J: Array
    drift: Array  #: dJ/dt v


class BaseJointPartition(NamedTuple):
    """Blocks of M and h: base (b) and joints (j)."""

    M_bb: Array
    M_bj: Array
    M_jj: Array
    h_b: Array
    h_j: Array


class Underactuation(NamedTuple):
    """Velocities that neither motors nor contacts control."""

    velocities: int
    motors: int
    rows: int
    rank: int  #: directions that a motor or a contact acts on
    unactuated: list[int]
    free_directions: Array  #: orthonormal basis of the directions that nothing acts on


class OperationalSpace(NamedTuple):
    """F = Lambda d2x/dt2 + mu + rho, tau = J^T F + N^T tau_0."""

    Lambda: Array
    J_bar: Array
    N: Array
    mu: Array
    rho: Array
    smallest_singular_value: float | Array
    damped: int | Array


class IkResult(NamedTuple):
    """Result of inverse kinematics."""

    q: Array
    converged: bool | Array
    stop: str | Array  #: converged, unreachable, local_minimum, no_progress, iteration_limit
    position_error: Array  #: per goal, m
    rotation_error: Array  #: rad
    iterations: int | Array


class BaseParameters(NamedTuple):
    """Identifiable combinations K p of the inertial parameters p."""

    groups: list[str]
    K: Array
    leading: list[int]  #: regressor columns of the groups
    unidentifiable: list[int]


class Finding(NamedTuple):
    """An error or a warning about a robot file."""

    severity: str  #: note, warning, error
    rule: str
    file: str
    line: int
    message: str
    reason: str
    fix: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line > 0 else (f"{self.file}: " if self.file else "")
        return f"{place}{self.severity}: {self.message} [{self.rule}]"


class ProofRow(NamedTuple):
    """A statement checked by Robot.prove."""

    statement: str
    worst: float  #: largest relative difference
    tolerance: float
    holds: bool


class Proof(list):
    """The statements checked by Robot.prove; true if all hold."""

    @property
    def holds(self) -> bool:
        """Whether all statements hold."""
        return all(row.holds for row in self)

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        width = max((len(row.statement) for row in self), default=0)
        return "\n".join(f"{row.statement:<{width}}  {row.worst:8.1e} <= {row.tolerance:.1e}  "
                         f"{'holds' if row.holds else 'FAILS'}" for row in self)

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td style='text-align:left'>{row.statement}</td><td>{row.worst:.1e}</td>"
                       f"<td>{row.tolerance:.1e}</td><td>{'holds' if row.holds else 'fails'}</td></tr>"
                       for row in self)
        return ("<table><tr><th>Statement</th><th>worst</th><th>tolerance</th><th></th></tr>"
                f"{rows}</table>")


_STOPS = ("converged", "unreachable", "local_minimum", "no_progress", "iteration_limit")


def _integer(x):
    """Converts a count, or an array of counts, from floating point."""
    return x.astype(int) if isinstance(x, Array) else int(x)


def constrained_motion(a, f, rank, residual):
    return ConstrainedMotion(a, f, _integer(rank), residual)


def constrained_torques(tau, f, rank, residual):
    return ConstrainedTorques(tau, f, _integer(rank), residual)


def impact_result(v, impulse, rank, residual):
    return ImpactResult(v, impulse, _integer(rank), residual)


def operational_space(Lambda, J_bar, N, mu, rho, smallest, damped):
    return OperationalSpace(Lambda, J_bar, N, mu, rho, smallest, _integer(damped))


def ik_result(q, stop, position_error, rotation_error, iterations):
    stop = _integer(stop)
    if isinstance(stop, Array):
        from numpy import array
        return IkResult(q, stop == 0, array(_STOPS)[stop], position_error, rotation_error, _integer(iterations))
    return IkResult(q, stop == 0, _STOPS[stop], position_error, rotation_error, _integer(iterations))


class BaseEstimate(NamedTuple):
    """The state of the floating base B estimated by estimate.BaseEstimator."""

    t: float
    p: Array  #: position of B in the world, m
    R: Array  #: orientation of B in the world
    quaternion: Array  #: the same, x y z w
    v: Array  #: velocity of B's origin, world axes
    twist: Array  #: V_WB_B, the velocity of the free joint
    gyro_bias: Array
    accel_bias: Array
    covariance: Array  #: 9 x 9, of the errors e in p + e, R exp(e), v + e


class FootStatus(NamedTuple):
    """Contact state of a foot in the estimator."""

    stands: bool  #: in contact
    used: bool  #: in the filter
    nis: float  #: normalised innovation squared of its last reading
