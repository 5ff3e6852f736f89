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
