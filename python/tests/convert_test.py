"""Conventions of other libraries, compared with the libraries if they are installed."""

import numpy as np
import pytest

import limb


def state(robot, seed=5):
    random = np.random.default_rng(seed)
    return robot.random_configuration(seed), random.normal(size=robot.nv), random.normal(size=robot.nv)


@pytest.mark.parametrize("library", ["pinocchio", "mujoco", "drake", "rbdl"])
def test_round_trip(quadruped, library):
    q, v, a = state(quadruped)
    to, back = getattr(limb.convert, f"to_{library}"), getattr(limb.convert, f"from_{library}")
    there = to(quadruped, q, v, a, a)
    here = back(quadruped, *there)
    for found, expected in zip(here, (q, v, a, a)):
        assert np.allclose(found, expected, atol=1e-14)  # a dozen products of numbers near one
    batch = to(quadruped, np.array([q, q]), v)
    assert batch.q.shape == (2, len(there.q)) and np.allclose(batch.v[1], there.v, atol=0)
    assert batch.a is None
    c = getattr(limb.convert, library)(quadruped)
    assert sorted(c.joints) == sorted(joint.name for joint in quadruped.joints)
    with pytest.raises(TypeError, match="accelerations convert only together with velocities"):
        to(quadruped, q, a=a)


def test_pinocchio_agrees(quadruped):
    pin = pytest.importorskip("pinocchio", reason="the package pin is not installed")
    rigid = limb.load("builtin:quadruped", armature=False, damping=False, friction=False)
    model = limb.convert.pinocchio_model(rigid)
    data = model.createData()
    c = limb.convert.pinocchio(rigid)
    q, v, a = state(rigid)
    there = limb.convert.to_pinocchio(rigid, q, v, a)
    tau = pin.rnea(model, data, there.q, there.v, there.a)
    assert np.allclose(c.tau_to(q, rigid.rnea(q, v, a)), tau, rtol=1e-12, atol=1e-11)
    M = pin.crba(model, data, there.q)
    M = np.triu(M) + np.triu(M, 1).T
    assert np.allclose(c.mass_matrix_to(q, rigid.mass_matrix(q)), M, rtol=1e-12, atol=1e-12)


def test_couplings_are_refused():
    leg = limb.load("builtin:belt-leg")
    c = limb.convert.pinocchio(leg)
    q = leg.random_configuration(1)
    if any(joint.q_index < 0 for joint in leg.joints):
        assert c.q_to(q).shape == (c.nq,)
        with pytest.raises(limb.Error, match="q_from: joints of this robot are coupled to others"):
            c.q_from(c.q_to(q))


def test_unknown_library(arm):
    with pytest.raises(limb.Error, match="library is 'ode', expected 'pinocchio', 'mujoco', 'drake' or 'rbdl'"):
        limb.convert.Converter(arm, "ode")
