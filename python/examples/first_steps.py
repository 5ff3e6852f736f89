# %% [markdown]
# # First steps
# Load a robot, inspect it, compute its kinematics and dynamics.

# %%
import numpy as np

import limb

robot = limb.load("builtin:arm7")  # or a .urdf, an MJCF .xml, a .toml recipe
robot

# %% [markdown]
# A state is given by NumPy arrays: `q` of size `nq`, velocities and torques of size `nv`.

# %%
q = robot.random_configuration(seed=1)
v = np.full(robot.nv, 0.1)
tool = robot.frames[-1]
pose = robot.frame_pose(q, tool)
print("the tool", tool, "is at", pose[:3, 3].round(3))

# %% [markdown]
# Equations of motion: `tau = M a + h`. Inverse dynamics gives the torques for an acceleration, forward dynamics the
# acceleration for torques.

# %%
a = np.zeros(robot.nv)
tau = robot.inverse_dynamics(q, v, a)  # alias: rnea
M, h = robot.mass_matrix(q), robot.bias(q, v)
assert np.allclose(M @ a + h, tau)
assert np.allclose(robot.forward_dynamics(q, v, tau), a)  # alias: aba
print("torques", tau.round(2))

# %% [markdown]
# The terms of the torques:

# %%
for name, part in robot.torque_budget(q, v, a)._asdict().items():
    print(f"{name:12}", part.round(3))

# %% [markdown]
# The Jacobian of a frame maps joint velocities to the velocity of the frame, in the given axes.

# %%
J = robot.frame_jacobian(q, tool, "local_world_aligned")
assert np.allclose(J @ v, robot.frame_velocity(q, v, tool, "local_world_aligned"))
print("manipulability", np.sqrt(np.linalg.det(J @ J.T)).round(4))

# %% [markdown]
# Inverse kinematics: joint angles for a pose, inside the limits.

# %%
goal = robot.frame_pose(robot.random_configuration(seed=2), tool)
found = robot.inverse_kinematics({tool: goal}, q, restarts=20)
print(found.stop, "after", found.iterations, "iterations, error", found.position_error)
assert found.converged

# %% [markdown]
# Every method takes a batch as well: `(N, n)` in, `(N, ...)` out, on all cores.

# %%
Q = robot.random_configuration(seed=3, states=1000)
G = robot.gravity(Q)
print(G.shape, "largest holding torques", np.abs(G).max(axis=0).round(1))

# %% [markdown]
# A picture: the holding torques along a path between two configurations. `robot.show()` shows the robot itself in 3D.

# %%
path = robot.interpolate(q, found.q, np.linspace(0, 1, 100))
chart = limb.plot.lines(np.linspace(0, 1, 100), {f"joint {i + 1}": g for i, g in enumerate(robot.gravity(path).T)},
                        title="Holding torques along a path", x_label="fraction of the path", y_label="torque, N m")
chart.save("first_steps.svg")
robot.show(path="first_steps.html")
