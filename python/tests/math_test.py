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


def same(p, q):
    """The same rotation, whatever the sign."""
    return np.minimum(np.abs(p.xyzw() - q.xyzw()).max(), np.abs(p.xyzw() + q.xyzw()).max())


def test_quaternion_algebra():
    a, b = Quaternion.from_wxyz([1.0, 2, 3, 4]), Quaternion.from_wxyz([0.5, -1, 0.25, 2])
    assert np.array_equal((a + b).wxyz(), [1.5, 1, 3.25, 6])
    assert np.array_equal((a - b).wxyz(), [0.5, 3, 2.75, 2])
    assert np.array_equal((2 * a).wxyz(), (a * 2).wxyz()) and np.array_equal((a / 2).wxyz(), [0.5, 1, 1.5, 2])
    # The product is linear in both factors, and it is both matrix forms.
    assert np.array_equal(((a + b) * a).wxyz(), (a * a + b * a).wxyz())
    assert np.allclose(a.left_product_matrix() @ b.xyzw(), (a * b).xyzw(), atol=16 * EPS)
    assert np.allclose(b.right_product_matrix() @ a.xyzw(), (a * b).xyzw(), atol=16 * EPS)
    assert a.dot(b) == pytest.approx(0.5 - 2 + 0.75 + 8)
    q = Quaternion.exp(W)
    assert np.array_equal((-q).aligned(q).xyzw(), q.xyzw())
    axis, angle = q.axis_angle()
    assert np.allclose(axis * angle, W, atol=8 * EPS)
    assert np.linalg.norm(axis) == pytest.approx(1, abs=4 * EPS)
    with pytest.raises(limb.Error, match="to_axis_angle: q is"):
        a.axis_angle()


@pytest.mark.parametrize("sequence", SO3.euler_sequences())
def test_euler_sequences(sequence):
    """Angles, rates and gimbal lock of all 24, against products of rotations about the axes."""
    random = np.random.default_rng(3)
    proper = sequence[0] == sequence[2]
    unit = dict(zip("xyz", np.eye(3)))
    angles = random.uniform(-1.2, 1.2, 3) + [0, 1.5 if proper else 0, 0]
    turns = [rotation_matrix(unit[letter.lower()] * angle) for letter, angle in zip(sequence, angles)]
    R = turns[0] @ turns[1] @ turns[2] if sequence.isupper() else turns[2] @ turns[1] @ turns[0]
    assert np.allclose(SO3.from_euler(sequence, angles).matrix(), R, atol=16 * EPS)
    assert same(Quaternion.from_euler(sequence, angles), SO3(R).quaternion()) < 16 * EPS
    found = SO3(R).euler_lock(sequence)
    assert np.allclose(found.angles, angles, atol=64 * EPS) and not found.locked
    assert np.allclose(SO3(R).quaternion().euler(sequence), angles, atol=64 * EPS)
    expected = np.sin(angles[1]) if proper else np.cos(angles[1])
    assert found.measure == pytest.approx(abs(expected), abs=16 * EPS)
    # Rates: the derivative of the rotation, by differences.
    rates, h = random.normal(size=3), 1e-6
    ahead, behind = (SO3.from_euler(sequence, angles + s * h * rates) for s in (1, -1))
    body = SO3.euler_rate_matrix(sequence, angles, "body") @ rates
    assert np.allclose((behind.inverse() * ahead).log() / (2 * h), body, atol=1e-9)
    E = SO3.euler_rate_matrix(sequence, angles)
    assert np.allclose(E, R @ SO3.euler_rate_matrix(sequence, angles, "body"), atol=16 * EPS)
    assert abs(np.linalg.det(E)) == pytest.approx(found.measure, abs=16 * EPS)
    for axes in ("world", "body"):
        both = SO3.euler_rate_inverse(sequence, angles, axes) @ SO3.euler_rate_matrix(sequence, angles, axes)
        assert np.allclose(both, np.eye(3), atol=64 * EPS)
    # At lock two axes are parallel: the rank is 2, and the lost direction is perpendicular to all axes.
    lock = np.array([0.3, 0 if proper else np.pi / 2, 0.4])
    up = SO3.from_euler(sequence, lock)
    found = up.euler_lock(sequence)
    assert found.locked and found.distance < 8 * EPS and found.angles[2] == 0
    assert np.allclose(SO3.from_euler(sequence, found.angles).matrix(), up.matrix(), atol=32 * EPS)
    E = SO3.euler_rate_matrix(sequence, found.angles)
    assert np.linalg.matrix_rank(E, tol=1e-12) == 2
    assert np.allclose(found.lost_direction @ E, 0, atol=16 * EPS)
    with pytest.raises(limb.ComputationError, match="gimbal lock"):
        SO3.euler_rate_inverse(sequence, found.angles)


def test_euler_errors():
    assert len(SO3.euler_sequences()) == 24
    with pytest.raises(limb.Error, match="axes is 'local', expected 'world' or 'body'"):
        SO3.euler_rate_matrix("ZYX", [0, 0, 0], "local")
    with pytest.raises(limb.Error, match="same axis"):
        SO3().euler_lock("XXZ")
    assert SO3.is_rotation(SO3.exp(W).matrix()) and not SO3.is_rotation(1.001 * np.eye(3))


def test_squad():
    """It passes through the keys, and its angular velocity is continuous there."""
    keys = [Quaternion.exp(w) for w in ([0, 0, 0], [0.4, 0.1, 0], [0.5, 0.6, -0.2], [0.1, 0.9, 0.3])]
    controls = [keys[i].squad_control(keys[i - 1], keys[i + 1]) for i in (1, 2)]
    first = keys[0].squad_control(keys[0], keys[1])
    path = [lambda t: keys[0].squad(keys[1], first, controls[0], t),
            lambda t: keys[1].squad(keys[2], controls[0], controls[1], t)]
    assert same(path[0](1.0), keys[1]) < 8 * EPS and same(path[1](0.0), keys[1]) < 8 * EPS
    h = 1e-6
    before = (path[0](1 - h).inverse() * path[0](1.0)).log() / h
    after = (path[1](0.0).inverse() * path[1](h)).log() / h
    assert np.allclose(before, after, atol=1e-5)  # of the order of h times the angular acceleration
    # Keys on one axis at equal distances: the same as slerp, at constant speed.
    line = [Quaternion.exp([0, 0, angle]) for angle in (0, 0.5, 1, 1.5)]
    control = [line[i].squad_control(line[i - 1], line[i + 1]) for i in (1, 2)]
    assert same(line[1].squad(line[2], *control, 0.3), line[1].slerp(line[2], 0.3)) < 8 * EPS
    with pytest.raises(limb.Error, match="squad_control: before is"):
        keys[0].squad_control(2 * keys[0], keys[1])


def sampled(inside, size, count=60):
    """Mass 1 spread evenly over the cells of a grid that are inside: a midpoint rule for the tensor."""
    edges = [np.linspace(-x, x, count, endpoint=False) + x / count for x in size]
    points = np.stack(np.meshgrid(*edges, indexing="ij"), -1).reshape(-1, 3)
    points = points[inside(*points.T)]
    return Inertia.from_point_masses(np.full(len(points), 1 / len(points)), points)


SOLIDS = [
    (Inertia.box([0.5, 0.3, 0.2], mass=1), 0.5 * 0.3 * 0.2, lambda density: Inertia.box([0.5, 0.3, 0.2], density=density),
     lambda x, y, z: abs(x) < 1, (0.25, 0.15, 0.1)),
    (Inertia.cylinder(0.1, 0.4, mass=1), np.pi * 0.1**2 * 0.4, lambda d: Inertia.cylinder(0.1, 0.4, density=d),
     lambda x, y, z: x**2 + y**2 < 0.01, (0.1, 0.1, 0.2)),
    (Inertia.hollow_cylinder(0.06, 0.1, 0.4, mass=1), np.pi * (0.1**2 - 0.06**2) * 0.4,
     lambda d: Inertia.hollow_cylinder(0.06, 0.1, 0.4, density=d),
     lambda x, y, z: (x**2 + y**2 < 0.01) & (x**2 + y**2 > 0.0036), (0.1, 0.1, 0.2)),
    (Inertia.sphere(0.2, mass=1), 4 / 3 * np.pi * 0.2**3, lambda d: Inertia.sphere(0.2, density=d),
     lambda x, y, z: x**2 + y**2 + z**2 < 0.04, (0.2, 0.2, 0.2)),
    (Inertia.hollow_sphere(0.1, 0.2, mass=1), 4 / 3 * np.pi * (0.2**3 - 0.1**3),
     lambda d: Inertia.hollow_sphere(0.1, 0.2, density=d),
     lambda x, y, z: (x**2 + y**2 + z**2 < 0.04) & (x**2 + y**2 + z**2 > 0.01), (0.2, 0.2, 0.2)),
    (Inertia.ellipsoid([0.3, 0.2, 0.1], mass=1), 4 / 3 * np.pi * 0.3 * 0.2 * 0.1,
     lambda d: Inertia.ellipsoid([0.3, 0.2, 0.1], density=d),
     lambda x, y, z: (x / 0.3)**2 + (y / 0.2)**2 + (z / 0.1)**2 < 1, (0.3, 0.2, 0.1)),
    (Inertia.capsule(0.1, 0.2, mass=1), np.pi * 0.1**2 * 0.2 + 4 / 3 * np.pi * 0.1**3,
     lambda d: Inertia.capsule(0.1, 0.2, density=d),
     lambda x, y, z: x**2 + y**2 + np.maximum(abs(z) - 0.1, 0)**2 < 0.01, (0.1, 0.1, 0.2)),
    (Inertia.cone(0.2, 0.5, mass=1), np.pi * 0.2**2 * 0.5 / 3, lambda d: Inertia.cone(0.2, 0.5, density=d),
     lambda x, y, z: (z > 0) & (np.hypot(x, y) < 0.2 * (1 - z / 0.5)), (0.2, 0.2, 0.5)),
]


@pytest.mark.parametrize("solid, volume, by_density, inside, size", SOLIDS)
def test_solids(solid, volume, by_density, inside, size):
    # The midpoint rule misses a layer of at most one cell at curved surfaces.
    found = sampled(inside, size)
    assert np.allclose(solid.tensor, found.tensor, atol=0.03 * np.trace(solid.tensor))
    assert np.allclose(solid.com, found.com, atol=0.02 * np.max(size))
    dense = by_density(2700.0)
    assert dense.mass == pytest.approx(2700 * volume, rel=1e-14)
    assert np.allclose(dense.tensor, dense.mass * solid.tensor, rtol=1e-13)
    assert solid.violations() == []


def test_solids_of_the_lecture():
    """Closed forms: the tube has m (r1^2 + r2^2) / 2, a box about its corner has negative products."""
    assert Inertia.hollow_cylinder(0.3, 0.5, 0.2, mass=2).tensor[2, 2] == pytest.approx(0.09 + 0.25)
    assert Inertia.spherical_shell(0.5, mass=3).tensor[0, 0] == pytest.approx(2 / 3 * 3 * 0.25)
    m, w, l, h = 2.4, 0.5, 0.3, 0.2
    box = Inertia.box([w, l, h], mass=m)
    corner = box.tensor_about([-w / 2, -l / 2, -h / 2])
    expected = m * np.array([[(l**2 + h**2) / 3, -w * l / 4, -w * h / 4], [-w * l / 4, (w**2 + h**2) / 3, -l * h / 4],
                             [-w * h / 4, -l * h / 4, (w**2 + l**2) / 3]])
    assert np.allclose(corner, expected, atol=1e-15)
    assert np.allclose(Inertia.parallel_axis_from_com(box.tensor, m, [w / 2, l / 2, h / 2]), corner, atol=1e-15)
    assert np.allclose(Inertia.parallel_axis_to_com(corner, m, [w / 2, l / 2, h / 2]), box.tensor, atol=1e-15)
    # Both conventions of products give the same tensor.
    a, b = Inertia.tensor_from_entries(1, 2, 2.5, -0.1, 0.2, 0.3), Inertia.tensor_from_products(1, 2, 2.5, 0.1, -0.2, -0.3)
    assert np.array_equal(a, b) and a[0, 1] == -0.1
    # Principal axes: a box that is turned has its own moments again.
    turned = box.transformed(SE3(SO3.exp(W).matrix(), [0.1, 0.2, 0.3]))
    moments, R = turned.principal_axes()
    assert np.allclose(moments, np.sort(np.diag(box.tensor)), rtol=1e-13)
    assert np.allclose(R @ np.diag(moments) @ R.T, turned.tensor_about_com, atol=1e-14)
    assert np.linalg.det(R) == pytest.approx(1)
    assert np.allclose(np.sort(np.abs(SO3.exp(W).matrix().T @ R), axis=0)[-1], 1, atol=1e-13)
    assert np.allclose(Inertia.principal_axes_of(np.full((3, 3), -1 / 4) + 11 / 12 * np.eye(3)).moments,
                       [1 / 6, 11 / 12, 11 / 12])
    V = np.array([0.1, 0.2, 0.3, 1, 2, 3])
    assert turned.kinetic_energy(V) == pytest.approx(V @ turned.momentum(V) / 2)
    assert any("moment" in line or "triangle" in line for line in Inertia.from_com(1, [0, 0, 0], np.diag([1, 1, 3])).violations())


def test_inertia_of_a_mesh():
    """A box of twelve triangles, and a tetrahedron with its known volume."""
    size = np.array([0.5, 0.3, 0.2])
    corners = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)]) * size
    triangles = [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6],
                 [1, 3, 5], [3, 7, 5]]
    mesh = Inertia.from_mesh(corners, triangles, mass=2.4)
    assert np.allclose(mesh.com, size / 2, atol=1e-15)
    assert np.allclose(mesh.tensor_about_com, Inertia.box(size, mass=2.4).tensor, atol=1e-15)
    tetrahedron = Inertia.from_mesh(np.vstack([np.zeros(3), np.eye(3)]), np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
                                    density=6.0)
    assert tetrahedron.mass == pytest.approx(1)
    with pytest.raises(limb.Error, match="edge"):
        Inertia.from_mesh(corners, triangles[1:], mass=1)


def test_solid_errors():
    with pytest.raises(limb.Error, match="Inertia.box: mass, density is neither given, expected one of them"):
        Inertia.box([1, 1, 1])
    with pytest.raises(limb.Error, match="Inertia.sphere: mass, density is both given, expected one of them"):
        Inertia.sphere(1, mass=1, density=1)
    with pytest.raises(limb.Error, match="cylinder_inertia: radius is -1"):
        Inertia.cylinder(-1, 1, mass=1)
    with pytest.raises(limb.Error, match="positions is 1 points, expected one per mass, 2"):
        Inertia.from_point_masses([1, 2], [[0, 0, 0]])


def test_lie_bracket():
    """ad is the derivative of the adjoint, and the force of a moving body is I dV/dt + ad*(V) I V."""
    V, U = np.array([0.1, 0.2, 0.3, *W]), np.arange(6.0)
    h = 1e-6
    rate = (SE3.exp(h * V).adjoint() - SE3.exp(-h * V).adjoint()) @ U / (2 * h)
    assert np.allclose(SE3.ad(V) @ U, rate, atol=1e-8)
    assert np.array_equal(SE3.ad_dual(V), -SE3.ad(V).T)
    # A body that spins about a principal axis needs no force.
    I = Inertia.box([0.5, 0.3, 0.2], mass=2)
    spin = np.array([0, 0, 0, 0, 0, 2.0])
    assert np.allclose(SE3.ad_dual(spin) @ I.momentum(spin), 0)
    # About another axis the moment is w x I w.
    w = np.array([1.0, 2, 3])
    moment = SE3.ad_dual([0, 0, 0, *w]) @ I.momentum([0, 0, 0, *w])
    assert np.allclose(moment[3:], np.cross(w, I.tensor @ w), atol=1e-15)
