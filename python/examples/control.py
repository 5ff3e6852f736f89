# %% [markdown]
# # Position control versus force control
# An arm is pushed at its tool, with a stiff and with a compliant controller.

# %%
import numpy as np

import limb
from limb import control

robot = limb.load("builtin:arm7")
q0 = np.array([0.2, 0.6, 0.1, -1.4, 0.2, 1.1, 0.3])
X = robot.frame_pose(q0, "tool")
push = np.array([0.0, 10.0, 0.0])

# %% [markdown]
# A controller is constructed once; `step` takes the measured state and the reference, and returns torques.

# %%
stiff = control.OperationalSpaceControl(robot, "tool", frequency=5, posture=q0)
soft = control.CartesianImpedance(robot, "tool", [400, 400, 400, 30, 30, 30], damping_ratio=1, posture=q0)


def pushed(controller: control.OperationalSpaceControl | control.CartesianImpedance, seconds: float = 2.0,
           dt: float = 1e-3) -> np.ndarray:
    q, v = q0, np.zeros(robot.nv)
    for _ in range(int(seconds / dt)):
        J = robot.frame_jacobian(q, "tool", "local_world_aligned")[:3]
        a = robot.aba(q, v, controller.step(q, v, X) + J.T @ push)
        v = v + dt * a
        q = q + dt * v
    moved: np.ndarray = robot.frame_pose(q, "tool")[:3, 3] - X[:3, 3]
    return moved


# %% [markdown]
# The compliant one yields by Hooke's law, 10 N / 400 N/m = 25 mm, only along the push.

# %%
for name, controller in (("stiff", stiff), ("soft", soft)):
    print(f"{name}: tool moved by {1e3 * pushed(controller).round(6)} mm")
assert np.allclose(pushed(soft), [0, 0.025, 0], atol=5e-4)

# %% [markdown]
# A linear quadratic regulator balances a pole.

# %%
cart = limb.load("builtin:cartpole")
lqr = control.Lqr(cart, [0, np.pi], Q=1, R=0.1)
print("K =", lqr.K.round(3))

# %% [markdown]
# A picture: the pole comes back from 0.2 rad.

# %%
simulation = limb.sim.Simulation(limb.sim.World(cart))
simulation.set_state([0, np.pi - 0.2])
simulation.set_controller(lqr.controller())
motion = simulation.record(6.0)
chart = limb.plot.lines(motion["t"], {"tilt of the pole": motion["q"][:, 1] - np.pi}, title="LQR balances a pole",
                        y_label="angle, rad")
chart.save("control.svg")
chart
