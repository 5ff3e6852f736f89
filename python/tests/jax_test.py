"""limb.jax: values, jit, vmap and derivatives of every function, compared with those of the robot and with difference
quotients along tangents."""

import numpy as np
import pytest

import limb

jax = pytest.importorskip("jax", reason="the package jax is not installed")
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)
import limb.jax  # noqa: E402
from limb._gradients import FUNCTIONS, size_of  # noqa: E402

FEET = ["FL_foot", "RR_foot"]


def options(name, robot):
    if name.startswith("frame_"):
        return {"frame": robot.frames[-1]}
    return {"contacts": FEET} if name in ("constrained_forward_dynamics", "impact") else {}


def state(robot, name, states=None, seed=1):
    random = np.random.default_rng(seed)
    lead = () if states is None else (states,)
    return [robot.random_configuration(seed + k, states) if size_of(robot, argument) == robot.nq and argument[0] == "q"
            else random.normal(size=lead + (robot.nv,)) for k, argument in enumerate(FUNCTIONS[name].inputs)]


def expected(name, robot, arrays):
    return FUNCTIONS[name].values(robot, *arrays, **({"restitution": 0.0} if name == "impact" else {}), **options(name, robot))


def flat(result):
    return np.concatenate([np.ravel(x) for x in (result if isinstance(result, tuple) else (result,))])


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_values_with_jit_and_vmap(quadruped, name):
    call = getattr(limb.jax, name)
    one, many = state(quadruped, name), state(quadruped, name, 3)
    assert np.array_equal(flat(jax.jit(lambda *x: call(quadruped, *x, **options(name, quadruped)))(*one)),
                          flat(expected(name, quadruped, one)))
    mapped = jax.jit(jax.vmap(lambda *x: call(quadruped, *x, **options(name, quadruped))))(*many)
    assert np.array_equal(flat(mapped), flat(expected(name, quadruped, many)))


@pytest.mark.parametrize("robot_name", ["quadruped", "belt-leg"])
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_gradients(robot_name, name):
    """Reverse and forward mode against central differences along tangents, step 1e-6: their error is eps / 1e-6 times the
    size of the result, plus 1e-12 times its third derivative."""
    if robot_name != "quadruped" and name in ("constrained_forward_dynamics", "impact"):
        pytest.skip("contacts are those of the quadruped")
    robot = limb.load(f"builtin:{robot_name}")
    call, arrays = getattr(limb.jax, name), state(robot, name)
    inputs = FUNCTIONS[name].inputs
    weights = np.random.default_rng(9).normal(size=flat(expected(name, robot, arrays)).shape)

    def scalar(*x):
        result = call(robot, *x, **options(name, robot))
        parts = [jax.numpy.ravel(part) for part in (result if isinstance(result, tuple) else (result,))]
        return jax.numpy.concatenate(parts) @ weights

    gradients = jax.jit(jax.grad(scalar, argnums=tuple(range(len(arrays)))))(*arrays)
    forward = jax.jacfwd(scalar, argnums=tuple(range(len(arrays))))(*arrays)
    scale = np.linalg.norm(flat(expected(name, robot, arrays)) * weights) + 1
    for i, argument in enumerate(inputs):
        assert np.allclose(gradients[i], forward[i], rtol=1e-12, atol=1e-12 * scale)
        for k in range(robot.nv):
            w = np.zeros(robot.nv)
            w[k] = 1e-6
            sides = []
            for sign in (1, -1):
                moved = list(arrays)
                moved[i] = robot.integrate(arrays[i], sign * w) if argument[0] == "q" else arrays[i] + sign * w
                sides.append((moved[i], flat(expected(name, robot, moved)) @ weights))
            slope = (sides[0][1] - sides[1][1]) / 2e-6
            rate = (sides[0][0] - sides[1][0]) / 2e-6 @ np.asarray(gradients[i])
            assert abs(slope - rate) < 1e-7 * scale + 1e-5 * abs(slope), (argument, k)


def test_gradient_through_vmap_and_broadcast(arm):
    Q, v = arm.random_configuration(1, 4), np.ones(arm.nv)
    total = jax.grad(lambda v: limb.jax.inverse_dynamics(arm, Q, v, v).sum())(v)
    each = [jax.grad(lambda v, q=q: limb.jax.inverse_dynamics(arm, q, v, v).sum())(v) for q in Q]
    assert np.allclose(total, np.sum(each, axis=0), rtol=1e-12)


def test_float32_stays_float32(arm):
    q = jax.numpy.zeros(arm.nq, dtype="float32")
    assert limb.jax.gravity(arm, q).dtype == "float32"
    assert jax.grad(lambda q: limb.jax.potential_energy(arm, q))(q).dtype == "float32"


def test_wrong_size_is_named(arm):
    with pytest.raises(ValueError, match=r"limb.jax.gravity: q has shape \(3,\), expected \(7,\) or \(..., 7\)"):
        limb.jax.gravity(arm, np.zeros(3))
