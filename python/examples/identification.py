# %% [markdown]
# # Identification
# Torques are linear in the inertial parameters, `tau = Y(q, v, a) p`. Which combinations are identifiable, and what are
# their values, given noisy measurements?

# %%
import numpy as np

import limb

robot = limb.load("builtin:arm7", armature=False, damping=False, friction=False)
truth = robot.inertial_parameters()
names = robot.parameter_names()
base = robot.base_parameters()
print(len(names), "parameters,", len(base.groups), "identifiable combinations,",
      len(base.unidentifiable), "unidentifiable parameters")
print("for example:", base.groups[-1])

# %% [markdown]
# Measurements: an exciting trajectory, torques with noise.

# %%
random = np.random.default_rng(1)
t = np.linspace(0, 20, 2000)[:, None]
w = random.uniform(0.5, 2.0, robot.nv)
phase = random.uniform(0, 6, robot.nv)
Q, V, A = np.sin(w * t + phase), w * np.cos(w * t + phase), -(w**2) * np.sin(w * t + phase)
tau = robot.rnea(Q, V, A) + 0.05 * random.normal(size=(len(t), robot.nv))

# %% [markdown]
# Least squares for the identifiable combinations; all regressors in one call.

# %%
Y = robot.regressor(Q, V, A)[..., base.leading].reshape(-1, len(base.groups))
found, *_ = np.linalg.lstsq(Y, tau.ravel(), rcond=None)
expected = base.K @ truth
print("worst error", np.abs(found - expected).max().round(4), "of values up to", np.abs(expected).max().round(2))

# %% [markdown]
# Validation: the predicted torques of another motion.

# %%
q, v, a = robot.random_configuration(7, 500), *random.normal(size=(2, 500, robot.nv))
predicted = np.einsum("nij,j->ni", robot.regressor(q, v, a)[..., base.leading], found)
error = np.abs(predicted - robot.rnea(q, v, a)).max()
print("largest error of a predicted torque", error.round(3), "N m")
assert error < 0.05 * np.abs(robot.rnea(q, v, a)).max()

# %% [markdown]
# A picture of measured and predicted torques of one joint.

# %%
chart = limb.plot.lines(t[:400, 0], {"measured": tau[:400, 1], "predicted": (Y @ found).reshape(tau.shape)[:400, 1]},
                        title="Torque of the second joint", y_label="torque, N m")
chart.save("identification.svg")
chart
