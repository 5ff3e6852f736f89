# %% [markdown]
# # State estimation
#
# A quadruped walks; a filter estimates the state of its base from IMU, joints and feet. The walk is synthetic, so that
# the true state is known.

# %%
import numpy as np

import limb
from limb import estimate
from limb.types import Filter

FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]
dog = limb.load("builtin:quadruped")
walk = estimate.synthetic_walk(dog, FEET, duration=8, rate=200, seed=3, crouch=0.25)

# %% [markdown]
# ## From rest, with three-sigma bounds

# %%
estimator = estimate.BaseEstimator(dog, FEET, position=walk["q_true"][0][:3], foot_error=1e-5)
found = estimate.run(estimator, walk["t"], walk["gyro"], walk["accel"], walk["q"], walk["v"], walk["contact"])
truth = walk["q_true"][-len(found["t"]):, :3]
length = np.linalg.norm(np.diff(truth[:, :2], axis=0), axis=1).sum()
error = found["p"] - truth
print(f"{length:.2f} m walked, {100 * np.linalg.norm(error[-1]) / length:.2f} % error at the end")
assert np.linalg.norm(error[-1]) < 0.02 * length
limb.plot.lines(found["t"], {"error": error[:, 0], "3 sigma": 3 * found["sigma"][:, 0], "-3 sigma": -3 * found["sigma"][:, 0]},
                title="Error of the estimated position along x", y_label="error, m")

# %% [markdown]
# ## Sixty degrees off
#
# The same noise and the same initial state: the invariant filter converges, the error-state filter is overconfident.

# %%
start = int(0.9 * 200)
off = limb.SO3.exp([np.pi / 3, 0, 0]).matrix()
deviations = np.repeat([0.01, np.pi / 3, 0.05, 5e-3, 0.05], 3)


def tilts(kind: Filter) -> np.ndarray:
    """Angle between the estimated and the true vertical, deg."""
    filter = estimate.BaseEstimator(dog, FEET, filter=kind, gate=1, foot_error=1e-5)
    q = walk["q_true"][start]
    R = limb.Quaternion.from_xyzw(q[3:7]).matrix()
    filter.initialize(walk["t"][start], q[:3], R @ off, np.zeros(3), deviations)
    angles = []
    for k in range(start, start + 800):
        filter.imu(walk["t"][k], walk["gyro"][k], walk["accel"][k])
        filter.legs(walk["t"][k], walk["q"][k], walk["v"][k], walk["contact"][k])
        up = filter.estimate().R[2]
        real = limb.Quaternion.from_xyzw(walk["q_true"][k][3:7]).matrix()[2]
        angles.append(np.degrees(np.arctan2(np.linalg.norm(np.cross(up, real)), up @ real)))
    return np.array(angles)


inekf, eskf = tilts("inekf"), tilts("eskf")
print(f"tilt after 1 s: inekf {inekf[200]:.2f} deg, eskf {eskf[200]:.1f} deg")
assert inekf[200] < 1
chart = limb.plot.lines(walk["t"][start:start + 800], {"inekf": inekf, "eskf": eskf},
                        title="Tilt error after a start that is 60 degrees off", y_label="error, deg")
chart.save("estimate_convergence.svg")
chart

# %% [markdown]
# ## A slipping foot, a stuck contact switch
#
# Innovations outside the gate are rejected, and a foot that is rejected repeatedly is initialised again.

# %%
slipping = estimate.synthetic_walk(dog, FEET, duration=6, rate=200, seed=3, crouch=0.25, rest=1,
                                   slips=[(0, 2.48, 2.7, [0.25, 0.1, 0]), (0, 3.68, 3.9, [-0.2, 0.2, 0])])


def errors(log: dict[str, np.ndarray], gate: float,
           contact: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, int]]:
    filter = estimate.BaseEstimator(dog, FEET, position=log["q_true"][0][:3], gate=gate, rest=0.9)
    path = estimate.run(filter, log["t"], log["gyro"], log["accel"], log["q"], log["v"], contact)
    return path["t"], np.linalg.norm(path["p"] - log["q_true"][-len(path["t"]):, :3], axis=1), filter.counts()


stuck = slipping["contact"].copy()
stuck[slipping["t"] > 2, 1] = 100
curves: dict[str, dict[str, np.ndarray]] = {"slip": {}, "stuck": {}}
for name, contact in (("slip", slipping["contact"]), ("stuck", stuck)):
    for gate, word in ((0.999, "with gating"), (1, "without")):
        t, off_by, counts = errors(slipping, gate, contact)
        curves[name][word] = off_by
        print(f"{name}, {word}: {1000 * off_by[-1]:.0f} mm error; {counts['feet_rejected']} rejected, "
              f"{counts['slips']} slips")

# %% [markdown]
# Pictures of the position errors.

# %%
limb.plot.lines(t, curves["stuck"], title="Position error with a stuck contact switch", y_label="error, m").save("estimate_stuck.svg")
chart = limb.plot.lines(t, curves["slip"], title="Position error with a slipping foot", y_label="error, m")
chart.save("state_estimation.svg")
chart
