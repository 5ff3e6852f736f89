# %% [markdown]
# # Floating base and contacts
# A quadruped: its base is carried by no motor, its feet push on the ground.

# %%
import numpy as np

import limb

robot = limb.load("builtin:quadruped")
feet = [name for name in robot.frames if "foot" in name]
print(robot, feet)

# %% [markdown]
# `q` begins with the base's position and quaternion (x y z w), `v` with its twist in its own axes (linear before
# angular). So `nq = nv + 1`, and states move by `integrate`, not by `+`.

# %%
q = robot.neutral()
q[7:] = np.tile([0.0, 0.7, -1.4], 4) if robot.limits.upper[9] <= 0 else np.tile([0.0, -0.7, 1.4], 4)
q[7:] = np.clip(q[7:], robot.limits.lower[7:], robot.limits.upper[7:])
q[2] -= robot.frame_pose(q, feet[0])[2, 3]  # stand on the ground
v = np.zeros(robot.nv)
assert np.allclose(robot.difference(q, robot.integrate(q, v)), 0)

# %% [markdown]
# Without contacts it falls: the mass centre accelerates with g, whatever the motors do.

# %%
a = robot.aba(q, v, np.zeros(robot.nv))
com = robot.center_of_mass_acceleration(q, v, a)
print("mass centre", com.round(6), "m/s^2")
assert np.allclose(com, [0, 0, -9.81])

# %% [markdown]
# Standing still: which torques, and which forces of the ground? The forces carry the weight.

# %%
stance = robot.contacts(feet, kind="point", axes="world")
still = robot.constrained_inverse_dynamics(q, v, np.zeros(robot.nv), stance)
forces = still.f.reshape(-1, 3)
print("forces of the ground\n", forces.round(2))
assert np.isclose(forces[:, 2].sum(), 9.81 * robot.mass)
assert np.allclose(still.tau[:6], 0)  # no motor on the base

# %% [markdown]
# With these torques it stays: accelerations are zero, the contacts hold.

# %%
motion = robot.constrained_forward_dynamics(q, v, still.tau, stance)
print("largest acceleration", np.abs(motion.a).max())
assert np.abs(motion.a).max() < 1e-8

# %% [markdown]
# It lands with 0.5 m/s: velocities after the impact, and what the ground took.

# %%
falling = v.copy()
falling[2] = -0.5
hit = robot.impact(q, falling, stance)
J = robot.constraint_jacobian(q, v, stance).J
assert np.allclose(J @ hit.v, 0, atol=1e-10)
print("impulse", hit.impulse.reshape(-1, 3).sum(axis=0).round(3), "N s")

# %% [markdown]
# What can be commanded? Twelve motors, four point feet: every direction. On two feet one is free: the robot can
# fall about the line between them.

# %%
for names in (feet, feet[:1] + feet[-1:]):
    free = robot.underactuation(q, names).free_directions
    print(len(names), "feet:", free.shape[1], "directions that nothing commands")
