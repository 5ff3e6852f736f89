# %% [markdown]
# # A quadruped that walks on its own state estimate
# Noisy IMU, encoders and foot forces; a filter estimates the state of the base, and the locomotion controller uses that
# estimate on rigid ground. The loop has no Python in it.

# %%
import concurrent.futures

import numpy as np

import limb
from limb import legged
from limb.control import Gait

robot = legged.load_quadruped("builtin:quadruped")
print(robot.feet, f"standing height {robot.height:.3f} m")

# %% [markdown]
# It stands, trots over blocks of up to 2 cm that it cannot sense, is pushed to the side, turns, and stands again.

# %%
plan = [(1.5, Gait.trot(), (0.5, 0, 0)), (5.0, Gait.trot(), (0.3, 0, 0.4)), (7.0, Gait.stand(), (0, 0, 0))]
run = legged.LeggedRun(robot, ground=legged.block_ground(seed=2), plan=plan, pushes=[(3.5, (0, 4, 0))])
upright = run.run(8.0)
summary = run.summary(begin=1.5)
print("standing" if upright else f"fell at {run.t:.2f} s", f"after {summary.distance:.2f} m")
tilt = np.degrees(summary.largest_tilt)
print(f"largest tilt {tilt:.1f} degrees, fall-back in {summary.fell_back} of {summary.steps} steps")
assert upright

# %% [markdown]
# Estimate and true state: the estimate drifts, as odometry does, and its covariance grows with the drift.

# %%
steps = run.record()
ready = steps["estimate"]["ready"]
error = np.linalg.norm(steps["estimate"]["p"][ready] - steps["q"][ready, :3], axis=1)
sigma = np.linalg.norm(steps["estimate"]["deviation"][ready, :3], axis=1)
for t in (2.0, 4.0, 6.0, 8.0):
    i = np.searchsorted(steps["t"][ready], t) - 1
    print(f"{t:.0f} s: position error {1e3 * error[i]:5.1f} mm, standard deviation {1e3 * sigma[i]:5.1f} mm")
print(f"root mean square errors: velocity {1e3 * summary.velocity_error:.1f} mm/s, "
      f"tilt {1e3 * summary.tilt_error:.2f} mrad")

# %% [markdown]
# Runs release the GIL: runs with different seeds of noise and posture run in threads.

# %%


def trot(seed: int) -> legged.LeggedSummary:
    one = legged.LeggedRun(robot, plan=plan[:1], seed=seed)
    one.run(4.0)
    return one.summary(2.5)


with concurrent.futures.ThreadPoolExecutor() as pool:
    for seed, result in enumerate(pool.map(trot, range(1, 5)), start=1):
        print(f"seed {seed}: {result.mean_velocity[0]:.3f} m/s (commanded 0.5), "
              f"position error {1e3 * result.position_error:.1f} mm in {result.distance:.2f} m")

# %% [markdown]
# A picture of the error and of what the filter expects.

# %%
chart = limb.plot.lines(steps["t"][ready], {"error": 1e3 * error, "standard deviation": 1e3 * sigma},
                        title="Position of the base", y_label="mm")
chart.save("legged.svg")
chart
