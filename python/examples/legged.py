# %% [markdown]
# # A quadruped that knows only what its sensors say
# Inertial sensor, encoders and forces of the feet, all with noise; a filter estimates the base, and locomotion walks on
# that estimate over rigid ground. The loop has no Python in it.

# %%
import concurrent.futures

import numpy as np

import limb
from limb import legged
from limb.control import Gait

robot = legged.load_quadruped("builtin:quadruped")
print(robot.feet, f"stands {robot.height:.3f} m high")

# %% [markdown]
# It stands, trots over blocks of up to 2 cm that it does not see, is pushed to the side, turns, and stands again.

# %%
plan = [(1.5, Gait.trot(), (0.5, 0, 0)), (5.0, Gait.trot(), (0.3, 0, 0.4)), (7.0, Gait.stand(), (0, 0, 0))]
run = legged.LeggedRun(robot, ground=legged.block_ground(seed=2), plan=plan, pushes=[(3.5, (0, 4, 0))])
stands = run.run(8.0)
summary = run.summary(begin=1.5)
print("stands" if stands else f"fell at {run.t:.2f} s", f"after {summary.distance:.2f} m over ground")
tilt = np.degrees(summary.largest_tilt)
print(f"largest tilt {tilt:.1f} degrees, {summary.fell_back} of {summary.steps} steps fell back")
assert stands

# %% [markdown]
# What it thought, and what was: the estimate drifts, as odometry does, and knows how far.

# %%
steps = run.record()
ready = steps["estimate"]["ready"]
error = np.linalg.norm(steps["estimate"]["p"][ready] - steps["q"][ready, :3], axis=1)
sigma = np.linalg.norm(steps["estimate"]["deviation"][ready, :3], axis=1)
for t in (2.0, 4.0, 6.0, 8.0):
    i = np.searchsorted(steps["t"][ready], t) - 1
    print(f"{t:.0f} s: position off by {1e3 * error[i]:5.1f} mm, deviation {1e3 * sigma[i]:5.1f} mm")
print(f"root mean squares: velocity off by {1e3 * summary.velocity_error:.1f} mm/s, "
      f"tilt by {1e3 * summary.tilt_error:.2f} mrad")

# %% [markdown]
# Runs release Python's lock: other seeds of noise and posture go on in threads.

# %%


def trot(seed):
    one = legged.LeggedRun(robot, plan=plan[:1], seed=seed)
    one.run(4.0)
    return one.summary(2.5)


with concurrent.futures.ThreadPoolExecutor() as pool:
    for seed, result in enumerate(pool.map(trot, range(1, 5)), start=1):
        print(f"seed {seed}: {result.mean_velocity[0]:.3f} m/s of 0.5, "
              f"position off by {1e3 * result.position_error:.1f} mm in {result.distance:.2f} m")
