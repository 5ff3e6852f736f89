"""Controllers: measured state and reference in, torques out.

    controller = limb.control.CartesianImpedance(robot, "tool", [400, 400, 400, 30, 30, 30])
    tau = controller.step(q, v, X_ref)      # X_ref: pose of the tool, (4, 4)
    controller.saturated                    # how many motors were at their limit

Each is made for a robot and keeps to the torque limits of its model, or to `limits`. The same classes run in C++,
where a step neither allocates nor throws (docs/control.md). In a simulation `step` may be called by a Python function,
or `simulation.set_controller(controller.controller(X_ref))` runs it without Python in the loop.

WholeBody, Balance and Locomotion are for robots on their feet (docs/whole_body.md); they need limb to be built with a
solver of quadratic programs, and has_qp() tells.
"""

from ._limb import (Balance, CartesianImpedance, ComputedTorque, Gait, HybridForceControl, JointImpedance, JointPath,
                    JointPd, JointPid, Locomotion, Lqr, NativeController, OperationalSpaceControl, WholeBody, has_qp,
                    linearize, solve_discrete_riccati, solve_riccati)
from .results import GaitPhase, LocomotionReport, QpResiduals, WholeBodyReport
from .targets import BalanceReference, WholeBodyTargets

__all__ = ["Balance", "BalanceReference", "CartesianImpedance", "ComputedTorque", "Gait", "GaitPhase",
           "HybridForceControl", "JointImpedance", "JointPath", "JointPd", "JointPid", "Locomotion", "LocomotionReport",
           "Lqr", "NativeController", "OperationalSpaceControl", "QpResiduals", "WholeBody", "WholeBodyReport",
           "WholeBodyTargets", "has_qp", "linearize", "solve_discrete_riccati", "solve_riccati"]
