#!/usr/bin/env python3
"""Exact mass, mass centre and inertia tensor of homogeneous solids, by symbolic integration.

Prints the C++ table limb/math/inertia_sympy_data.hpp. Each solid is integrated over its own
definition (bounds in suitable coordinates times the Jacobian determinant); no formula of limb and
none from a table enters. Needs SymPy:

    python3 tools/oracles/solids_sympy.py > limb/math/inertia_sympy_data.hpp
"""

import sympy as sp
from sympy import Rational as Q

x, y, z, r, phi, th, u, v, w, s = sp.symbols("x y z r phi theta u v w s", real=True)
RHO = Q(27, 10)


def moments(point, measure, bounds):
    """Mass, first moment and tensor about the origin of RHO over point(coordinates)."""
    X, Y, Z = point

    def over(f):
        value = sp.expand(f * measure)
        for variable, low, high in bounds:
            value = sp.expand(sp.integrate(value, (variable, low, high)))
        return sp.simplify(RHO * value)

    mass = over(sp.Integer(1))
    first = [over(c) for c in point]
    tensor = [over(Y**2 + Z**2), over(X**2 + Z**2), over(X**2 + Y**2),
              over(-X * Y), over(-X * Z), over(-Y * Z)]
    return [mass, *first, *tensor]


def add(*parts):
    return [sum(column) for column in zip(*parts)]


ROUND = (r * sp.cos(phi), r * sp.sin(phi), z)
TURN = (phi, 0, 2 * sp.pi)
BALL = (s * sp.sin(th) * sp.cos(phi), s * sp.sin(th) * sp.sin(phi), s * sp.cos(th))
BALL_MEASURE = s**2 * sp.sin(th)


def box(a, b, c, corner):
    low = [0, 0, 0] if corner else [-a / 2, -b / 2, -c / 2]
    return moments((x, y, z), 1, [(x, low[0], low[0] + a), (y, low[1], low[1] + b),
                                  (z, low[2], low[2] + c)])


def tube(inner, outer, length):
    return moments(ROUND, r, [(r, inner, outer), TURN, (z, -length / 2, length / 2)])


def ball(inner, outer):
    return moments(BALL, BALL_MEASURE, [(s, inner, outer), TURN, (th, 0, sp.pi)])


def shell(radius, thickness):
    point = [c.subs(s, radius) for c in BALL]
    return moments(point, thickness * BALL_MEASURE.subs(s, radius), [TURN, (th, 0, sp.pi)])


def capsule(radius, length):
    def half(sign):
        top = (BALL[0], BALL[1], sign * (length / 2 + BALL[2]))
        return moments(top, BALL_MEASURE, [(s, 0, radius), TURN, (th, 0, sp.pi / 2)])

    return add(tube(0, radius, length), half(1), half(-1))


def cone(radius, height):
    return moments(ROUND, r, [(r, 0, radius * (1 - z / height)), TURN, (z, 0, height)])


def ellipsoid(a, b, c):
    point = (a * BALL[0], b * BALL[1], c * BALL[2])
    return moments(point, a * b * c * BALL_MEASURE, [(s, 0, 1), TURN, (th, 0, sp.pi)])


def tetrahedron(corners):
    p = [sp.Matrix(c) for c in corners]
    edges = sp.Matrix.hstack(p[1] - p[0], p[2] - p[0], p[3] - p[0])
    point = p[0] + edges * sp.Matrix([u, v, w])
    return moments(tuple(point), sp.Abs(edges.det()),
                   [(u, 0, 1 - v - w), (v, 0, 1 - w), (w, 0, 1)])


SOLIDS = {
    "box": box(Q(1, 2), Q(3, 10), Q(1, 5), corner=False),
    "box_at_corner": box(Q(1, 2), Q(3, 10), Q(1, 5), corner=True),
    "cylinder": tube(0, Q(7, 20), Q(9, 10)),
    "hollow_cylinder": tube(Q(1, 4), Q(7, 20), Q(9, 10)),
    "sphere": ball(0, Q(7, 20)),
    "hollow_sphere": ball(Q(1, 4), Q(7, 20)),
    "spherical_shell": shell(Q(7, 20), Q(1, 100)),
    "capsule": capsule(Q(7, 20), Q(9, 10)),
    "cone": cone(Q(7, 20), Q(9, 10)),
    "ellipsoid": ellipsoid(Q(1, 2), Q(3, 10), Q(1, 5)),
    "tetrahedron": tetrahedron([(Q(1, 8), Q(1, 4), -Q(1, 2)), (Q(3, 2), Q(1, 8), Q(1, 4)),
                                (-Q(1, 4), Q(5, 4), Q(1, 8)), (Q(3, 8), Q(1, 2), Q(7, 4))]),
}

HEADER = f"""\
#pragma once

#include <array>
#include <string_view>

// Written by tools/oracles/solids_sympy.py with SymPy {sp.__version__}; do not edit. Command:
//   python3 tools/oracles/solids_sympy.py > limb/math/inertia_sympy_data.hpp
//
// Exact integrals over each solid, evaluated to 17 digits. Density {RHO}; dimensions:
// box (0.5, 0.3, 0.2); radius 0.35, inner radius 0.25, length and height 0.9; shell thickness 0.01;
// ellipsoid half axes (0.5, 0.3, 0.2); tetrahedron corners (0.125, 0.25, -0.5),
// (1.5, 0.125, 0.25), (-0.25, 1.25, 0.125), (0.375, 0.5, 1.75).
namespace limb::sympy {{

struct Solid {{
  std::string_view name;
  double mass;
  std::array<double, 3> first_moment;
  std::array<double, 6> tensor;  ///< about the origin: xx, yy, zz, xy, xz, yz; xy = -int(xy)
}};

// clang-format off
inline constexpr std::array<Solid, {len(SOLIDS)}> solids = {{{{"""


def number(value):
    return "0" if value == 0 else str(sp.N(value, 17))


if __name__ == "__main__":
    print(HEADER)
    for name, values in SOLIDS.items():
        n = [number(value) for value in values]
        print(f'    {{"{name}", {n[0]},\n     {{{", ".join(n[1:4])}}},')
        print(f'     {{{", ".join(n[4:7])},\n      {", ".join(n[7:])}}}}},')
    print("}};\n// clang-format on\n\n}  // namespace limb::sympy")
