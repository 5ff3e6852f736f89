"""What simulations and controllers say of themselves: tuples with names."""

from typing import NamedTuple

from numpy import ndarray as Array

__all__ = [
    "ContactPoints", "ContactReport", "Energy", "GaitPhase", "LeggedSummary", "LocomotionReport", "Log",
    "QpResiduals", "RunSummary", "WholeBodyReport",
]


class Energy(NamedTuple):
    """J; stored: in springs and soft stops."""

    kinetic: float
    potential: float
    stored: float
    total: float


class RunSummary(NamedTuple):
    """What a run came to; of a batch every number is an array with a row for each run, failure a list."""

    t: float  #: s, how far it got
    failure: str | None  #: why it ended before its duration
    steps: int
    q: Array  #: at the end
    v: Array
    peak_torque: Array  #: of the motors
    energy_begin: float  #: J
    energy_end: float
    largest_energy_change: float
    target_error: float  #: distance to the controller's target at the end; NaN where there is none
    dissipated: float  #: J, by contacts
    control_periods: int  #: in which a controller with feedback was asked
    saturated_periods: int  #: of these, with a motor at its limit


class ContactPoints(NamedTuple):
    """Contact points of a step; arrays have a row for each."""

    name: list[str]  #: of the robot's shape
    other: list[int | str]  #: index of the ground's solid, or the name of another shape of the robot
    position: Array  #: m
    normal: Array  #: unit, towards the shape
    force: Array  #: N on the shape, mean over the step
    velocity: Array  #: m/s of the shape seen from the other, at the end of the step
    gap: Array  #: m, at the begin of the step
    friction: Array  #: coefficient


class ContactReport(NamedTuple):
    """How well the laws of contact hold after a step."""

    contacts: int  #: points that might have touched
    touching: int  #: those with a force
    residual: float  #: m/s, of the whole problem
    complementarity: float  #: W, largest normal force times separating speed
    cone: float  #: N, largest excess of a friction force over its cone
    penetration: float  #: m, deepest overlap at the begin of the step
    dissipated: float  #: J, in this step by contacts
    joints_dissipated: float  #: J, in this step by stops and friction of joints
    sweeps: int
    newton_steps: int
    converged: bool


class QpResiduals(NamedTuple):
    """How far a quadratic program is from the conditions of Karush, Kuhn and Tucker."""

    stationarity: float
    primal: float
    dual: float
    complementarity: float


class WholeBodyReport(NamedTuple):
    """Of a step of a whole-body controller."""

    status: str  #: "solved", or why not
    fell_back: bool  #: the torques are those of the fall-back, not of the program
    iterations: int
    residuals: QpResiduals
    outside_cone: float  #: N: how far a force is outside its pyramid or pulls
    over_limit: float  #: N m: how far a torque is beyond what its motor can
    setup_us: float  #: to write the program
    solve_us: float  #: to solve it


class LocomotionReport(NamedTuple):
    """Of a step of Locomotion; times in us."""

    whole_body: WholeBodyReport
    mpc_status: str
    mpc_ran: bool  #: in this step; else its last forces hold
    mpc_residuals: QpResiduals
    mpc_iterations: int
    kinematics_us: float
    plan_us: float
    mpc_us: float
    whole_body_us: float
    total_us: float


class GaitPhase(NamedTuple):
    """Where a foot is in its cycle."""

    stands: bool
    progress: float  #: of the present part, 0 to 1
    left: float  #: s until the other part begins


class LeggedSummary(NamedTuple):
    """A run of a legged robot in numbers."""

    begin: float  #: s
    end: float
    fell: bool
    mean_velocity: Array  #: true, m/s, in the base's heading
    distance: float  #: m, true, over ground
    largest_tilt: float  #: rad, true
    position_error: float  #: m: of what was estimated to move since begin
    yaw_error: float  #: rad, likewise
    velocity_error: float  #: m/s, root mean square
    tilt_error: float  #: rad, root mean square
    beyond_three_sigma: float  #: share of steps and components of the estimate that were
    steps: int
    fell_back: int  #: steps in which the whole-body program had no solution
    unsolved: int


class Log(NamedTuple):
    """A log of a simulation."""

    topics: dict[str, dict[str, Array]]  #: topic -> "t" and every field, "q.elbow" and so on
    metadata: dict[str, str]  #: of MCAP logs: model, base, integrator, step, seed
