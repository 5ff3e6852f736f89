# %% [markdown]
# # The RR arm, derived
# The equations of motion of a planar arm in textbook form, from the Lagrangian and from Newton-Euler. Both are
# polynomials in a canonical form, so that their equality is proved.

# %%
import numpy as np

import limb

robot = limb.load("builtin:rr")
closed = robot.derive()
closed

# %% [markdown]
# Each quantity is a `Formula`: a notebook shows it typeset; it converts to text, LaTeX, SymPy or a function of arrays.

# %%
print(closed.M[0, 1])
closed.M

# %%
closed.V

# %%
closed.G

# %% [markdown]
# As functions: parameters default to their values in the file.

# %%
M, tau = closed.M.lambdify(), closed.tau.lambdify()
Q, V, A = np.random.default_rng(1).normal(size=(3, 100, 2))
assert np.allclose(M(Q), robot.mass_matrix(Q))
assert np.allclose(tau(Q, V, A), robot.rnea(Q, V, A))
print("parameters:", closed.parameters)
print("M with a heavier forearm:\n", M([0.3, 0.5], m2=3.0).round(4))

# %% [markdown]
# In SymPy: the Christoffel symbols are derivatives of the mass matrix.

# %%
try:
    import sympy  # type: ignore[import-not-found, import-untyped, unused-ignore]
except ImportError:
    print("SymPy is not installed")
else:
    expression = closed.M.sympy()
    q1, q2 = sympy.symbols("q1 q2")
    print("dM11/dq2 =", sympy.simplify(expression[0, 0].diff(q2)))
    assert sympy.simplify(expression[0, 0].diff(q2) / 2 - closed.christoffel.sympy()[0, 0, 1]) == 0

# %% [markdown]
# The whole derivation, step by step, as a document: `closed.page("html", steps=True)`.

# %%
print("\n".join(closed.page("text", steps=True).splitlines()[:12]))

# %% [markdown]
# A picture: the entries of the mass matrix over the angle of the elbow.

# %%
elbow = np.linspace(-np.pi, np.pi, 200)
entries = M(np.stack([np.zeros(200), elbow], axis=1))
chart = limb.plot.lines(elbow, {"M11": entries[:, 0, 0], "M12": entries[:, 0, 1], "M22": entries[:, 1, 1]},
                        title="Mass matrix", x_label="q2, rad", y_label="inertia, kg m^2")
chart.save("derive_rr_arm.svg")
chart
