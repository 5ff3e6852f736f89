"""Legged robots that walk on their own state estimate: sensors, estimator and locomotion in one loop, on rigid ground.

    robot = limb.legged.load_quadruped("builtin:quadruped")
    run = limb.legged.LeggedRun(robot, plan=[(1.5, limb.control.Gait.trot(), (0.5, 0, 0))], pushes=[(4, (0, 5, 0))])
    run.run(6.0)                # True if it has not fallen
    run.summary(2.5)            # true velocity, estimation errors, ...
    run.record()                # arrays: true state, sensor readings, estimate, torques

A run has no Python in its loop and releases the GIL: runs with different seeds can run in threads.
"""

from ._limb import LeggedRobot, LeggedRun, block_ground, ground_height, load_quadruped
from .reports import LeggedSummary

__all__ = ["LeggedRobot", "LeggedRun", "LeggedSummary", "block_ground", "ground_height", "load_quadruped"]
