"""Derivatives, compared with difference quotients and with each other."""

import numpy as np
import pytest

import limb

E = 1e-6


@pytest.fixture(scope="module", params=["arm7", "belt-leg", "quadruped"])
def robot(request):
    return limb.load(f"builtin:{request.param}")


def state(robot, seed=6):
    random = np.random.default_rng(seed)
    return robot.random_configuration(seed), *random.normal(size=(2, robot.nv))


def slopes(robot, function, q, *others):
    """Central differences by tangents of q, then by each other argument, with one column per direction."""
    steps = E * np.eye(robot.nv)
    plus_q, minus_q = robot.integrate(q, steps), robot.integrate(q, -steps)
    result = [np.moveaxis((function(plus_q, *others) - function(minus_q, *others)) / (2 * E), 0, -1)]
    for k, x in enumerate(others):
        plus, minus = list(others), list(others)
        plus[k], minus[k] = x + steps, x - steps
        result.append(np.moveaxis((function(q, *plus) - function(q, *minus)) / (2 * E), 0, -1))
    return result


def close(found, expected, size=1.0):
    # Rounding errors of the function divided by the step, and the square of the step.
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < 1e-7 * max(1, np.abs(expected).max(), size)


def test_frames(robot):
    q, v, a = state(robot)
    frame = robot.frames[-1]
    for axes in ("local", "local_world_aligned", "world"):
        d = robot.frame_velocity_derivatives(q, v, frame, axes)
        for found, slope in zip(d, slopes(robot, lambda q, v: robot.frame_velocity(q, v, frame, axes), q, v)):
            close(found, slope)
        assert np.allclose(d.dV_dv, robot.frame_jacobian(q, frame, axes), atol=1e-14)
        for kind in ("spatial", "classical"):
            d = robot.frame_acceleration_derivatives(q, v, a, frame, axes, kind)
            expected = slopes(robot, lambda q, v, a: robot.frame_acceleration(q, v, a, frame, axes, kind), q, v, a)
            for found, slope in zip(d, expected):
                close(found, slope)


def test_center_of_mass_and_momentum(robot):
    q, v, a = state(robot)
    cases = [(robot.center_of_mass_velocity_derivatives(q, v), slopes(robot, robot.center_of_mass_velocity, q, v)),
             (robot.centroidal_momentum_derivatives(q, v), slopes(robot, robot.centroidal_momentum, q, v)),
             (robot.center_of_mass_acceleration_derivatives(q, v, a),
              slopes(robot, robot.center_of_mass_acceleration, q, v, a)),
             (robot.centroidal_momentum_rate_derivatives(q, v, a),
              slopes(robot, robot.centroidal_momentum_rate, q, v, a))]
    for found, expected in cases:
        for x, slope in zip(found, expected):
            close(x, slope, 100)


def test_gradient_and_hessians(robot):
    q, v, a = state(robot)
    w = np.random.default_rng(1).normal(size=robot.nv)
    d = robot.rnea_derivatives(q, v, a)
    gradient = robot.rnea_gradient(q, v, a, w)
    for found, full in zip(gradient, d):
        assert np.allclose(found, full.T @ w, rtol=1e-10, atol=1e-10)
    H = robot.rnea_hessian(q, v, a, w)
    assert np.allclose(H.vv, H.vv.T, atol=1e-9)
    by_v = slopes(robot, lambda q, v, a: robot.rnea_gradient(q, v, a, w).v, q, v, a)
    close(H.qv, by_v[0].T, 100)
    close(H.vv, by_v[1], 100)
    close(H.qu, slopes(robot, lambda q, v, a: robot.rnea_gradient(q, v, a, w).a, q, v, a)[0].T, 100)
    tau = robot.rnea(q, v, a)
    F = robot.aba_hessian(q, v, tau, w)
    assert F.qq.shape == (robot.nv, robot.nv) and np.isfinite(F.qq).all()


def test_second_derivatives():
    robot = limb.load("builtin:rr")
    q, v, a = state(robot)
    S = robot.rnea_second_derivatives(q, v, a)
    expected = slopes(robot, lambda q, v, a: robot.rnea_derivatives(q, v, a).dtau_dq, q, v, a)[0]
    close(S.qq, expected)
    w = np.array([0.3, -0.8])
    assert np.allclose(np.einsum("i,ijk->jk", w, S.qq), robot.rnea_hessian(q, v, a, w).qq, atol=1e-10)
    T = robot.aba_second_derivatives(q, v, a)
    close(T.vq, slopes(robot, lambda q, v, a: robot.aba_derivatives(q, v, a).da_dv, q, v, a)[0])


def test_contacts(quadruped):
    feet = [name for name in quadruped.frames if "foot" in name][:2]
    q, v, tau = state(quadruped)
    d = quadruped.constrained_derivatives(q, v, tau, feet)
    motion = quadruped.constrained_forward_dynamics(q, v, tau, feet)
    assert np.allclose(d.a, motion.a, rtol=1e-9, atol=1e-9) and np.allclose(d.f, motion.f, rtol=1e-9, atol=1e-9)
    def forward(part):
        return lambda *x: quadruped.constrained_forward_dynamics(*x, feet)[part]

    scale = np.abs(motion.a).max() + np.abs(motion.f).max()
    for found, slope in zip((d.da_dq, d.da_dv, d.da_dtau), slopes(quadruped, forward(0), q, v, tau)):
        close(found, slope, 10 * scale)
    for found, slope in zip((d.df_dq, d.df_dv, d.df_dtau), slopes(quadruped, forward(1), q, v, tau)):
        close(found, slope, 10 * scale)
    hit = quadruped.impact_derivatives(q, v, feet, 0.3)
    for found, slope in zip((hit.dv_dq, hit.dv_dv),
                            slopes(quadruped, lambda q, v: quadruped.impact(q, v, feet, 0.3).v, q, v)):
        close(found, slope, 10)


def test_parameters(robot):
    rigid = limb.load(robot.path, robot.base, armature=False, damping=False, friction=False)
    q, v, a = state(rigid)
    tau = rigid.rnea(q, v, a)
    d = rigid.aba_parameter_derivatives(q, v, tau)
    # M da/dp = -Y at the accelerations.
    assert np.allclose(rigid.mass_matrix(q) @ d, -rigid.regressor(q, v, a), atol=1e-7)
    if robot.name == "belt-leg":  # its links are rods: their inertia is singular
        with pytest.raises(limb.Error, match="log_cholesky_parameters: body 'thigh'"):
            rigid.log_cholesky_parameters()
        return
    theta = rigid.log_cholesky_parameters()
    p = rigid.parameters_from_log_cholesky(theta)
    assert np.allclose(p, rigid.inertial_parameters(), rtol=1e-9, atol=1e-12)
    Y = rigid.regressor(q, v, a)
    D = rigid.regressor_by_log_cholesky(theta, q, v, a)
    steps = E * np.eye(len(theta))
    change = (rigid.parameters_from_log_cholesky(theta + steps)
              - rigid.parameters_from_log_cholesky(theta - steps)) / (2 * E)
    close(D, (change @ Y.T).T, np.abs(tau).max())
