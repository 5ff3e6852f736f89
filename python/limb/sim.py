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

from ._limb import (ContactShape, Ground, NativeController, Scenario, Simulation, World, contact_shapes, has_cvode,
                    read_log)
from .results import ContactPoints, ContactReport, Energy, EnergyBalance, Log, RunSummary

__all__ = ["ContactPoints", "ContactReport", "ContactShape", "Energy", "EnergyBalance", "Ground", "Log",
           "NativeController", "RunSummary", "Scenario", "Simulation", "World", "contact_shapes", "has_cvode",
           "read_log"]
