# %% [markdown]
# # Floating base and contacts
# A quadruped: its base is not actuated, its feet push on the ground.

# %%
import numpy as np

import limb

robot = limb.load("builtin:quadruped")
feet = [name for name in robot.frames if "foot" in name]
print(robot, feet)

# %% [markdown]
# `q` starts with the position and quaternion (x y z w) of the base, `v` with its twist in body axes (linear before
# angular). So `nq = nv + 1`, and configurations change by `integrate`, not by `+`.

# %%
q = robot.neutral()
q[7:] = np.tile([0.0, 0.7, -1.4], 4) if robot.limits.upper[9] <= 0 else np.tile([0.0, -0.7, 1.4], 4)
q[7:] = np.clip(q[7:], robot.limits.lower[7:], robot.limits.upper[7:])
q[2] -= robot.frame_pose(q, feet[0])[2, 3]  # feet on the ground
v = np.zeros(robot.nv)
assert np.allclose(robot.difference(q, robot.integrate(q, v)), 0)

# %% [markdown]
# Without contacts it falls: the centre of mass accelerates with g, for any torques.

# %%
a = robot.forward_dynamics(q, v, np.zeros(robot.nv))
com = robot.center_of_mass_acceleration(q, v, a)
print("centre of mass", com.round(6), "m/s^2")
assert np.allclose(com, [0, 0, -9.81])

# %% [markdown]
# Torques and ground forces at rest: the forces balance the weight.

# %%
stance = robot.contacts(feet, kind="point", axes="world")
still = robot.constrained_inverse_dynamics(q, v, np.zeros(robot.nv), stance)
forces = still.f.reshape(-1, 3)
print("ground forces\n", forces.round(2))
assert np.isclose(forces[:, 2].sum(), 9.81 * robot.mass)
assert np.allclose(still.tau[:6], 0)  # the base is not actuated

# %% [markdown]
# With these torques it stays at rest.

# %%
motion = robot.constrained_forward_dynamics(q, v, still.tau, stance)
print("largest acceleration", np.abs(motion.a).max())
assert np.abs(motion.a).max() < 1e-8

# %% [markdown]
# Landing with 0.5 m/s: velocities after the impact, and the impulse of the ground.

# %%
falling = v.copy()
falling[2] = -0.5
after = robot.impact(q, falling, stance)
J = robot.constraint_jacobian(q, v, stance).J
assert np.allclose(J @ after.v, 0, atol=1e-10)
print("impulse", after.impulse.reshape(-1, 3).sum(axis=0).round(3), "N s")

# %% [markdown]
# Twelve motors and four point feet act on every direction. On two feet one direction is unactuated: the rotation about
# the line between them.

# %%
for names in (feet, feet[:1] + feet[-1:]):
    free = robot.underactuation(q, names).free_directions
    print(len(names), "feet:", free.shape[1], "unactuated directions")

# %% [markdown]
# A picture of the ground forces at rest.

# %%
chart = limb.plot.bars({name: float(f[2]) for name, f in zip(feet, forces)}, title="Vertical ground forces at rest",
                       y_label="force, N")
chart.save("floating_base.svg")
chart
