# %% [markdown]
# # Calculus of variations
# Two classical problems of the calculus of variations, computed and compared with their closed forms: the curve on which
# a bead slides fastest (brachistochrone), and the shortest path on a surface (geodesic). The Euler-Lagrange equation of
# the second is the equation of motion of a robot.

# %%
from typing import Any

import numpy as np

import limb

# %% [markdown]
# ## Brachistochrone
# A bead slides without friction from rest at (0, 0) to (pi r, 2 r), y downwards. On a polygon the time of each segment is
# its length over the mean of the speeds `sqrt(2 g y)` at its ends. Newton's method minimises the sum of the times over the
# depths of the corners, from a straight line.

# %%
g, r, n = 9.81, 0.5, 60
X, Y = np.pi * r, 2 * r
x = X * np.linspace(0, 1, n + 1) ** 3  # the curve is steep at the start
inner = np.arange(1, n)


def times(y: np.ndarray) -> Any:
    speed = np.sqrt(2 * g * y)
    return 2 * np.hypot(np.diff(x), np.diff(y)) / (speed[1:] + speed[:-1])


def gradient(y: np.ndarray) -> Any:
    """Derivatives of the time by the depths of the corners between the ends."""
    speed = np.sqrt(2 * g * y)
    length, total = np.hypot(np.diff(x), np.diff(y)), speed[1:] + speed[:-1]
    along = 2 * np.diff(y) / (length * total)  # by the length of a segment
    slower = 2 * length / total**2  # by the sum of its speeds, negative
    return along[:-1] - along[1:] - (slower[:-1] + slower[1:]) * g / speed[1:-1]


y = Y * x / X
for _ in range(100):
    slope = gradient(y)
    if np.abs(slope).max() < 1e-9:
        break
    curvature = np.empty((n - 1, n - 1))
    for k in inner:  # column by column, by differences of the gradient
        h = 1e-6 * y[k]
        ahead, behind = y.copy(), y.copy()
        ahead[k] += h
        behind[k] -= h
        curvature[:, k - 1] = (gradient(ahead) - gradient(behind)) / (2 * h)
    values, axes = np.linalg.eigh((curvature + curvature.T) / 2)
    step = -axes @ ((axes.T @ slope) / np.maximum(np.abs(values), 1e-9))  # downhill in every direction
    length = 1.0
    while (y[1:-1] + length * step).min() <= 0 or times(np.r_[0, y[1:-1] + length * step, Y]).sum() > times(y).sum():
        length /= 2
        if length < 1e-12:
            break
    y[1:-1] += length * step

# %% [markdown]
# The minimum is the cycloid, on which the bead takes `pi sqrt(r / g)`.

# %%
angle = np.linspace(0, np.pi, 2001)
cycloid = np.interp(x, r * (angle - np.sin(angle)), r * (1 - np.cos(angle)))
best, exact, straight = times(y).sum(), np.pi * np.sqrt(r / g), times(Y * x / X).sum()
print(f"polygon {best:.5f} s, cycloid {exact:.5f} s, straight line {straight:.5f} s")
assert exact < best < exact * 1.002 < straight
assert np.abs(y - cycloid).max() < 0.01 * Y

# %% [markdown]
# ## Geodesics
# A point mass on a surface without forces follows a geodesic: of all paths its kinetic energy and length are stationary.
# An arm of two joints moves its tip on a torus (offset R between the axes, length of the second link l), and its mass
# matrix is the metric of the surface.

# %%
R, l = 1.0, 0.4
robot = limb.loads(f"""
name = "torus"
gravity = [0, 0, 0]
tool = {{}}
[[standard_dh]]
type = "revolute"
a = {R}
alpha = "pi/2"
[[standard_dh]]
type = "revolute"
a = {l}
mass = 1
""", format="recipe")
q = np.array([0.3, 0.7])
assert np.allclose(robot.mass_matrix(q), np.diag([(R + l * np.cos(q[1])) ** 2, l**2]))


def geodesic(rates: list[float], length: float = 3.0, steps: int = 3000) -> np.ndarray:
    """The path from q = 0 with these initial rates, by Runge-Kutta steps of the forward dynamics."""
    def f(state: np.ndarray) -> Any:
        return np.r_[state[2:], robot.forward_dynamics(state[:2], state[2:], np.zeros(2))]

    state, h = np.r_[0, 0, rates], length / steps
    path = [state]
    for _ in range(steps):
        k1 = f(state)
        k2 = f(state + h / 2 * k1)
        k3 = f(state + h / 2 * k2)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(state + h * k3))
        path.append(state)
    return np.array(path)


# %% [markdown]
# Along it the speed is constant, and so is `(R + l cos q2)^2 dq1/dt`, Clairaut's relation.

# %%
heading = np.radians(50)
path = geodesic([np.cos(heading) / (R + l), np.sin(heading) / l])
speed2 = 2 * robot.kinetic_energy(path[:, :2], path[:, 2:])
clairaut = (R + l * np.cos(path[:, 1])) ** 2 * path[:, 2]
print(f"speed {np.sqrt(speed2).min():.9f} to {np.sqrt(speed2).max():.9f}, Clairaut {clairaut.min():.9f} to {clairaut.max():.9f}")
assert np.ptp(speed2) < 1e-9 and np.ptp(clairaut) < 1e-9

# %% [markdown]
# It is the shortest path between its ends, as long as these are near: any bump makes it longer.

# %%
part = path[:800, :2]


def length_of(angles: np.ndarray) -> float:
    """Length of the path of the tip through these angles."""
    points = robot.frame_pose(angles, "tool")[:, :3, 3]
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


bump = np.sin(np.pi * np.linspace(0, 1, len(part)))
lengths = [length_of(part + size * bump[:, None] * [0.0, 1.0]) for size in (-0.1, -0.05, 0, 0.05, 0.1)]
print("lengths with bumps of -0.1 to 0.1 rad:", np.round(lengths, 5))
assert np.argmin(lengths) == 2
assert np.isclose(lengths[2], 0.8, atol=2e-3)  # unit speed

# %% [markdown]
# A picture: the fastest polygon beside the cycloid and the straight line.

# %%
chart = limb.plot.lines(x, {"cycloid": -cycloid, "straight line": -Y * x / X, "fastest polygon": -y},
                        title="Brachistochrone", x_label="x, m", y_label="height, m")
chart.save("variations.svg")
chart
