"""Closed forms of `limb derive` against SymPy, which derives the same robots from positions written here by hand:
L = K - P from the mass centres, tau = d/dt dL/dqd - dL/dq. Skipped if SymPy is not installed.
"""

import json
import os
import re
import subprocess

import pytest

sympy = pytest.importorskip("sympy", reason="SymPy is not installed")
from sympy import Matrix, cos, sin, symbols  # noqa: E402

LIMB = os.environ.get("LIMB_CLI", "build/limb")
q = symbols("q1:12")
v = symbols("qd1:12")
a = symbols("qdd1:12")


def limb(model, *arguments):
    out = subprocess.run([LIMB, "derive", model, "--json", *arguments], capture_output=True, text=True, timeout=1200)
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout)


def parse(text):
    names = {name: symbols(name) for name in re.findall(r"[A-Za-z_]\w*", text) if name not in ("sin", "cos", "sqrt", "pi")}
    return sympy.sympify(text.replace("^", "**"), locals=names)


def rate(x):
    return sum(x.diff(q[i]) * v[i] + x.diff(v[i]) * a[i] for i in range(len(q)) if x.has(q[i]) or x.has(v[i]))


def torques(n, bodies, gravity):
    """bodies: (mass, position of the mass centre, angular velocity, tensor, all in world axes)."""
    L = 0
    for m, p, w, I in bodies:
        p, w = Matrix(p), Matrix(w)
        pd = p.applyfunc(rate)
        L += m * pd.dot(pd) / 2 + (w.T * Matrix(I) * w)[0] / 2 + m * Matrix(gravity).dot(p)
    L = sympy.expand(L)
    return [rate(L.diff(v[i])) - L.diff(q[i]) for i in range(n)], L


def is_zero(x):
    """Decided in exponentials: a polynomial in them is zero if and only if its expansion is."""
    return sympy.expand(sympy.expand(x).rewrite(sympy.exp), power_exp=True).expand() == 0


m1, m2, l1, l2, lc1, lc2, I1, I2, g, m, l, d = symbols("m1 m2 l1 l2 lc1 lc2 I1 I2 g m l d")
Ixx1, Iyy1, Izz1, Ixx2, Iyy2, Izz2 = symbols("Ixx1 Iyy1 Izz1 Ixx2 Iyy2 Izz2")
NONE = sympy.zeros(3, 3)


def planar(moment):
    return sympy.diag(0, 0, moment)


def tip(length, angle):
    return Matrix([length * cos(angle), length * sin(angle), 0])


def spin(x):
    return [0, 0, x]


CASES = {
    "2r": (2, [(m1, tip(l1, q[0]), spin(0), NONE),
               (m2, tip(l1, q[0]) + tip(l2, q[0] + q[1]), spin(0), NONE)], [0, -g, 0]),
    "rr": (2, [(m1, tip(lc1, q[0]), spin(v[0]), planar(I1)),
               (m2, tip(l1, q[0]) + tip(lc2, q[0] + q[1]), spin(v[0] + v[1]), planar(I2))], [0, -g, 0]),
    "rp": (2, [(m1, tip(l1, q[0]), spin(v[0]), planar(I1)), (m2, tip(q[1], q[0]), spin(v[0]), planar(I2))], [0, -g, 0]),
    "craig-rp": (2, [(m1, tip(l1, q[0]), spin(v[0]), planar(Izz1)),
                     (m2, tip(q[1], q[0]), spin(v[0]), planar(Iyy2))], [0, -g, 0]),
    "pr": (2, [(m1, [q[0], 0, 0], spin(0), NONE),
               (m2, Matrix([q[0], 0, 0]) + tip(d, q[1]), spin(v[1]), planar(I2))], [0, -g, 0]),
    "pp": (2, [(m1, [0, q[0], 0], spin(0), NONE), (m2, [q[1], q[0], 0], spin(0), NONE)], [0, -g, 0]),
    "belt-leg": (2, [(m, tip(l / 2, q[0] - sympy.pi / 2), spin(v[0]), planar(m * l**2 / 12)),
                     (m, tip(l, q[0] - sympy.pi / 2) + tip(l / 2, q[1] - sympy.pi / 2), spin(v[1]),
                      planar(m * l**2 / 12))], [0, -g, 0]),
    "cartpole": (2, [(m1, [q[0], 0, 0], spin(0), NONE),
                     (m2, [q[0] + l * sin(q[1]), 0, -l * cos(q[1])], [0, v[1], 0], sympy.diag(0, I2, 0))], [0, 0, -g]),
    "pendulum": (1, [(m, tip(l, q[0] - sympy.pi / 2), spin(0), NONE)], [0, -g, 0]),
}


@pytest.mark.parametrize("name", CASES)
def test_lecture_robots(name):
    n, bodies, gravity = CASES[name]
    data = limb(f"builtin:{name}")
    expected, L = torques(n, bodies, gravity)
    assert len(data["tau"]) == n
    for i in range(n):
        assert is_zero(parse(data["tau"][i]) - expected[i]), f"tau{i + 1} of {name}"
        for j in range(n):
            assert is_zero(parse(data["M"][i][j]) - L.diff(v[i]).diff(v[j])), f"M of {name}"
    assert is_zero(parse(data["K"]) - parse(data["P"]) - L), f"L of {name}"


def hanging(length, angle):
    """A vector down, rotated about y: x forward, z up."""
    return Matrix([-length * sin(angle), 0, -length * cos(angle)])


def planar_robot(hips):
    """A trunk with coordinates x, z, pitch and legs with hip and knee at these distances from its centre."""
    m0, I0 = symbols("m0 I0")
    x, z, pitch = q[:3]
    turning = sympy.diag(0, 1, 0)
    bodies = [(m0, [x, 0, z], [0, v[2], 0], I0 * turning)]
    for k, hip_x in enumerate(hips):
        i = 3 + 2 * k
        hip = Matrix([x + hip_x * cos(pitch), 0, z - hip_x * sin(pitch)])
        thigh, shank = pitch + q[i], pitch + q[i] + q[i + 1]
        bodies.append((m1, hip + hanging(lc1, thigh), [0, v[2] + v[i], 0], I1 * turning))
        bodies.append((m2, hip + hanging(l1, thigh) + hanging(lc2, shank), [0, v[2] + v[i] + v[i + 1], 0], I2 * turning))
    return bodies


FLOATING = {"planar-monopod": [0], "planar-biped": [0, 0],
            "planar-quadruped": [symbols("a"), symbols("a"), -symbols("a"), -symbols("a")]}


@pytest.mark.parametrize("name", FLOATING)
def test_floating_bases(name):
    """In numbers of 60 digits: exponentials of eleven angles have too many terms."""
    bodies = planar_robot(FLOATING[name])
    n = 3 + 2 * len(FLOATING[name])
    data = limb(f"builtin:{name}", "--only", "M,tau")
    expected, L = torques(n, bodies, [0, 0, -g])
    names = sorted({s for e in expected for s in e.free_symbols}, key=str)
    values = {s: sympy.Rational(17 + 29 * k % 53, 31) for k, s in enumerate(names)}
    for i in range(n):
        difference = (parse(data["tau"][i]) - expected[i]).subs(values).evalf(60)
        assert abs(difference) < 1e-50, f"tau{i + 1} of {name}"
        for j in range(i, n):
            difference = (parse(data["M"][i][j]) - L.diff(v[i]).diff(v[j])).subs(values).evalf(60)
            assert abs(difference) < 1e-50, f"M{i + 1},{j + 1} of {name}"
    assert [c["actuated"] for c in data["coordinates"]] == [False] * 3 + [True] * (n - 3)


SPATIAL = """name = "spatial"
gravity = [0, 0, "-g"]
[parameters]
g = 9.81
m1 = 1
m2 = 1
l1 = 1
c1 = 0.4
c2 = 0.3
Ixx1 = 0.1
Iyy1 = 0.2
Izz1 = 0.3
Ixx2 = 0.1
Iyy2 = 0.2
Izz2 = 0.3
[[modified_dh]]
type = "revolute"
mass = "m1"
com = ["c1", 0, 0]
inertia = ["Ixx1", "Iyy1", "Izz1"]
[[modified_dh]]
type = "revolute"
alpha = "ALPHA"
a = "l1"
mass = "m2"
com = ["c2", 0, 0]
inertia = ["Ixx2", "Iyy2", "Izz2"]
"""


@pytest.mark.parametrize("alpha", ["pi/2", "pi/3", "1/5"])
def test_spatial_arm(tmp_path, alpha):
    """A rotating base with a lifting arm; the second axis is rotated by 90 degrees, 60 degrees or 0.2 rad."""
    path = tmp_path / "spatial.toml"
    path.write_text(SPATIAL.replace("ALPHA", alpha))
    data = limb(str(path))
    c1, c2 = symbols("c1 c2")
    angle = sympy.sympify(alpha)

    def Rz(t):
        return Matrix([[cos(t), -sin(t), 0], [sin(t), cos(t), 0], [0, 0, 1]])

    def Rx(t):
        return Matrix([[1, 0, 0], [0, cos(t), -sin(t)], [0, sin(t), cos(t)]])

    R1 = Rz(q[0])
    R2 = R1 * Rx(angle) * Rz(q[1])
    w1 = Matrix([0, 0, v[0]])
    w2 = w1 + R1 * Rx(angle) * Matrix([0, 0, v[1]])
    bodies = [(m1, R1 * Matrix([c1, 0, 0]), w1, R1 * sympy.diag(Ixx1, Iyy1, Izz1) * R1.T),
              (m2, R1 * Matrix([l1, 0, 0]) + R2 * Matrix([c2, 0, 0]), w2, R2 * sympy.diag(Ixx2, Iyy2, Izz2) * R2.T)]
    expected, _ = torques(2, bodies, [0, 0, -g])
    for i in range(2):
        assert is_zero(parse(data["tau"][i]) - expected[i]), f"tau{i + 1}"
