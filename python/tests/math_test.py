"""Rotations, poses, quaternions and inertias, compared with closed forms in NumPy."""

import pickle

import numpy as np
import pytest

import limb
from limb import SE3, SO3, Inertia, Quaternion

EPS = np.finfo(float).eps
W = np.array([0.3, -0.5, 0.7])


def rotation_matrix(w):
    """Rodrigues' formula."""
    angle = np.linalg.norm(w)
    K = SO3.skew(w / angle)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def test_so3():
    R = SO3.exp(W)
    assert np.allclose(R.matrix(), rotation_matrix(W), atol=8 * EPS)
    assert np.allclose(R.log(), W, atol=8 * EPS)
    assert np.allclose(np.asarray(R * R.inverse()), np.eye(3), atol=4 * EPS)
    p = np.array([1.0, 2.0, 3.0])
    assert np.allclose(R * p, R.matrix() @ p, atol=8 * EPS)
    assert np.allclose(SO3.from_rpy(0.1, 0.2, 0.3).matrix(), SO3.from_euler("xyz", [0.1, 0.2, 0.3]).matrix())
    assert np.allclose(SO3.from_rpy(0.1, 0.2, 0.3).euler("ZYX"), [0.3, 0.2, 0.1], atol=8 * EPS)
    e = 1e-6
    slope = (SO3.exp(W).inverse() * SO3.exp(W + [e, 0, 0])).log() / e
    assert np.allclose(SO3.right_jacobian(W)[:, 0], slope, atol=1e-6)
    assert np.allclose(SO3.left_jacobian(W) @ SO3.left_jacobian_inverse(W), np.eye(3), atol=16 * EPS)
    with pytest.raises(limb.Error, match="SO3: R is"):
        SO3(np.diag([1.0, 1.0, -1.0]))
    assert np.array_equal(pickle.loads(pickle.dumps(R)).matrix(), R.matrix())


def test_quaternion():
    i, j = Quaternion.from_wxyz([0, 1, 0, 0]), Quaternion.from_wxyz([0, 0, 1, 0])
    assert np.array_equal((i * j).wxyz(), [0, 0, 0, 1])
    q = Quaternion.exp(W)
    assert np.allclose(q.matrix(), rotation_matrix(W), atol=8 * EPS)
    assert np.array_equal(np.asarray(q), q.xyzw())
    w = np.array([0.1, 0.2, 0.3])
    assert np.allclose(q.angular_velocity(q.rate(w)), w, atol=8 * EPS)
    assert np.allclose(Quaternion().slerp(q, 0.5).log(), W / 2, atol=8 * EPS)
    assert repr(Quaternion()) == "quat_xyzw(0, 0, 0, 1)"
    assert np.array_equal(pickle.loads(pickle.dumps(q)).xyzw(), q.xyzw())


def test_se3():
    V = np.array([0.1, 0.2, 0.3, *W])
    X = SE3.exp(V)
    assert np.allclose(X.log(), V, atol=8 * EPS)
    assert np.allclose(np.asarray(X @ X.inverse()), np.eye(4), atol=8 * EPS)
    assert np.allclose(np.asarray(X), X.matrix()) and np.asarray(X).shape == (4, 4)
    p = np.array([1.0, 2.0, 3.0])
    assert np.allclose(X * p, X.R @ p + X.p, atol=8 * EPS)
    U = np.arange(6.0)
    assert np.allclose(X.act_motion(U), X.adjoint() @ U, atol=32 * EPS)
    # Power is the same in every frame.
    F = np.array([3.0, -1, 2, 0.5, 1, -2])
    assert X.act_force(F) @ X.act_motion(U) == pytest.approx(F @ U, rel=1e-13)
    assert np.allclose(SE3(X.quaternion(), X.p).matrix(), X.matrix(), atol=8 * EPS)
    with pytest.raises(limb.Error, match="last row of X"):
        SE3(np.ones((4, 4)))
    assert np.array_equal(pickle.loads(pickle.dumps(X)).matrix(), X.matrix())


def test_inertia():
    I = Inertia.from_com(2.0, [0.1, 0.2, 0.3], np.diag([0.1, 0.2, 0.25]))
    c = np.array([0.1, 0.2, 0.3])
    assert np.allclose(I.tensor, np.diag([0.1, 0.2, 0.25]) + 2 * (c @ c * np.eye(3) - np.outer(c, c)))
    assert np.allclose(I.com, c) and np.allclose(I.tensor_about_com, np.diag([0.1, 0.2, 0.25]))
    V = np.arange(6.0)
    assert np.allclose(I.momentum(V), I.matrix() @ V)
    X = SE3.exp([0.1, 0.2, 0.3, *W])
    moved = I.transformed(X)
    # Kinetic energy is the same in every frame.
    assert X.act_motion(V) @ moved.momentum(X.act_motion(V)) == pytest.approx(V @ I.momentum(V), rel=1e-13)
    assert (I + I).mass == 4 and np.asarray(I).shape == (6, 6)
    with pytest.raises(limb.Error, match="Inertia::from_com: mass is -1"):
        Inertia.from_com(-1, [0, 0, 0], np.eye(3))
