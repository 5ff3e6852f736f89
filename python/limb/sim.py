"""Simulation: a robot's motion in time.

    world = limb.sim.World(limb.load("builtin:2r"))
    simulation = limb.sim.Simulation(world, integrator="runge-kutta-4")
    simulation.set_controller(lambda t, q, v: 200 * (target - q) - 40 * v)
    motion = simulation.record(2.0)      # arrays: t, q, v, command, motor, energy, momentum

Runs release Python's lock; controllers, forces and events that are Python functions take it. Ctrl-C ends a run.
"""

from ._limb import Scenario, Simulation, World, has_cvode, read_log
from .results import Energy, Log, RunSummary

__all__ = ["Energy", "Log", "RunSummary", "Scenario", "Simulation", "World", "has_cvode", "read_log"]
