"""limb's math module against Pinocchio, SciPy and power series, on the numbers that math_dump prints.

Pinocchio orders spatial vectors as limb does, linear before angular, and its Jexp and Jlog are the
right Jacobian and its inverse; SciPy writes quaternions x y z w and Euler sequences as limb does.

All of it is double, and a result of about twenty operations on numbers of size s differs between
two correct programs by a few eps * s. The tolerances below are n * EPS * scale with n from the
worst case, rounded up to the next power of two (about 2x margin), and a reason where n is large.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="skipped: no numpy in .venv (./run test installs it)")

EPS = np.finfo(float).eps
BUILD = Path(os.environ.get("LIMB_BUILD_DIR", "build"))


@pytest.fixture(scope="module")
def limb():
    text = subprocess.run([BUILD / "tests/math_dump"], capture_output=True, text=True, check=True)
    return json.loads(text.stdout)


@pytest.fixture(scope="module")
def pin():
    return pytest.importorskip("pinocchio", reason="skipped: no pin in .venv")


@pytest.fixture(scope="module")
def Rotation():
    return pytest.importorskip("scipy.spatial.transform", reason="skipped: no scipy").Rotation


class Worst:
    """Largest difference seen for each name, in units of EPS * scale."""

    def __init__(self):
        self.found = {}

    def see(self, name, limb, other, scale=1.0):
        difference = np.max(np.abs(np.asarray(limb, float) - np.asarray(other, float)))
        assert np.isfinite(difference), name
        self.found[name] = np.maximum(self.found.get(name, 0.0), difference / (EPS * scale))

    def check(self, **limits):
        print({name: round(float(value), 2) for name, value in self.found.items()})
        assert set(limits) == set(self.found)
        for name, limit in limits.items():
            assert self.found[name] <= limit, f"{name}: {self.found[name]:.1f} > {limit} eps"


def pose(pin, X):
    X = np.array(X)
    return pin.SE3(X[:3, :3], X[:3, 3])


def test_exponential_maps_and_jacobians(limb, pin):
    worst = Worst()
    for case in limb["groups"]:
        V, angle = np.array(case["V"]), case["angle"]
        X = pin.exp6(pin.Motion(V))
        worst.see("exp3", case["exp3"], pin.exp3(V[3:]))
        worst.see("exp6", case["exp6"], X.homogeneous, 2)
        # Pinocchio's closed forms cancel as 1 / angle and 1 / angle^3 at small angles; the power
        # series below tests limb there.
        small = max(angle, 1e-4) if 0 < angle < 1 else 1.0
        worst.see("Jexp3", case["Jexp3"], pin.Jexp3(V[3:]), 1 / small)
        worst.see("Jexp6", case["Jexp6"], pin.Jexp6(pin.Motion(V)), 2 / small**3)
        worst.see("Jlog3", case["Jlog3"], pin.Jlog3(np.array(case["exp3"])), spread(angle))
        worst.see("Jlog6", case["Jlog6"], pin.Jlog6(pose(pin, case["exp6"])), 2 * spread(angle))
        # At half a turn w and -w are the same rotation: either is right.
        log3, log6 = np.array(case["log3"]), np.array(case["log6"])
        other3, other6 = pin.log3(np.array(case["exp3"])), pin.log6(pose(pin, case["exp6"])).vector
        if angle > 3.1 and log3 @ other3 < 0:
            continue
        worst.see("log3", log3, other3, spread(angle))
        worst.see("log6", log6, other6, 2 * spread(angle))
    worst.check(exp3=4, exp6=16, Jexp3=8, Jexp6=8, log3=64, log6=32, Jlog3=32, Jlog6=32)


def spread(angle):
    """How much Pinocchio's log, which uses sin(angle), magnifies rounding near half a turn."""
    return 1 / max(np.sin(angle), 1e-3) if angle > np.pi / 2 else 1.0


def test_round_trip_is_exact_to_rounding_at_every_angle(limb):
    # limb only: the input of exp against log of its result, also at 0 and at half a turn.
    worst = Worst()
    for case in limb["groups"]:
        V, back = np.array(case["V"]), np.array(case["log6"])
        if case["angle"] == np.pi and V[3:] @ back[3:] < 0:
            back[3:] = -back[3:]
            back[:3] = V[:3]  # the opposite screw has another linear part
        worst.see("round trip", back, V, 4)
    worst.check(**{"round trip": 4})


def test_quaternion_exponential(limb, Rotation):
    worst = Worst()
    for case in limb["groups"]:
        other = Rotation.from_rotvec(case["V"][3:]).as_quat()
        worst.see("q", case["q"], other * np.sign(other @ case["q"]))
    worst.check(q=4)


def test_spatial_vectors_and_inertia(limb, pin):
    worst = Worst()
    for c in limb["spatial"]:
        X, Y = pose(pin, c["X"]), pose(pin, c["Y"])
        V, U, F = pin.Motion(np.array(c["V"])), pin.Motion(np.array(c["U"])), pin.Force(
            np.array(c["F"]))
        body = pin.Inertia(c["mass"], np.array(c["com"]), np.array(c["I_com"]))
        worst.see("XY", c["XY"], (X * Y).homogeneous, 4)
        worst.see("inverse", c["X_inverse"], X.inverse().homogeneous, 4)
        worst.see("motion", c["XV"], X.act(V).vector, 12)
        worst.see("motion back", c["X_invV"], X.actInv(V).vector, 12)
        worst.see("force", c["XF"], X.act(F).vector, 12)
        worst.see("force back", c["X_invF"], X.actInv(F).vector, 12)
        worst.see("cross motion", c["VxU"], V.cross(U).vector, 12)
        worst.see("cross force", c["VxF"], V.cross(F).vector, 12)
        worst.see("power", c["power"], V.dot(F), 24)
        worst.see("adjoint", c["adjoint"], X.action, 4)
        worst.see("dual adjoint", c["dual_adjoint"], X.dualAction, 4)
        # A body of eight masses up to 2 kg within a metre, moved by up to 3.5 m: about 200 kg m^2.
        worst.see("inertia", c["I"], body.matrix(), 16)
        worst.see("momentum", c["IV"], (body * V).vector, 64)
        worst.see("inertia moved", c["XI"], X.act(body).matrix(), 200)
        worst.see("energy", c["energy"], body.vtiv(V) / 2, 200)
    limits = dict.fromkeys(worst.found, 4)
    worst.check(**limits)


def test_euler_angles(limb, Rotation):
    worst = Worst()
    for c in limb["euler"]:
        s = c["sequence"]
        to_matrix = Rotation.from_euler(s, c["angles"]).as_matrix()
        worst.see("to matrix", c["to_matrix"], to_matrix)
        other = Rotation.from_matrix(c["R"]).as_euler(s)
        apart = np.remainder(np.array(c["from_matrix"]) - other + np.pi, 2 * np.pi) - np.pi
        # The outer angles magnify rounding as 1 / distance to gimbal lock; SciPy by its square.
        worst.see("from matrix", apart, 0, 1 / c["measure"] ** 2)
    assert {c["sequence"] for c in limb["euler"]} == {
        f"{a}{b}{c}" for letters in ("xyz", "XYZ") for a in letters for b in letters
        for c in letters if a != b and b != c}
    worst.check(**{"to matrix": 8, "from matrix": 8})


def test_slerp(limb, Rotation):
    Slerp = pytest.importorskip("scipy.spatial.transform").Slerp
    worst = Worst()
    for c in limb["interpolation"]:
        other = Slerp([0, 1], Rotation.from_quat([c["a"], c["b"]]))(c["t"]).as_quat()
        worst.see("slerp", c["slerp"], other * np.sign(other @ c["slerp"]))
    worst.check(slerp=4)


def test_exp_and_jacobians_against_power_series(limb):
    """exp(M) = sum M^n / n! and J_right = sum (-ad)^n / (n + 1)!, summed with 40 digits."""
    mp = pytest.importorskip("mpmath", reason="skipped: no mpmath in .venv (sympy brings it)").mp
    mp.dps = 40
    worst = Worst()
    for case in limb["groups"][:40]:
        V = case["V"]
        v, w = skew(V[:3]), skew(V[3:])
        hat = [w[i] + [V[i]] for i in range(3)] + [[0.0] * 4]
        minus_ad = [[-x for x in w[i] + v[i]] for i in range(3)] + [
            [0.0] * 3 + [-x for x in w[i]] for i in range(3)]
        worst.see("exp6", case["exp6"], series(mp, mp.matrix(hat), 0), 2)
        worst.see("Jexp6", case["Jexp6"], series(mp, mp.matrix(minus_ad), 1), 2)
        inverse = series(mp, mp.matrix(minus_ad), 1, invert=True)
        worst.see("Jlog6", case["Jlog6"], inverse, 2)
    worst.check(exp6=4, Jexp6=8, Jlog6=8)


def skew(w):
    x, y, z = w
    return [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]


def series(mp, M, offset, invert=False):
    """Sum over n of M^n / (n + offset)!; |M| is at most about 5, so 60 terms reach 1e-40."""
    term = mp.eye(M.rows) / mp.factorial(offset)
    total = term.copy()
    for n in range(1, 60):
        term = term * M / (n + offset)
        total += term
    if invert:
        total = total**-1
    return np.array([[float(total[i, j]) for j in range(M.cols)] for i in range(M.rows)])
