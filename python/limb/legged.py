"""Legged robots closed on their own estimate: sensors, estimator and locomotion in one loop over rigid ground.

    robot = limb.legged.load_quadruped("builtin:quadruped")
    run = limb.legged.LeggedRun(robot, plan=[(1.5, limb.control.Gait.trot(), (0.5, 0, 0))], pushes=[(4, (0, 5, 0))])
    run.run(6.0)                # whether it stands
    run.summary(2.5)            # true velocity, errors of the estimate, ...
    run.record()                # arrays: truth, readings, estimate, torques

A run has no Python in its loop and releases Python's lock: runs of different seeds go on in threads.
"""

from ._limb import LeggedRobot, LeggedRun, block_ground, ground_height, load_quadruped
from .reports import LeggedSummary

__all__ = ["LeggedRobot", "LeggedRun", "LeggedSummary", "block_ground", "ground_height", "load_quadruped"]
