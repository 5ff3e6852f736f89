"""Controllers: measured state and reference in, torques out.

    controller = limb.control.CartesianImpedance(robot, "tool", [400, 400, 400, 30, 30, 30])
    tau = controller.step(q, v, X_ref)      # X_ref: pose of the tool, (4, 4)
    controller.saturated                    # number of motors at their limit

A controller is constructed for a robot and respects the torque limits of its model, or `limits`. The same classes
exist in C++, where a step neither allocates nor throws (docs/control.md). In a simulation a Python function may call
`step`, or `simulation.set_controller(controller.controller(X_ref))` runs it without Python in the loop.

WholeBody, Balance and Locomotion are for legged robots (docs/whole_body.md); they need limb to be built with a QP
solver (has_qp()).
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
