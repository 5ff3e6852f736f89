# %% [markdown]
# # From Pinocchio to limb
# Each line of Pinocchio with the equivalent line of limb. With the package `pin` installed, all of them are executed
# and compared.
#
# Differences: methods of limb are pure functions (no `data`, no required order of calls, both triangles of `M`), joints
# are in the order of the file, and a continuous joint is one angle. `limb.convert` converts states.

# %%
from typing import Any

import numpy as np

import limb

TABLE = [
    # Pinocchio, limb, conversion of the result of limb
    ("pin.rnea(model, data, q, v, a)", "robot.inverse_dynamics(q, v, a)", "tau"),
    ("pin.aba(model, data, q, v, tau)", "robot.forward_dynamics(q, v, tau)", "a"),
    ("pin.nonLinearEffects(model, data, q, v)", "robot.bias(q, v)", "tau"),
    ("pin.computeGeneralizedGravity(model, data, q)", "robot.gravity(q)", "tau"),
    ("full(pin.crba(model, data, q))", "robot.mass_matrix(q)", "matrix"),
    ("full(pin.computeMinverse(model, data, q))", "robot.mass_inverse(q)", "matrix"),
    ("pin.computeCoriolisMatrix(model, data, q, v) @ v", "robot.coriolis_matrix(q, v) @ v", "tau"),
    ("pin.computeKineticEnergy(model, data, q, v)", "robot.kinetic_energy(q, v)", None),
    ("pin.computePotentialEnergy(model, data, q)", "robot.potential_energy(q)", None),
    ("pin.centerOfMass(model, data, q).copy()", "robot.center_of_mass(q)", None),
    ("pin.jacobianCenterOfMass(model, data, q)", "robot.center_of_mass_jacobian(q)", "columns"),
    ("pin.computeCentroidalMomentum(model, data, q, v).vector", "robot.centroidal_momentum(q, v)", None),
    ("pin.computeCentroidalMap(model, data, q)", "robot.centroidal_matrix(q)", "jacobian"),
    ("placement(pin, model, data, q, frame)", "robot.frame_pose(q, frame)", None),
    ("pin.computeFrameJacobian(model, data, q, model.getFrameId(frame))", "robot.frame_jacobian(q, frame)",
     "jacobian"),
    ("pin.computeFrameJacobian(model, data, q, model.getFrameId(frame), pin.LOCAL_WORLD_ALIGNED)",
     "robot.frame_jacobian(q, frame, 'local_world_aligned')", "jacobian"),
    ("velocity(pin, model, data, q, v, frame)", "robot.frame_velocity(q, v, frame)", None),
    ("pin.integrate(model, q, v)", "robot.integrate(q, v)", "q"),
    ("pin.difference(model, pin.neutral(model), q)", "robot.difference(robot.neutral(), q)", "tau"),
    ("pin.computeRNEADerivatives(model, data, q, v, a)[0]", "robot.inverse_dynamics_derivatives(q, v, a).dtau_dq",
     "matrix"),
    ("pin.computeABADerivatives(model, data, q, v, tau)[1]", "robot.forward_dynamics_derivatives(q, v, tau).da_dv",
     "matrix"),
    ("pin.computeJointTorqueRegressor(model, data, q, v, a) @ parameters(model)",
     "robot.regressor(q, v, a) @ robot.inertial_parameters()", "tau"),
]
for pinocchio, ours, _ in TABLE:
    print(f"{pinocchio}\n    {ours}")

# %% [markdown]
# Helpers for quantities that take several calls of Pinocchio; `rnea`, `aba` and `crba` are aliases in limb as well.

# %%


def full(M: np.ndarray) -> Any:
    """Pinocchio fills the upper triangle only."""
    return np.triu(M) + np.triu(M, 1).T


def placement(pin: Any, model: Any, data: Any, q: np.ndarray, frame: str) -> Any:
    pin.framesForwardKinematics(model, data, q)
    return data.oMf[model.getFrameId(frame)].homogeneous


def velocity(pin: Any, model: Any, data: Any, q: np.ndarray, v: np.ndarray, frame: str) -> Any:
    pin.forwardKinematics(model, data, q, v)
    return pin.getFrameVelocity(model, data, model.getFrameId(frame)).vector


def parameters(model: Any) -> Any:
    return np.concatenate([I.toDynamicParameters() for I in model.inertias[1:]])


# %% [markdown]
# Every line, executed and compared.

# %%
robot = limb.load("builtin:quadruped", armature=False, damping=False, friction=False)
try:
    import pinocchio as pin  # type: ignore[import-not-found, import-untyped, unused-ignore]
except ImportError:
    print("the package pin is not installed: nothing to compare with")
else:
    model = limb.convert.pinocchio_model(robot)
    data = model.createData()
    c = limb.convert.pinocchio(robot)
    frame = next(name for name in robot.frames if "foot" in name)
    random = np.random.default_rng(1)
    q, v, a, tau = robot.random_configuration(1), *random.normal(size=(3, robot.nv))
    here = {"robot": robot, "frame": frame, "q": q, "v": v, "a": a, "tau": tau}
    there = {**globals(), "frame": frame}
    there["q"], there["v"], there["a"], there["tau"] = limb.convert.to_pinocchio(robot, q, v, a, tau)
    convert: dict[str | None, Any] = {
        None: lambda x: x,
        "tau": lambda x: c.tau_to(q, x),
        "a": lambda x: c.a_to(q, v, x),
        "q": c.q_to,
        "matrix": lambda x: c.mass_matrix_to(q, x),
        "jacobian": lambda x: c.jacobian_to(q, x),
        "columns": lambda x: c.jacobian_to(q, np.vstack([x, 0 * x]))[:3],
    }
    errors = []
    for pinocchio, ours, how in TABLE:
        expected = np.asarray(eval(pinocchio, there))
        found = np.asarray(convert[how](eval(ours, here)))
        error = np.abs(found - expected).max() / max(1, np.abs(expected).max())
        print(f"{error:8.1e}  {ours}")
        assert error < 1e-9, ours
        errors.append(max(error, 1e-17))
    chart = limb.plot.lines(np.arange(len(errors)) + 1, {"error": np.log10(errors)}, title="limb and Pinocchio",
                            x_label="row of the table", y_label="log10 of the relative difference")
    chart.save("pinocchio_translation.svg")
