"""Reports of simulations and controllers, as named tuples."""

from typing import TYPE_CHECKING, NamedTuple

from numpy import ndarray as Array

__all__ = [
    "BatchSummary", "ContactPoints", "ContactReport", "Energy", "EnergyBalance", "GaitPhase", "LeggedSummary", "LocomotionReport",
    "Log", "QpResiduals", "RunSummary", "WholeBodyReport",
]


class Energy(NamedTuple):
    """Energy in J; stored: in springs and soft stops."""

    kinetic: float
    potential: float
    stored: float
    total: float


class EnergyBalance(NamedTuple):
    """Where the energy of a run went, in J: change = sum of the entries from motors to loops + closure. Positive: added."""

    change: float  #: of kinetic, potential and stored energy
    motors: float  #: motors and servos
    external: float  #: pushes, disturbances, forces of Python functions
    walls: float
    medium: float  #: drag of air or liquid
    damping: float  #: viscous damping of joints
    friction: float  #: Coulomb friction of joints
    springs: float  #: dampers of springs
    tendons: float
    stops: float
    contacts: float
    correction: float  #: lifting of overlapping bodies
    loops: float  #: projection onto closed loops
    closure: float  #: error of integration
    exchanged: float  #: sum of the magnitudes, the scale of the closure


class RunSummary(NamedTuple):
    """Summary of a run; for a batch every number is an array with one row per run, and failure a list."""

    t: float  #: s, time reached
    failure: str | None  #: why it ended early
    steps: int
    q: Array  #: at the end
    v: Array
    peak_torque: Array  #: largest torque of each motor
    energy_start: float  #: J
    energy_end: float
    largest_energy_change: float
    target_error: float  #: distance to the controller's target at the end; NaN without a target
    dissipated: float  #: J, by contacts
    control_periods: int  #: periods in which a feedback controller was evaluated
    saturated_periods: int  #: those with a motor at its limit
    balance: EnergyBalance  #: where the energy went


if TYPE_CHECKING:
    class BatchSummary(NamedTuple):
        """Summaries of many runs, as RunSummary: arrays with one row per run."""

        t: Array
        failure: list[str | None]
        steps: Array
        q: Array
        v: Array
        peak_torque: Array
        energy_start: Array
        energy_end: Array
        largest_energy_change: Array
        target_error: Array
        dissipated: Array
        control_periods: Array
        saturated_periods: Array
        balance: EnergyBalance
else:
    BatchSummary = RunSummary


class ContactPoints(NamedTuple):
    """Contact points of a step; arrays have one row per point."""

    name: list[str]  #: name of the robot's shape
    other: list[int | str]  #: index of a solid of the ground, or name of another shape of the robot
    position: Array  #: m
    normal: Array  #: unit vector, towards the shape
    force: Array  #: N, on the shape, mean over the step
    velocity: Array  #: m/s, of the shape relative to the other, at the end of the step
    gap: Array  #: m, at the start of the step
    friction: Array  #: coefficient


class ContactReport(NamedTuple):
    """Residuals of the contact laws after a step."""

    contacts: int  #: candidate points
    touching: int  #: points with a contact force
    residual: float  #: m/s, of the contact problem
    complementarity: float  #: W, largest normal force times separating speed
    cone: float  #: N, largest violation of a friction cone
    penetration: float  #: m, largest at the start of the step
    dissipated: float  #: J, by contacts in this step
    joints_dissipated: float  #: J, by joint stops and joint friction in this step
    sweeps: int
    newton_steps: int
    converged: bool


class QpResiduals(NamedTuple):
    """Residuals of the Karush-Kuhn-Tucker conditions of a quadratic program."""

    stationarity: float
    primal: float
    dual: float
    complementarity: float


class WholeBodyReport(NamedTuple):
    """Report of a step of a whole-body controller."""

    status: str  #: "solved", or the reason of failure
    fell_back: bool  #: the torques are from the fall-back, not from the quadratic program
    iterations: int
    residuals: QpResiduals
    outside_cone: float  #: N: largest violation of a friction pyramid or of a unilateral contact
    over_limit: float  #: N m: largest violation of a torque limit
    setup_us: float  #: to set up the quadratic program
    solve_us: float  #: to solve it


class LocomotionReport(NamedTuple):
    """Report of a step of Locomotion; times in us."""

    whole_body: WholeBodyReport
    mpc_status: str
    mpc_ran: bool  #: in this step; otherwise its last forces are used
    mpc_residuals: QpResiduals
    mpc_iterations: int
    kinematics_us: float
    plan_us: float
    mpc_us: float
    whole_body_us: float
    total_us: float


class GaitPhase(NamedTuple):
    """Phase of a foot in its gait cycle."""

    stands: bool  #: stance or swing
    progress: float  #: in the current phase, 0 to 1
    left: float  #: s until the next phase


class LeggedSummary(NamedTuple):
    """Summary of a run of a legged robot."""

    begin: float  #: s
    end: float
    fell: bool
    mean_velocity: Array  #: true, m/s, in the heading frame of the base
    distance: float  #: m, true, along the ground
    largest_tilt: float  #: rad, true
    position_error: float  #: m, of the estimated displacement since begin
    yaw_error: float  #: rad, of the estimated rotation since begin
    velocity_error: float  #: m/s, root mean square
    tilt_error: float  #: rad, root mean square
    beyond_three_sigma: float  #: fraction of estimate components outside three standard deviations
    steps: int
    fell_back: int  #: steps in which the fall-back of the whole-body controller was used
    unsolved: int


class Log(NamedTuple):
    """A log of a simulation."""

    topics: dict[str, dict[str, Array]]  #: topic -> "t" and the fields, such as "q.elbow"
    metadata: dict[str, str]  #: only in MCAP logs: model, base, integrator, step, seed
