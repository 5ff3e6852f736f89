"""Simulation: a robot's motion in time.

    world = limb.sim.World(limb.load("builtin:2r"))
    simulation = limb.sim.Simulation(world, integrator="runge-kutta-4")
    simulation.set_controller(lambda t, q, v: 200 * (target - q) - 40 * v)
    motion = simulation.record(2.0)      # arrays: t, q, v, command, motor, energy, momentum

On the ground:

    world.set_contact(limb.sim.Ground.plane(friction=0.6), feet=["FL_foot", "FR_foot", "RL_foot", "RR_foot"])
    simulation.contact_points()          # positions, forces, normals; contact_report(): residuals of the contact laws

Runs release the GIL; controllers, forces and events that are Python functions acquire it. Ctrl-C ends a run.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from numpy import ndarray as Array

from . import _limb
from ._arguments import named_arguments
from ._limb import ContactShape, Ground, NativeController, Scenario, contact_shapes, has_cvode, read_log
from .results import ContactPoints, ContactReport, Energy, EnergyBalance, Log, RunSummary
from .robot import Robot
from .types import Friction, Integrator, StateFunction, Stops

__all__ = ["ContactPoints", "ContactReport", "ContactShape", "Energy", "EnergyBalance", "Ground", "Log",
           "NativeController", "RunSummary", "Scenario", "Simulation", "World", "contact_shapes", "has_cvode",
           "read_log"]


def _recorded(cls: type, names: Sequence[str]) -> None:
    """Makes methods of a class record their calls, which a copy repeats."""
    def wrap(name, original):
        def method(self, *args, **kwargs):
            result = original(self, *args, **kwargs)
            self._calls.append((name, args, kwargs))
            return result

        method.__name__, method.__qualname__, method.__doc__ = name, f"{cls.__name__}.{name}", original.__doc__
        return method

    for name in names:
        setattr(cls, name, wrap(name, getattr(cls, name)))


def _repeat(cls: type, args: tuple, kwargs: dict[str, Any], calls: list) -> Any:
    made = cls(*args, **kwargs)
    for name, call_args, call_kwargs in calls:
        getattr(made, name)(*call_args, **call_kwargs)
    return made


class World(_limb.World):
    """A robot and the forces that act on it.

    A world can be pickled and copied: the copy is made by the same calls. Functions that compute forces must then be
    picklable (defined in a module, not lambdas).

    Args:
        robot: The robot.
        friction: Joint friction: "none", "smooth" (a steep curve through zero) or "exact" (sticks).
        stops: Joint stops: "none", "soft" (springs) or "hard" (impacts).
        static_ratio: Largest static friction divided by Coulomb friction.
        restitution: Ratio of the speeds after and before an impact on a hard stop, 0 to 1.
        compiled: Whether the dynamics run as machine code compiled for the robot.
    """

    def __init__(self, robot: Robot, *, friction: Friction = "smooth", stops: Stops = "soft",
                 static_ratio: float = 1.0, restitution: float = 0.0, compiled: bool = True) -> None:
        super().__init__(robot, friction=friction, stops=stops, static_ratio=static_ratio, restitution=restitution,
                         compiled=compiled)
        self._robot = robot
        self._options = {"friction": friction, "stops": stops, "static_ratio": static_ratio,
                         "restitution": restitution, "compiled": compiled}
        self._calls: list[tuple[str, tuple, dict[str, Any]]] = []

    @property
    def robot(self) -> Robot:
        """The robot of this world."""
        return self._robot

    def __reduce__(self):
        return _repeat, (type(self), (self._robot,), self._options, self._calls)

    def __repr__(self) -> str:
        parts = [f"friction={self._options['friction']!r}", f"stops={self._options['stops']!r}"]
        parts += [f"{name}({_text(args, kwargs)})" for name, args, kwargs in self._calls]
        return f"World({self._robot.name!r}, {', '.join(parts)})"


class Simulation(_limb.Simulation):
    """Simulation of a world: controller, motors, integrator, sensors. It starts at rest in the neutral configuration.

    A simulation can be pickled and copied, with its world. The copy continues from the same time and state (t, q, v);
    what else a run remembers starts again, as after `set_state`: lags and delays of motors, contact forces, sensor
    readings, random numbers, and the energy ledger.

    Args:
        world: The world. Several simulations may share one, one after the other.
        integrator: Integration method; "semi-implicit-euler" is the one for contact.
        step: Step, s; for the adaptive methods "dormand-prince" and "cvode" the longest.
        control_period: Time between calls of the controller, s; 0: every step.
        tolerance: Absolute and relative tolerance of adaptive methods.
    """

    def __init__(self, world: World, *, integrator: Integrator = "semi-implicit-euler", step: float = 1e-3,
                 control_period: float = 0.0, tolerance: float = 1e-9) -> None:
        super().__init__(world, integrator=integrator, step=step, control_period=control_period, tolerance=tolerance)
        self._world = world
        self._options = {"integrator": integrator, "step": step, "control_period": control_period,
                         "tolerance": tolerance}
        self._controller: StateFunction | NativeController | None = None
        self._events: Sequence[tuple[Callable[[float, Array, Array], float], str]] = ()
        self._calls: list[tuple[str, tuple, dict[str, Any]]] = []

    @property
    def world(self) -> World:
        """The world of this simulation."""
        return self._world

    def set_controller(self, function: StateFunction | NativeController | None) -> None:
        """Sets what computes the torques, once per control period.

        Args:
            function: `function(t, q, v)` that returns an array, or None for zero torques. With `robot.nv` entries these
                are generalised forces, one per velocity (zero on those without a motor, such as a free base). With
                `robot.motors` entries these are torques of the motors only, in the order of the actuated velocities.
                Both are the same where every velocity has a motor. Or a controller of limb.control, made by its method
                `controller`, which runs without Python. None: zero torques.
        """
        super().set_controller(function)
        self._controller = function

    @named_arguments
    def set_events(self, events: Sequence[tuple[Callable[[float, Array, Array], float], str]]) -> None:
        """Sets the events at which a run ends.

        Args:
            events: Pairs of a function(t, q, v), whose zero ends a run, and its direction: "rising", "falling" or
                "both".
        """
        super().set_events(list(events))
        self._events = list(events)

    def __reduce__(self):
        return _continue, (type(self), self._world, self._options, self._calls, self._controller, self._events,
                           (self.q, self.v, self.t))

    def __repr__(self) -> str:
        return (f"Simulation({self._world.robot.name!r}, integrator={self._options['integrator']!r}, "
                f"step={self._options['step']:g}: t={self.t:.6g} s, {self.steps} steps)")


def _continue(cls, world, options, calls, controller, events, state):
    simulation = _repeat(cls, (world,), options, calls)
    if controller is not None:
        simulation.set_controller(controller)
    simulation.set_events(events)
    simulation.set_state(*state)
    return simulation


def _text(args: tuple, kwargs: dict[str, Any]) -> str:
    """Arguments of a call, short."""
    def one(x) -> str:
        if isinstance(x, float) and math.isfinite(x):
            return f"{x:g}"
        text = getattr(x, "__name__", None) or repr(x)
        return text if len(text) <= 40 else text[:37] + "..."
    return ", ".join([one(x) for x in args] + [f"{name}={one(x)}" for name, x in kwargs.items()])


_recorded(World, ["add_spring", "add_push", "add_disturbance", "add_force", "add_wrench", "set_actuator",
                  "set_contact"])
_recorded(Simulation, ["add_sensor"])
