# %% [markdown]
# # All joint and frame controllers
# Each controller in a simulation without Python in the loop: pass `controller.controller(...)` to
# `Simulation.set_controller`. Whole-body control and locomotion are in `whole_body`.

# %%
import numpy as np
from numpy.typing import ArrayLike

import limb
from limb import control
from limb.sim import Simulation, World

arm = limb.load("builtin:arm7")
q0 = np.array([0.2, 0.6, 0.1, -1.4, 0.2, 1.1, 0.3])
goal = q0 + 0.3
inertia = np.diag(arm.mass_matrix(q0))
frequency = 2 * np.pi * 3
kp, kd = inertia * frequency**2, 2 * inertia * frequency


def run(controller: control.NativeController, seconds: float = 3.0, world: World | None = None,
        q: ArrayLike = q0) -> Simulation:
    simulation = Simulation(world or World(arm))
    simulation.set_state(q)
    simulation.set_controller(controller)
    simulation.run(seconds)
    return simulation


# %% [markdown]
# ## Joints
# PD control has a steady-state error under gravity; gravity compensation or an integral removes it. Computed torque
# follows a minimum-jerk path, and joint impedance is a spring and damper about it.

# %%
path = control.JointPath(arm, [q0, goal], [1.5])
joint_controllers = {
    "PD": control.JointPd(arm, kp, kd, gravity=False).controller(goal),
    "PD + gravity": control.JointPd(arm, kp, kd).controller(goal),
    "PID": control.JointPid(arm, kp, kd, 6 * kp).controller(goal),
    "computed torque": control.ComputedTorque(arm, 3).controller(path),
    "joint impedance": control.JointImpedance(arm, kp, kd).controller(path),
}
for name, controller in joint_controllers.items():
    error = np.abs(run(controller).q - goal).max()
    print(f"{name}: {1e3 * error:.3f} mrad from the goal after 3 s")
    assert error < (0.2 if name == "PD" else 2e-3)

# %% [markdown]
# During the motion computed torque follows the path; PD control only has the goal.

# %%
simulation = run(joint_controllers["computed torque"], seconds=0.75)
print(f"halfway, computed torque: {1e3 * np.abs(simulation.q - path.sample(0.75)[0]).max():.3f} mrad from the path")

# %% [markdown]
# ## Frames
# The tool moves 5 cm sideways. Operational space control decouples its motion; a Cartesian impedance yields to a push
# by Hooke's law, 10 N / 500 N/m = 20 mm.

# %%
X = arm.frame_pose(q0, "tool")
X[1, 3] += 0.05
simulation = run(control.OperationalSpaceControl(arm, "tool", frequency=2, posture=q0).controller(X))
away = arm.frame_pose(simulation.q, "tool")[:3, 3] - X[:3, 3]
print("operational space:", 1e3 * np.abs(away).max().round(6), "mm from the goal")

pushed = World(arm)
pushed.add_push("tool", begin=0, end=9, force=[0, 0, 10])
soft = control.CartesianImpedance(arm, "tool", [500, 500, 500, 30, 30, 30], damping_ratio=1, posture=q0)
simulation = run(soft.controller(X), world=pushed)
moved = arm.frame_pose(simulation.q, "tool")[:3, 3] - X[:3, 3]
print("Cartesian impedance, pushed:", (1e3 * moved).round(2), "mm from the goal")
assert np.allclose(moved, [0, 0, 0.02], atol=1e-3)

# %% [markdown]
# ## Force
# A hybrid controller presses with 15 N on a table, a spring and damper 1 cm below the tool, and holds its position
# along the table. It measures the wrench on its frame.

# %%
X = arm.frame_pose(q0, "tool")
table = X[2, 3] - 0.01


def press(t: float, q: np.ndarray, v: np.ndarray) -> list[float] | None:
    depth = table - arm.frame_pose(q, "tool")[2, 3]
    upwards = arm.frame_velocity(q, v, "tool", "local_world_aligned")[2]
    return [0, 0, max(0, 4000 * depth - 40 * upwards), 0, 0, 0] if depth > 0 else None


world = World(arm)
world.add_wrench("tool", press)
hybrid = control.HybridForceControl(arm, "tool", ["z"], posture=q0)
simulation = run(hybrid.controller(X, [0, 0, -15, 0, 0, 0]), world=world)
p = arm.frame_pose(simulation.q, "tool")[:3, 3]
force = 4000 * (table - p[2])
slid = np.abs(p - X[:3, 3])[:2].max()
print(f"hybrid force: presses with {force:.3f} N, moved along the table by {1e3 * slid:.3f} mm")
assert abs(force - 15) < 0.1

# %% [markdown]
# ## A regulator
# LQR balances the pole of a cart.

# %%
cart = limb.load("builtin:cartpole")
lqr = control.Lqr(cart, [0, np.pi], Q=1, R=0.1)
simulation = run(lqr.controller(), seconds=12, world=World(cart), q=[0.1, np.pi - 0.2])
x, tilt = simulation.q - [0, np.pi]
print(f"LQR: cart at {x:.5f} m, pole {tilt:.5f} rad from upright; K = {lqr.K.round(2)}")
assert np.allclose(simulation.q, [0, np.pi], atol=1e-2)

# %% [markdown]
# A picture of the regulator at work, from the same start.

# %%
simulation.set_state([0.1, np.pi - 0.2])
motion = simulation.record(12.0)
chart = limb.plot.lines(motion["t"], {"torque": motion["command"][:, 0]}, title="Force of the LQR on the cart",
                        y_label="force, N")
chart.save("controllers.svg")
chart
