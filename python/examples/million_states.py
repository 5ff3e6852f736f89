# %% [markdown]
# # A million states
# The same call takes one state or a million. Compiled functions run in SIMD lanes on every core.

# %%
import os
import time
from collections.abc import Callable

import numpy as np

import limb

N = int(os.environ.get("LIMB_EXAMPLE_STATES", 1_000_000))
robot = limb.load("builtin:arm7")
random = np.random.default_rng(1)
Q = robot.random_configuration(seed=1, states=N)
V, A = random.normal(size=(2, N, robot.nv))
times: dict[str, float] = {}


def timed(name: str, call: Callable[[], np.ndarray]) -> np.ndarray:
    call()  # the first call allocates workspaces
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    times[name] = seconds / N * 1e9
    print(f"{name:40} {seconds * 1e3:8.1f} ms, {seconds / N * 1e9:7.1f} ns per state")
    return result


# %% [markdown]
# The method of the robot, and the compiled function in double and in float.

# %%
tau = timed("robot.rnea(Q, V, A)", lambda: robot.rnea(Q, V, A))
fast = robot.compile(["rnea", "aba"])
quick = timed("fast.rnea(Q, V, A)", lambda: fast.rnea(Q, V, A))
assert np.abs(quick - tau).max() < 1e-10 * np.abs(tau).max()
Q32, V32, A32 = (x.astype(np.float32) for x in (Q, V, A))
single = timed("fast.rnea of float32", lambda: fast.rnea(Q32, V32, A32))
assert np.abs(single - tau).max() < 1e-4 * np.abs(tau).max()

# %% [markdown]
# Results written to existing memory: no allocation.

# %%
out = np.empty_like(tau)
timed("fast.rnea(Q, V, A, out=out)", lambda: fast.rnea(Q, V, A, out=out))

# %% [markdown]
# One simulation step of all of them at once: forward dynamics, then integration on the manifold.

# %%
a = timed("fast.aba(Q, V, tau)", lambda: fast.aba(Q, V, tau))
assert np.abs(a - A).max() < 1e-6 * np.abs(A).max()
next_Q = timed("robot.integrate(Q, 1e-3 V)", lambda: robot.integrate(Q, 1e-3 * V))

# %% [markdown]
# A picture of the times.

# %%
shown = {name.replace("(Q, V, A)", ""): ns for name, ns in times.items() if "rnea" in name and "out" not in name}
chart = limb.plot.bars(shown, title="Inverse dynamics, all cores", y_label="ns per state")
chart.save("million_states.svg")
chart
