# %% [markdown]
# # Standing and walking
# A quadruped on rigid ground: it stands, is pushed, squats, and trots. Torques are from one quadratic program per step
# over accelerations and contact forces; limb must be built with a QP solver.

# %%
from collections.abc import Sequence

import numpy as np

import limb
from limb import control
from limb.sim import Ground, Simulation, World

assert control.has_qp(), "limb was built without a QP solver"
robot = limb.load("builtin:quadruped")
feet = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]
q0 = np.r_[0, 0, 0, 0, 0, 0, 1, np.tile([0, 0.8, -1.6], 4)]
q0[2] = -robot.frame_pose(q0, feet[0])[2, 3]

# %% [markdown]
# ## The quadratic program
# Target accelerations in, torques and forces out. Forces stay within the friction limits.

# %%
body = control.WholeBody(robot, feet, friction=0.6)
body.update(q0, np.zeros(robot.nv))
targets = body.targets()  # all feet in stance, zero accelerations
for a in ([0, 0, 0], [0, 0, 2], [100, 0, 0]):
    targets.mass_center = np.array(a)
    body.solve(targets)
    f = body.foot_forces.sum(axis=0)
    print(f"target {a} m/s^2: forces {f.round(1)} N, friction used {abs(f[0]) / f[2]:.3f}, {body.report.status}")

# %% [markdown]
# A swing foot has no force, and its acceleration is another target.

# %%
targets = body.targets()
targets.stands[0] = False
targets.swing[0, :3] = [0, 0, 3]
body.solve(targets)
print("vertical forces:", body.foot_forces[:, 2].round(2), "N")

# %% [markdown]
# ## Stand and be pushed
# `Balance` holds the centre of mass, the orientation of the base and the posture. In the simulation it runs without
# Python in the loop.

# %%


def on_ground(period: float = 0.0, pushes: Sequence[tuple[float, list[float]]] = ()) -> Simulation:
    world = World(robot)
    world.set_contact(Ground.plane(friction=0.8), feet=feet)
    for begin, force in pushes:
        world.add_push("trunk", begin=begin, end=begin + 0.1, force=force)
    simulation = Simulation(world, control_period=period)
    simulation.set_state(q0)
    return simulation


balance = control.Balance(robot, feet)
reference = balance.reference_at(q0)
simulation = on_ground(pushes=[(0.5, [50, 0, 0]), (1.2, [0, 50, 0])])
simulation.set_controller(balance.controller(reference))
motion = simulation.record(2.0)
away = 1e3 * np.abs(motion["q"][:, :2] - q0[:2]).max(axis=0)
left = 1e3 * np.linalg.norm(simulation.q[:2])
print(f"two pushes of 5 N s: moved by {away.round(1)} mm, at the end {left:.2f} mm away")
assert away.max() < 20

# %% [markdown]
# A squat is a moving reference; here the controller is a Python function.

# %%
simulation, home = on_ground(), reference.mass_center.copy()
rate, depth = 2 * np.pi, 0.04


def squat(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    reference.mass_center = home - [0, 0, depth / 2 * (1 - np.cos(rate * t))]
    reference.mass_center_velocity = np.array([0, 0, -depth / 2 * rate * np.sin(rate * t)])
    reference.mass_center_acceleration = np.array([0, 0, -depth / 2 * rate**2 * np.cos(rate * t)])
    return balance.step(q, v, reference)


simulation.set_controller(squat)
motion = simulation.record(1.0)
down, left = 1e3 * (q0[2] - motion["q"][:, 2].min()), 1e3 * (q0[2] - simulation.q[2])
print(f"the base went down by {down:.1f} mm and came back to {left:.2f} mm")

# %% [markdown]
# ## Trot
# `Locomotion` takes the state, the contact switches of the feet and a velocity command. As a native controller it reads
# the contacts of the simulation and a table of commands: time, forward, left, yaw rate.

# %%
walk = control.Locomotion(robot, feet, q0)
simulation = on_ground(period=walk.control_period, pushes=[(2.5, [0, 40, 0])])
simulation.set_controller(walk.controller([[0.5, 0, 0, 0], [1.0, 0.5, 0, 0]]))
simulation.run(0.5)
walk.set_gait(control.Gait.trot())
motion = simulation.record(4.0)
t, x = motion["t"], motion["q"]
speed = (x[t > 3.9][0, 0] - x[t > 1.5][0, 0]) / (t[t > 3.9][0] - t[t > 1.5][0])
touching = motion["contact"]["touching"]
print(f"{speed:.3f} m/s forward (commanded 0.5); lateral deviation after a push of 4 N s: "
      f"{1e3 * np.abs(x[:, 1]).max():.0f} mm")
print(f"feet on the ground: {touching[t > 1].mean():.2f} on average; "
      f"base between {x[:, 2].min():.3f} and {x[:, 2].max():.3f} m")
print(walk.report.whole_body.status, walk.report.mpc_status, walk.gait)
assert abs(speed - 0.5) < 0.05 and x[:, 2].min() > 0.27

# %% [markdown]
# Forces stay in their friction cones, and torques within the limits of the motors.

# %%
for foot in feet:
    f = motion["contact"]["force"][foot]
    assert (np.linalg.norm(f[:, :2], axis=1) <= 0.8 * f[:, 2] * (1 + 1e-9) + 1e-9).all()
assert (np.abs(motion["command"]) <= robot.limits.effort + 1e-3).all()

# %% [markdown]
# A picture of the walk.

# %%
chart = limb.plot.lines(t, {"forward": motion["v"][:, 0], "left": motion["v"][:, 1]},
                        title="Velocity of the base, push at 2.5 s", y_label="velocity, m/s")
chart.save("whole_body.svg")
chart
