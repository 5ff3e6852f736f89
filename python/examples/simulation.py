# %% [markdown]
# # Simulation
# Forces, a user-defined controller, sensors, and the energy of the motion.

# %%
import numpy as np

import limb

robot = limb.load("builtin:arm7")
world = limb.sim.World(robot)
world.add_push(robot.frames[-1], begin=1.0, end=1.2, force=[0, 10, 0])
simulation = limb.sim.Simulation(world, integrator="runge-kutta-4", step=1e-3)

# %% [markdown]
# A controller is any function of time, position and velocity. It is called once per control period; its torques are
# held until the next. This one compensates gravity and pulls each joint to its target like a spring and damper.

# %%
target = np.full(robot.nv, 0.3)
inertia = np.diag(robot.mass_matrix(target))


def controller(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    tau: np.ndarray = robot.gravity(q) + inertia * (100 * (target - q) - 20 * v)
    return tau


simulation.set_controller(controller)
simulation.add_sensor("imu", "accelerometer", frame=robot.frames[-1], noise=0.05, rate=200)
motion = simulation.record(3.0, period=0.01)
print({name: values.shape for name, values in motion.items() if isinstance(values, np.ndarray)})

# %% [markdown]
# It reaches the target, is pushed away from it, and comes back.

# %%
distance = np.linalg.norm(motion["q"] - target, axis=1)
for t in (0.0, 1.0, 1.2, 3.0):
    print(f"{t:.1f} s: {distance[np.searchsorted(motion['t'], t - 1e-9)]:.4f} rad from the target")
assert distance[-1] < 1e-3
imu = motion["sensors"]["imu"]
print("accelerometer at rest", np.linalg.norm(imu["values"][-100:].mean(axis=0)).round(1), "m/s^2")

# %% [markdown]
# Work of the motors, and the energy gained by the robot. The difference was dissipated by dampers, or came from the
# push.

# %%
power = (motion["motor"] * motion["v"]).sum(axis=1)
work = np.sum((power[1:] + power[:-1]) / 2 * np.diff(motion["t"]))
print(f"motors {work:.1f} J, robot {motion['energy'][-1, 3] - motion['energy'][0, 3]:.1f} J")

# %% [markdown]
# A scenario, run a hundred times with random masses and initial states, on all cores.

# %%
scenario = limb.sim.Scenario.parse('''
model = "builtin:2r"
duration = 1
[controller]
type = "gravity"
target = {joint1 = 0.6}
[batch]
mass = 0.1
initial = "5 deg"
''')
runs = scenario.run_batch(100)
print(f"distance to the target: median {np.median(runs.target_error):.4f}, worst {runs.target_error.max():.4f} rad")
assert runs.failure == [None] * 100

# %% [markdown]
# A picture of the distance to the target.

# %%
chart = limb.plot.lines(motion["t"], {"distance": distance}, title="Distance to the target, push from 1.0 to 1.2 s",
                        y_label="distance, rad")
chart.save("simulation.svg")
chart
