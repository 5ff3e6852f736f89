"""What methods return when it is more than one array. Each is a tuple with names; of a batch, every
array has the dimensions of the batch first."""

from typing import NamedTuple

from numpy import ndarray as Array

from . import reports
from .reports import *  # noqa: F403

__all__ = [
    "AccelerationDerivatives", "BaseEstimate", "BaseParameters", "ConstrainedDerivatives", "ConstrainedMotion",
    "ConstrainedTorques", "ConstraintJacobian", "DifferenceJacobians", "Finding", "FootStatus",
    "ForwardDerivatives", "Gradient", "HessianBlocks", "IkResult", "ImpactDerivatives", "ImpactResult",
    "IntegrateJacobians", "InverseDerivatives", "Joint", "LeggedParts", "Limits", "OperationalSpace", "Proof",
    "ProofRow", "SecondDerivatives", "TorqueBudget", "Underactuation", "VelocityDerivatives", "VelocitySplit",
]
__all__ += reports.__all__


class Joint(NamedTuple):
    """A joint and where its numbers stand."""

    name: str
    type: str
    parent: str  #: the joint that carries it, or "world"
    link: str  #: the child link
    nq: int  #: 0 if it follows others
    nv: int
    q_index: int  #: first of its numbers in q; -1 if it follows others
    v_index: int  #: in v, a, tau


class Limits(NamedTuple):
    """Infinite where there are none."""

    lower: Array  #: of q
    upper: Array
    velocity: Array
    effort: Array


class IntegrateJacobians(NamedTuple):
    q: Array
    v: Array


class DifferenceJacobians(NamedTuple):
    q0: Array
    q1: Array


class VelocitySplit(NamedTuple):
    """C v = squares v^2 + products [v1 v2, v1 v3, ...]."""

    squares: Array
    products: Array


class TorqueBudget(NamedTuple):
    """tau and its parts; positive is what the drives must supply."""

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
    dq: Array
    dv: Array
    da: Array


class ForwardDerivatives(NamedTuple):
    a: Array  #: the accelerations themselves
    dq: Array
    dv: Array
    dtau: Array


class VelocityDerivatives(NamedTuple):
    dq: Array
    dv: Array


class AccelerationDerivatives(NamedTuple):
    dq: Array
    dv: Array
    da: Array


class Gradient(NamedTuple):
    q: Array
    v: Array
    a: Array


class HessianBlocks(NamedTuple):
    """qv[j, k] is by tangent j of q and velocity k; u is a for inverse, tau for forward dynamics."""

    qq: Array
    qv: Array
    vv: Array
    qu: Array


class SecondDerivatives(NamedTuple):
    """xy[i, j, k]: along direction k of y, of entry (i, j) of the first derivative by x."""

    qq: Array
    vq: Array
    vv: Array
    uq: Array


class ConstrainedDerivatives(NamedTuple):
    a: Array
    f: Array
    da_dq: Array
    da_dv: Array
    da_dtau: Array
    df_dq: Array
    df_dv: Array
    df_dtau: Array


class ImpactDerivatives(NamedTuple):
    v: Array
    impulse: Array
    dv_dq: Array
    dv_dv: Array
    dimpulse_dq: Array
    dimpulse_dv: Array


class ConstrainedMotion(NamedTuple):
    a: Array
    f: Array  #: forces of the contacts in their order, then of the model's loops
    rank: int | Array  #: how many rows are independent
    residual: float | Array  #: what the equations leave over


class ConstrainedTorques(NamedTuple):
    tau: Array
    f: Array
    rank: int | Array
    residual: float | Array


class ImpactResult(NamedTuple):
    v: Array  #: velocities afterwards
    impulse: Array
    rank: int | Array
    residual: float | Array


class ConstraintJacobian(NamedTuple):
    J: Array
    drift: Array  #: dJ/dt v


class LeggedParts(NamedTuple):
    M_bb: Array
    M_bj: Array
    M_jj: Array
    h_b: Array
    h_j: Array


class Underactuation(NamedTuple):
    velocities: int
    motors: int
    rows: int
    rank: int  #: directions that a motor or a contact acts on
    unmotored: list[int]
    free_directions: Array  #: orthonormal columns that nothing acts on


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
    q: Array
    converged: bool | Array
    stop: str | Array  #: converged, unreachable, local_minimum, no_progress, iteration_limit
    position_error: Array  #: of each goal, m
    rotation_error: Array  #: rad
    iterations: int | Array


class BaseParameters(NamedTuple):
    """What torques can tell of the inertial parameters p: the groups K p."""

    groups: list[str]
    K: Array
    leading: list[int]  #: columns of the regressor that belong to the groups
    unidentifiable: list[int]


class Finding(NamedTuple):
    """Something wrong or odd in a robot file."""

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
    statement: str
    worst: float  #: largest difference seen, relative
    tolerance: float
    holds: bool


class Proof(list):
    """The statements of Robot.prove; true if all hold."""

    @property
    def holds(self) -> bool:
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


def _whole(x):
    """Counts arrive as floating-point numbers: one of them, or an array."""
    return x.astype(int) if isinstance(x, Array) else int(x)


def constrained_motion(a, f, rank, residual):
    return ConstrainedMotion(a, f, _whole(rank), residual)


def constrained_torques(tau, f, rank, residual):
    return ConstrainedTorques(tau, f, _whole(rank), residual)


def impact_result(v, impulse, rank, residual):
    return ImpactResult(v, impulse, _whole(rank), residual)


def operational_space(Lambda, J_bar, N, mu, rho, smallest, damped):
    return OperationalSpace(Lambda, J_bar, N, mu, rho, smallest, _whole(damped))


def ik_result(q, stop, position_error, rotation_error, iterations):
    stop = _whole(stop)
    if isinstance(stop, Array):
        from numpy import array
        return IkResult(q, stop == 0, array(_STOPS)[stop], position_error, rotation_error, _whole(iterations))
    return IkResult(q, stop == 0, _STOPS[stop], position_error, rotation_error, _whole(iterations))


class BaseEstimate(NamedTuple):
    """The floating base B as estimate.BaseEstimator sees it."""

    t: float
    p: Array  #: of B in the world, m
    R: Array  #: of B in the world
    quaternion: Array  #: the same, x y z w
    v: Array  #: of B's origin, world axes
    twist: Array  #: V_WB_B: the free joint's velocity
    gyro_bias: Array
    accel_bias: Array
    covariance: Array  #: 9 x 9, of p + e, R exp(e), v + e


class FootStatus(NamedTuple):
    """A foot as the estimator takes it."""

    stands: bool
    used: bool
    nis: float  #: normalised innovation squared of its last reading
