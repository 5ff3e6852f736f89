"""Types of arguments; text arguments take one of the listed values."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union

if TYPE_CHECKING:
    from ._limb import ContactSet

Base = Literal["described", "fixed", "free"]
MissingMeshes = Literal["error", "ignore", "box"]
Unsupported = Literal["error", "ignore"]
Format = Literal["urdf", "mjcf", "recipe"]
Order = Literal["C", "F"]
Direction = Literal["rising", "falling", "both"]
AntiWindup = Literal["none", "conditional", "back-calculation"]
DerivationMethod = Literal["lagrange", "newton_euler", "modern_robotics", "both", "all"]
DerivationParameters = Literal["named", "symbols", "numbers"]
Filter = Literal["inekf", "eskf"]
Odometry = Literal["position", "velocity"]
Axes = Literal["local", "local_world_aligned", "world"]
AccelerationKind = Literal["spatial", "classical"]
BaseVelocityConvention = Literal["body", "mixed", "mujoco", "world"]
Strategy = Literal["automatic", "straight_line", "recursion", "split"]
ContactKind = Literal["point", "surface"]
ContactAxes = Literal["world", "contact"]
Contacts = Union["ContactSet", str, Sequence[str]]

Integrator = Literal["semi-implicit-euler", "explicit-euler", "runge-kutta-4", "implicit-midpoint", "dormand-prince",
                     "cvode"]
Friction = Literal["none", "smooth", "exact"]
Stops = Literal["none", "soft", "hard"]
WrenchAxes = Literal["frame", "world"]
SensorType = Literal["accelerometer", "gyroscope", "position", "velocity", "torque", "truth", "contact", "force"]
ShapeKind = Literal["sphere", "capsule", "cylinder", "box", "ellipsoid", "mesh"]
StateFunction = Callable[[float, Any, Any], Any]  # (t, q, v) -> numbers, or None
Feet = Union[Sequence[str], Mapping[str, Any]]  # names of frames, or name -> points (n, 3)
