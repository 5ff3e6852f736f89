"""Texts of objects of the extension: the class and what identifies the object."""

from typing import Any

from . import _limb

# Properties that are shown, in order.
_SHOWN: dict[str, tuple[str, ...]] = {
    "Converter": ("nq", "nv"), "NativeController": (), "Scenario": ("model_path", "duration", "integrator", "step"),
    "JointPd": ("saturated",), "JointPid": ("saturated",), "ComputedTorque": ("saturated",),
    "JointImpedance": ("saturated",), "OperationalSpaceControl": ("saturated",), "CartesianImpedance": ("saturated",),
    "HybridForceControl": ("saturated",), "Lqr": ("saturated", "K"), "JointPath": ("duration",),
    "WholeBody": ("feet",), "Balance": ("feet",), "Locomotion": ("feet", "gait", "control_period"),
    "BaseEstimator": ("filter", "feet", "ready"), "LeggedRobot": ("feet", "imu"), "LeggedRun": ("t", "fell"),
    "ClosedForms": (), "CompiledCore": ("why_not_compiled",), "Entries": (), "RobotParts": (),
    "Robot": ("name", "nq", "nv"), "World": (), "Simulation": ("t", "steps"),
}


def _text(value: Any) -> str:
    if hasattr(value, "shape"):
        return f"array of shape {tuple(value.shape)}"
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _repr(self: Any) -> str:
    shown = []
    for name in _SHOWN.get(_extension_name(type(self)), ()):
        value = getattr(self, name, None)
        if not callable(value) and value is not None:
            shown.append(f"{name}={_text(value)}")
    return f"{type(self).__name__}({', '.join(shown)})"


def _extension_name(cls: type) -> str:
    return next(base.__name__ for base in cls.__mro__ if base.__module__ == "limb._limb")


for _name in _SHOWN:
    if "__repr__" not in vars(getattr(_limb, _name)):
        setattr(getattr(_limb, _name), "__repr__", _repr)
