"""Closed forms as text, LaTeX, SymPy and functions, compared with numerical dynamics of the same robot."""

import numpy as np
import pytest

import limb


@pytest.fixture(scope="module")
def robot():
    return limb.load("builtin:rr")


@pytest.fixture(scope="module")
def closed(robot):
    return robot.derive()


def test_lambdify_agrees_with_the_robot(robot, closed):
    random = np.random.default_rng(1)
    Q, V, A = random.normal(size=(3, 50, 2))
    M, tau = closed.M.lambdify(), closed.tau.lambdify()
    # A dozen sums of products in different order.
    assert np.allclose(M(Q), robot.mass_matrix(Q), rtol=1e-13, atol=1e-13)
    assert np.allclose(tau(Q, V, A), robot.rnea(Q, V, A), rtol=1e-12, atol=1e-12)
    assert np.allclose(closed.G.lambdify()(Q[0]), robot.gravity(Q[0]), rtol=1e-13, atol=1e-13)
    assert closed.K.lambdify()(Q[0], V[0]) == pytest.approx(robot.kinetic_energy(Q[0], V[0]), rel=1e-13)
    assert closed.P.lambdify()(Q).shape == (50,)
    assert np.allclose(closed.christoffel.lambdify()(Q[0]), robot.christoffel(Q[0]), rtol=1e-12, atol=1e-12)
    assert np.allclose(closed.C.lambdify()(Q, V), robot.coriolis_matrix(Q, V), rtol=1e-12, atol=1e-12)


def test_parameters(closed):
    M = closed.M.lambdify()
    name = next(iter(closed.parameters))
    q = [0.1, 0.2]
    assert not np.allclose(M(q, **{name: 5.0}), M(q))
    with pytest.raises(limb.Error, match="M: unknown parameter 'mass', expected some of: "):
        M(q, mass=1)
    with pytest.raises(limb.Error, match="tau: qd is missing, expected 2 numbers per state"):
        closed.tau.lambdify()(q)
    with pytest.raises(limb.Error, match=r"M: q has shape \(3,\), expected \(2,\) or \(..., 2\)"):
        M([1, 2, 3])


def test_latex(closed):
    text = closed.M._repr_latex_()
    assert text.startswith(r"$\displaystyle M = \begin{bmatrix}") and text.endswith(r"\end{bmatrix}$")
    assert "c_2" in text and "\x01" not in text
    assert r"\begin{aligned}" in closed._repr_latex_()
    assert closed.M.shape == (2, 2) and "cos(q2)" in closed.M[0, 1]
    assert "Derivation('rr': 2 coordinates" in repr(closed)


def test_pages_and_functions(closed):
    assert "<math" in closed.page("html", steps=True)
    assert "Lagrangian" in closed.page("text")
    scope = {}
    exec(closed.function("python"), scope)
    with pytest.raises(limb.Error, match="format is 'pdf', expected 'text', 'latex', 'latex-fragment', 'beamer'"):
        closed.page("pdf")


def test_frames_and_methods(robot):
    frame = robot.frames[-1]
    closed = robot.derive(["M", "J", "Jdot"], frames=[frame], method="lagrange")
    q, v = [0.3, -0.4], [1.0, 2.0]
    J = closed.frame(frame, "J").lambdify()(q)
    assert np.allclose(J, robot.frame_jacobian(q, frame, "local_world_aligned"), atol=1e-14)
    dJ = closed.frame(frame, "Jdot").lambdify()(q, v)
    assert np.allclose(dJ, robot.frame_jacobian_rate(q, v, frame, "local_world_aligned"), atol=1e-14)
    assert np.allclose(closed.frame(frame, "p").lambdify()(q), robot.frame_pose(q, frame)[:3, 3], atol=1e-14)
    with pytest.raises(limb.Error, match="method is 'hamilton'"):
        robot.derive(method="hamilton")


@pytest.mark.parametrize("locked", [{}, {"FL_knee": 0.4, "RR_knee": -0.2}])
def test_fixed_base(locked):
    """A base fixed by the option has a closed form, also after joints are locked."""
    robot = limb.load("builtin:quadruped", base="fixed")
    if locked:
        robot = robot.lock_joints(locked)
    closed = robot.derive(["G"])
    assert closed.coordinate_count == robot.nv == 12 - len(locked)
    q = np.linspace(-0.9, 1.1, robot.nv)
    # A few dozen sums of products of at most 10 N m in different order.
    assert np.allclose(closed.G.lambdify()(q), robot.gravity(q), rtol=1e-13, atol=1e-13)


def test_answers(robot):
    closed = robot.derive(["G"])  # the rest is derived when it is needed
    assert closed.check("M22 = m2 lc2^2 + I2")
    wrong = closed.check(r"M_{11} = m_1 l_{c1}^2 + m_2 (l_1^2 + 2 l_1 l_{c2} c_2 + l_{c2}^2) + I_1")
    assert not wrong and wrong.difference == "I2"
    assert wrong.hints[0].startswith("missing: the moment of inertia of link 2")
    assert "derived - given" in str(wrong)
    with pytest.raises(limb.Error, match="parse_formula: unknown name 'mm'"):
        closed.check("M22 = mm")


def test_routes_and_notation(robot):
    closed = robot.derive(method="all")
    page = closed.page("text", steps=True)
    for chapter in ("Euler-Lagrange equations", "Newton-Euler: backward pass", "Twists and wrenches: forward pass"):
        assert chapter in page
    assert r"D(q) \ddot{q} + C(q, \dot{q}) \dot{q} + g(q)" in closed.page("latex", letters="DCg")
    assert r"\cos(\theta_1 + \theta_2)" in closed.page("latex", long_functions=True)
    assert "documentclass" not in closed.page("latex-fragment")
    assert "{beamer}" in closed.page("beamer")
    with pytest.raises(limb.Error, match="letters is 'XYZ', expected 'MVG', 'Mcg' or 'DCg'"):
        closed.page(letters="XYZ")


def test_floating_base():
    robot = limb.load("builtin:planar-monopod")
    closed = robot.derive()
    q, v, a = np.linspace(-0.4, 0.6, 5), np.linspace(0.5, -1, 5), np.linspace(-1, 1, 5)
    # Dozens of terms of at most 100 N in different order.
    assert np.allclose(closed.tau.lambdify()(q, v, a), robot.rnea(q, v, a), rtol=1e-13, atol=1e-12)


def test_partitioned_floating_base():
    robot = limb.load("builtin:planar-monopod")
    parts = robot.derive().floating_base()
    q, v = np.linspace(-0.4, 0.6, 5), np.linspace(0.5, -1, 5)
    M, h, g = robot.mass_matrix(q), robot.bias(q, v), robot.gravity(q)
    # Dozens of terms of at most 100 N in different order.
    assert np.allclose(parts.D_b.lambdify()(q), M[:3, :3], rtol=1e-13, atol=1e-13)
    assert np.allclose(parts.D_bj.lambdify()(q), M[:3, 3:], rtol=1e-13, atol=1e-13)
    assert np.allclose(parts.D_j.lambdify()(q), M[3:, 3:], rtol=1e-13, atol=1e-13)
    assert np.allclose(parts.h_b.lambdify()(q, v), (h - g)[:3], rtol=1e-12, atol=1e-12)
    assert np.allclose(parts.h_j.lambdify()(q, v), (h - g)[3:], rtol=1e-12, atol=1e-12)
    assert np.allclose(parts.g_b.lambdify()(q), g[:3], rtol=1e-13, atol=1e-13)
    assert np.allclose(parts.g_j.lambdify()(q), g[3:], rtol=1e-13, atol=1e-13)
    assert np.array_equal(parts.S, np.eye(5)[3:])
    assert parts.D_bj._repr_latex_().startswith(r"$\displaystyle D_{bj} = \begin{bmatrix}")
    with pytest.raises(limb.Error, match="floating_base: the robot has no floating base"):
        limb.load("builtin:rr").derive().floating_base()


# A slider on a slider: fewer rows than coordinates.
REDUNDANT = """
name = "redundant"
tool = {}
standard_dh = [{type = "prismatic", mass = 2}, {type = "prismatic", mass = 0.5}]
"""


@pytest.mark.parametrize("name, rows", [("builtin:2r", ["vx", "vy"]), ("builtin:rp", ["vx", "vy"]),
                                        (REDUNDANT, ["vz"])])
def test_operational_space(name, rows):
    """Lambda, mu and rho in closed form against (J M^-1 J^T)^-1 in numbers."""
    robot = limb.load(name) if name.startswith("builtin") else limb.loads(name, format="recipe")
    frame = robot.frames[-1]
    closed = robot.derive(["J"], frames=[frame])
    task = closed.operational_space(frame)
    assert task.rows == rows
    random = np.random.default_rng(2)
    q, v = random.uniform(0.3, 1.2, (2, robot.nv))
    which = ["vx vy vz wx wy wz".split().index(row) for row in rows]
    J = robot.frame_jacobian(q, frame, "local_world_aligned")[which]
    drift = robot.frame_jacobian_rate_times_v(q, v, frame, "local_world_aligned")[which]
    inverse = np.linalg.inv(robot.mass_matrix(q))
    Lambda = np.linalg.inv(J @ inverse @ J.T)
    g = robot.gravity(q)
    mu = Lambda @ (J @ inverse @ (robot.bias(q, v) - g) - drift)
    # The condition of J M^-1 J^T is at most a hundred here.
    assert np.allclose(task.Lambda.lambdify()(q), Lambda, rtol=1e-11, atol=1e-11)
    assert np.allclose(task.mu.lambdify()(q, v), mu, rtol=1e-11, atol=1e-11)
    assert np.allclose(task.rho.lambdify()(q), Lambda @ J @ inverse @ g, rtol=1e-11, atol=1e-11)
    assert np.allclose(closed.frame(frame, "rho").lambdify()(q), task.rho.lambdify()(q))
    assert r"\Lambda = " in task.Lambda._repr_latex_()
    with pytest.raises(limb.Error, match="frame is 'elbow', expected one of the requested frames"):
        closed.operational_space("elbow")


def test_operational_space_in_sympy():
    """Lambda J M^-1 J^T = 1 as rational functions."""
    sympy = pytest.importorskip("sympy", reason="the package sympy is not installed")
    closed = limb.load("builtin:2r").derive(["J", "M"], frames=["tool"])
    task = closed.operational_space("tool")
    J = closed.frame("tool").sympy()[:2, :]
    M = closed.M.sympy()
    names = sorted({s for part in (task.Lambda.sympy(), J, M) for s in part.free_symbols}, key=str)
    values = {s: sympy.Rational(17 + 29 * k % 53, 31) for k, s in enumerate(names)}
    Lambda, J, M = (x.subs(values).evalf(60) for x in (task.Lambda.sympy(), J, M))
    assert all(abs(x) < 1e-50 for x in Lambda * J * M.inv() * J.T - sympy.eye(2))


def test_long_sums_are_compiled_in_parts():
    """More terms than Python can compile in one expression."""
    from limb.derivation import _compile, _parts

    text = " - ".join(f"{k}*cos(x + {k})" for k in range(1, 3001))
    parts = _parts(text)
    assert len(parts) > 5 and max(map(len, parts)) < 5000 and " ".join(parts) == text
    above, below = _compile("f", f"({text})/(2*x)")
    values = {"cos": np.cos, "x": 0.3}
    assert len(below) == 1
    expected = np.cos(1.3) - sum(k * np.cos(0.3 + k) for k in range(2, 3001))
    assert sum(eval(part, values) for part in above) == pytest.approx(expected, rel=1e-12)


def test_no_closed_form(quadruped):
    with pytest.raises(limb.Error, match="free"):
        quadruped.derive()


def test_sympy(closed, robot):
    sympy = pytest.importorskip("sympy", reason="the package sympy is not installed")
    M = closed.M.sympy()
    q2 = sympy.Symbol("q2")
    assert M.shape == (2, 2) and M == M.T and M.diff(q2) != sympy.zeros(2, 2)
    values = {sympy.Symbol(name): value for name, value in closed.parameters.items()}
    numbers = np.array(M.subs(values).subs({sympy.Symbol("q1"): 0.1, q2: 0.2}), float)
    assert np.allclose(numbers, robot.mass_matrix([0.1, 0.2]), rtol=1e-13)
    # The Christoffel symbols are combinations of derivatives of M.
    gamma, q = closed.christoffel.sympy(), sympy.symbols("q1 q2")
    expected = (M[0, 0].diff(q[1]) + M[0, 1].diff(q[0]) - M[0, 1].diff(q[0])) / 2
    assert sympy.simplify(gamma[0, 0, 1] - expected) == 0
