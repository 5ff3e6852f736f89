"""Controllers: measured state and reference in, torques out.

    controller = limb.control.CartesianImpedance(robot, "tool", [400, 400, 400, 30, 30, 30])
    tau = controller.step(q, v, X_ref)      # X_ref: pose of the tool, (4, 4)
    controller.saturated                    # how many motors were at their limit

Each is made for a robot and keeps to the torque limits of its model, or to `limits`. The same classes run in C++,
where a step neither allocates nor throws (docs/control.md).
"""

from ._limb import (CartesianImpedance, ComputedTorque, HybridForceControl, JointImpedance, JointPath, JointPd,
                    JointPid, Lqr, OperationalSpaceControl, linearize, solve_discrete_riccati, solve_riccati)

__all__ = ["CartesianImpedance", "ComputedTorque", "HybridForceControl", "JointImpedance", "JointPath", "JointPd",
           "JointPid", "Lqr", "OperationalSpaceControl", "linearize", "solve_discrete_riccati", "solve_riccati"]
