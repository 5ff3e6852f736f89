#!/usr/bin/env python3
"""Renders a quadruped recipe as an SVG picture: three phases of a trot over blocks. Shapes, lengths and
joints come from the recipe (its links' solids); a link whose solid does not reach its child joint gets
a tapered capsule between the two joints. Feet are placed by closed-form inverse kinematics.

The faces are shaded by Lambert's law with a soft key light and ambient occlusion (rays against the
solids), sorted by distance (painter's algorithm) and written as paths. Standard library only.

  render_robot.py [RECIPE] [-o FILE]      default: models/quadruped.toml -> docs/images/robot.svg
"""

import argparse
import math
import random
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH, HEIGHT = 1200, 560
LEGS = ("FL", "FR", "RL", "RR")
BLOCK = 0.25          # m, edge of a block of the ground
BLOCK_HEIGHT = 0.02   # m, blocks are this much higher or lower than the mean

# Linear colours, 0 to 1.
TRUNK, HOUSING, STEEL, SHIN, RUBBER = ((0.80, 0.83, 0.86), (0.88, 0.24, 0.06), (0.10, 0.13, 0.17),
                                       (0.36, 0.41, 0.47), (0.03, 0.03, 0.035))
FLOOR = (0.36, 0.41, 0.47)
FOG = (0.55, 0.63, 0.71)

CAMERA, TARGET, FOCAL = (1.62, -2.35, 1.02), (0.06, 0.0, 0.135), 1560.0
UNITS = 4             # of the drawing, per pixel
LIGHT = (0.25, -0.62, 1.0)  # towards the light


# Vectors and rotations ----------------------------------------------------------------------------

def add(a, b): return (a[0] + b[0], a[1] + b[1], a[2] + b[2])
def sub(a, b): return (a[0] - b[0], a[1] - b[1], a[2] - b[2])
def scale(a, s): return (a[0] * s, a[1] * s, a[2] * s)
def dot(a, b): return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
def norm(a): return math.sqrt(dot(a, a))
def unit(a): return scale(a, 1 / norm(a))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def rotation(axis, angle):
    """Rows of the rotation matrix about a unit axis (Rodrigues)."""
    x, y, z = unit(axis)
    c, s = math.cos(angle), math.sin(angle)
    d = 1 - c
    return ((c + x * x * d, x * y * d - z * s, x * z * d + y * s),
            (y * x * d + z * s, c + y * y * d, y * z * d - x * s),
            (z * x * d - y * s, z * y * d + x * s, c + z * z * d))


def transform(R, p): return (dot(R[0], p), dot(R[1], p), dot(R[2], p))
def columns(R): return tuple(zip(*R))
def product(A, B): return tuple(tuple(dot(row, column) for column in columns(B)) for row in A)


IDENTITY = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


class Pose:
    """Pose of B in A: maps points of B to A."""

    def __init__(self, R=IDENTITY, p=(0, 0, 0)):
        self.R, self.p = R, p

    def __mul__(self, other):
        return Pose(product(self.R, other.R), add(transform(self.R, other.p), self.p))

    def point(self, p): return add(transform(self.R, p), self.p)
    def inverse_point(self, p): return transform(columns(self.R), sub(p, self.p))


def rpy(angles):
    roll, pitch, yaw = angles
    return product(rotation((0, 0, 1), yaw), product(rotation((0, 1, 0), pitch), rotation((1, 0, 0), roll)))


# Solids: a convex mesh and a ray test each, in their own frame --------------------------------------

def revolve(profile, segments):
    """Faces of a solid of revolution about z; the profile has (radius, z), z increasing."""
    ring = [(math.cos(t), math.sin(t)) for t in (2 * math.pi * i / segments for i in range(segments))]
    faces = []
    for (r0, z0), (r1, z1) in zip(profile, profile[1:]):
        for (c0, s0), (c1, s1) in zip(ring, ring[1:] + ring[:1]):
            face = [(r0 * c0, r0 * s0, z0), (r0 * c1, r0 * s1, z0), (r1 * c1, r1 * s1, z1),
                    (r1 * c0, r1 * s0, z1)]
            faces.append([p for i, p in enumerate(face) if p != face[i - 1]])
    return [face for face in faces if len(face) > 2]


class Capsule:
    """Two spheres about z = 0 and z = length and the cone between them; length 0: a sphere."""

    def __init__(self, pose, r0, r1, length, colour, segments=20, rings=6):
        self.pose, self.r0, self.r1, self.length, self.colour = pose, r0, r1, length, colour
        lean = math.asin((r0 - r1) / length) if length else 0
        arc = [-math.pi / 2 + (math.pi / 2 + lean) * i / rings for i in range(rings + 1)]
        profile = [(r0 * math.cos(t), r0 * math.sin(t)) for t in arc]
        steps = max(1, round(length / 0.03))
        first, last = profile[-1], (r1 * math.cos(lean), length + r1 * math.sin(lean))
        profile += [tuple(a + (b - a) * i / steps for a, b in zip(first, last)) for i in range(1, steps)]
        arc = [lean + (math.pi / 2 - lean) * i / rings for i in range(rings + 1)]
        profile += [(r1 * math.cos(t), length + r1 * math.sin(t)) for t in (arc if length else arc[1:])]
        self.faces = revolve([(max(r, 0.0), z) for r, z in profile], segments)

    def hit(self, o, d):
        """Whether the ray from o along the unit vector d meets the solid (taken as a chain of spheres)."""
        count = max(1, round(self.length / (0.7 * min(self.r0, self.r1)))) if self.length else 0
        for i in range(count + 1):
            s = i / count if count else 0
            r = self.r0 + (self.r1 - self.r0) * s
            x, y, z = o[0], o[1], o[2] - s * self.length
            b = x * d[0] + y * d[1] + z * d[2]
            if b < 0 and x * x + y * y + z * z - b * b < r * r:
                return True
        return False


class Cylinder:
    """About z, centred, with bevelled rims."""

    def __init__(self, pose, radius, length, colour, bevel=0.006, segments=30):
        self.pose, self.radius, self.half, self.colour = pose, radius, length / 2, colour
        h, b = self.half, bevel
        corner = [(radius - b + b * math.sin(t), b * math.cos(t)) for t in (0, math.pi / 4, math.pi / 2)]
        top = [(r, h - b + z) for r, z in reversed(corner)]
        inner = [(0.62 * radius, h), (0.58 * radius, h - 0.003), (0.2 * radius, h - 0.003), (0, h - 0.003)]
        upper = top + inner
        self.faces = revolve([(r, -z) for r, z in reversed(upper)] + upper, segments)

    def hit(self, o, d):
        a, b = d[0] * d[0] + d[1] * d[1], o[0] * d[0] + o[1] * d[1]
        c = o[0] * o[0] + o[1] * o[1] - self.radius * self.radius
        near, far = 0.0, math.inf
        if a > 1e-12:
            root = b * b - a * c
            if root <= 0:
                return False
            root = math.sqrt(root)
            near, far = max(near, (-b - root) / a), (-b + root) / a
        elif c > 0:
            return False
        if abs(d[2]) > 1e-12:
            t0, t1 = sorted(((-self.half - o[2]) / d[2], (self.half - o[2]) / d[2]))
            near, far = max(near, t0), min(far, t1)
        elif abs(o[2]) > self.half:
            return False
        return far > near and far > 1e-6


class Box:
    """Centred, with rounded edges."""

    def __init__(self, pose, size, colour, radius=0.02, cell=0.026):
        self.pose, self.half, self.colour = pose, scale(size, 0.5), colour
        inner = [h - radius for h in self.half]
        self.faces = []
        for axis in range(3):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            for side in (1, -1):
                grid = []
                for a in self._steps(inner[u], cell):
                    row = []
                    for b in self._steps(inner[v], cell):
                        p, n = [0.0] * 3, [0.0] * 3
                        p[axis], p[u], p[v] = side * inner[axis], a[0], b[0]
                        n[axis], n[u], n[v] = side, math.tan(a[1]), math.tan(b[1])
                        row.append(add(tuple(p), scale(unit(n), radius)))
                    grid.append(row)
                for r0, r1 in zip(grid, grid[1:]):
                    for i in range(len(r0) - 1):
                        face = [r0[i], r1[i], r1[i + 1], r0[i + 1]]
                        self.faces.append(face if side > 0 else face[::-1])

    @staticmethod
    def _steps(inner, cell):
        """(coordinate, angle of the normal) from one rounded edge to the other."""
        count = max(1, round(2 * inner / cell))
        arc = [math.pi / 4 * i / 3 for i in range(4)]
        return ([(-inner, -t) for t in reversed(arc)] +
                [(-inner + 2 * inner * i / count, 0.0) for i in range(1, count)] + [(inner, t) for t in arc])

    def hit(self, o, d):
        near, far = 0.0, math.inf
        for x, v, h in zip(o, d, self.half):
            if abs(v) < 1e-12:
                if abs(x) > h:
                    return False
                continue
            t0, t1 = (-h - x) / v, (h - x) / v
            near, far = max(near, min(t0, t1)), min(far, max(t0, t1))
        return far > near and far > 1e-6


# The recipe ---------------------------------------------------------------------------------------

class Recipe:
    def __init__(self, path):
        data = tomllib.loads(Path(path).read_text())
        self.symbols = {"pi": math.pi}
        for name, value in data.get("parameters", {}).items():
            self.symbols[name] = self.number(value)
        self.links = {link["name"]: link for link in data["link"]}
        self.joints = data["joint"]

    def number(self, value):
        return eval(value, {"__builtins__": {}}, self.symbols) if isinstance(value, str) else float(value)

    def vector(self, values): return tuple(self.number(value) for value in values)

    def solids(self, link):
        link = self.links[link]
        return link.get("solids", [link["solid"]] if "solid" in link else [])

    def link_poses(self, base, q):
        """World pose of each link; q has the angle of each revolute joint by name."""
        poses = {}
        for joint in self.joints:  # parents come first
            placement = Pose(rpy(self.vector(joint.get("rpy", (0, 0, 0)))),
                             self.vector(joint.get("xyz", (0, 0, 0))))
            if joint["type"] == "free":
                poses[joint["child"]] = base
            else:
                moved = Pose(rotation(self.vector(joint["axis"]), q.get(joint["name"], 0.0)))
                poses[joint["child"]] = poses[joint["parent"]] * placement * moved
        return poses

    def leg_angles(self, leg, base, foot):
        """Abduction, flexion and knee that put the foot there."""
        origin = {joint["name"]: self.vector(joint["xyz"]) for joint in self.joints if "xyz" in joint}
        x, y, z = sub(base.inverse_point(foot), origin[f"{leg}_abduction"])
        d = origin[f"{leg}_flexion"][1]
        l1, l2 = (abs(origin[f"{leg}_knee"][2]), self.symbols["l_calf"])
        h = math.sqrt(y * y + z * z - d * d)
        abduction = math.remainder(math.atan2(z, y) - math.atan2(-h, d), 2 * math.pi)
        cosine = (x * x + h * h - l1 * l1 - l2 * l2) / (2 * l1 * l2)
        knee = -math.acos(min(1.0, cosine))
        flexion = math.atan2(-x, h) - math.atan2(l2 * math.sin(knee), l1 + l2 * math.cos(knee))
        return {f"{leg}_abduction": abduction, f"{leg}_flexion": flexion, f"{leg}_knee": knee}


def along(pose, start, end):
    """The frame at start whose z axis points to end, both given in pose."""
    z = unit(sub(end, start))
    x = unit(cross((0, 1, 0) if abs(z[1]) < 0.9 else (1, 0, 0), z))
    return pose * Pose(columns((x, cross(z, x), z)), start)


def robot_solids(recipe, base, q):
    solids = []
    poses = recipe.link_poses(base, q)
    for link, pose in poses.items():
        children = [j for j in recipe.joints if j["parent"] == link]
        outward = [recipe.vector(j["xyz"]) for j in children]
        for solid in recipe.solids(link):
            placed = pose * Pose(rpy(recipe.vector(solid.get("rpy", (0, 0, 0)))),
                                 recipe.vector(solid.get("xyz", (0, 0, 0))))
            number = {key: recipe.number(solid[key]) for key in ("radius", "length") if key in solid}
            if solid["shape"] == "sphere":
                solids.append(Capsule(placed, number["radius"], number["radius"], 0, RUBBER, 16, 4))
            elif solid["shape"] == "box":
                size = recipe.vector(solid["size"])
                if len(children) == 1 and abs(outward[0][2]) > abs(recipe.vector(solid["xyz"])[2]) + size[2] / 2 - 1e-3:
                    continue  # does not reach the next joint: the capsule below stands for it
                solids.append(Box(placed, size, TRUNK, radius=0.028))
            elif number["radius"] < 0.02:  # a shin: from the joint to the end of the cylinder
                end = (0, 0, -number["length"])
                solids.append(Capsule(along(pose, (0, 0, 0), end), 1.25 * number["radius"],
                                      0.8 * number["radius"], number["length"], SHIN, 14, 2))
            else:
                solids.append(Cylinder(placed, number["radius"], 1.6 * number["length"], STEEL))
        for joint, end in zip(children, outward):
            if link.endswith("_hip"):
                # The motor of the next joint, about its axis.
                axis = pose * Pose(rotation((1, 0, 0), -math.pi / 2), end)
                solids.append(Cylinder(axis, 0.043, 0.064, HOUSING))
                solids.append(Capsule(along(pose, (0, 0, 0), end), 0.026, 0.026, norm(end), STEEL, 14, 1))
            elif link.endswith("_thigh"):
                solids.append(Capsule(along(pose, (0, 0, 0), end), 0.027, 0.020, norm(end), TRUNK, 18, 3))
                knee = pose * Pose(rotation((1, 0, 0), math.pi / 2), end)
                solids.append(Cylinder(knee, 0.024, 0.048, STEEL, bevel=0.004, segments=20))
    return solids


# Light --------------------------------------------------------------------------------------------

def spread(direction, angle, count, seed):
    """Unit vectors around a direction, uniform over a cone (angle) or weighted by the cosine (None)."""
    source = random.Random(seed)
    n = unit(direction)
    u = unit(cross(n, (0, 0, 1) if abs(n[2]) < 0.9 else (1, 0, 0)))
    v = cross(n, u)
    result = []
    for i in range(count):
        phi = 2 * math.pi * (i * 0.618034 + source.random() / count)
        fraction = (i + 0.5) / count
        c = math.sqrt(1 - fraction) if angle is None else 1 - fraction * (1 - math.cos(angle))
        s = math.sqrt(1 - c * c)
        result.append(add(scale(n, c), add(scale(u, s * math.cos(phi)), scale(v, s * math.sin(phi)))))
    return result


class Occluders:
    def __init__(self, solids):
        self.solids = []
        for solid in solids:
            points = [solid.pose.point(p) for face in solid.faces for p in face]
            centre = scale([sum(c) for c in zip(*points)], 1 / len(points))
            self.solids.append((solid, centre, max(norm(sub(p, centre)) for p in points)))

    def near(self, point, reach):
        return [entry for entry in self.solids if norm(sub(entry[1], point)) < entry[2] + reach]

    @staticmethod
    def free_fraction(point, directions, entries, own):
        free = 0
        for d in directions:
            for solid, centre, radius in entries:
                if solid is own:
                    continue
                to = sub(centre, point)
                b = dot(to, d)
                if b < -radius or dot(to, to) - b * b > radius * radius:
                    continue
                inverse = columns(solid.pose.R)
                if solid.hit(solid.pose.inverse_point(point), transform(inverse, d)):
                    break
            else:
                free += 1
        return free / len(directions)


def shade(colour, normal, view, key, ambient, shine=0.0):
    """Lambert's law for the key light, a sky and a bounce from the ground; a weak highlight. Brightness
    is taken in steps, so that neighbouring faces share their colour; shadows are a little bluer."""
    light = unit(LIGHT)
    highlight = shine * max(0.0, dot(normal, unit(add(light, view)))) ** 40 * key
    brightness = (0.80 * max(0.0, dot(normal, light)) * key + 0.34 * (0.5 + 0.5 * normal[2]) * ambient +
                  0.19 * (0.5 - 0.5 * normal[2]) * ambient)
    brightness = (round(44 * brightness ** 0.45) / 44) ** (1 / 0.45)
    highlight = round(40 * highlight) / 40
    tint = (0.92 + 0.08 * brightness, 0.96 + 0.02 * brightness, 1.0 - 0.04 * brightness)
    return tuple(c * brightness * t + highlight for c, t in zip(colour, tint))


def hexadecimal(colour):
    """sRGB of a linear colour."""
    values = []
    for c in colour:
        c = min(1.0, max(0.0, c))
        values.append(round(255 * (12.92 * c if c < 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055)))
    return "#%02x%02x%02x" % tuple(values)


# The picture --------------------------------------------------------------------------------------

class Camera:
    def __init__(self):
        self.back = unit(sub(CAMERA, TARGET))
        self.right = unit(cross((0, 0, 1), self.back))
        self.up = cross(self.back, self.right)

    def project(self, p):
        d = sub(p, CAMERA)
        depth = -dot(d, self.back)
        return (UNITS * (WIDTH / 2 + FOCAL * dot(d, self.right) / depth),
                UNITS * (HEIGHT / 2 - FOCAL * dot(d, self.up) / depth))


def path(points):
    """SVG path of a polygon in whole drawing units, relative to its first point."""
    whole = [(round(x), round(y)) for x, y in points]
    text = f"M{whole[0][0]} {whole[0][1]}l"
    for i, (a, b) in enumerate(zip(whole, whole[1:])):
        for j, n in enumerate((b[0] - a[0], b[1] - a[1])):
            text += (" " if (i or j) and n >= 0 else "") + str(n)
    return text + "z"


def hull(points):
    points = sorted(set(points))
    chains = []
    for ordered in (points, points[::-1]):
        chain = []
        for p in ordered:
            while len(chain) > 1 and ((chain[-1][0] - chain[-2][0]) * (p[1] - chain[-2][1]) -
                                      (chain[-1][1] - chain[-2][1]) * (p[0] - chain[-2][0])) <= 0:
                chain.pop()
            chain.append(p)
        chains += chain[:-1]
    return chains


class Drawing:
    def __init__(self):
        self.styles, self.lines = {}, []

    def style(self, colour):
        if colour not in self.styles:
            n, name = len(self.styles), ""
            while n or not name:
                name, n = "abcdefghijklmnopqrstuvwxyz"[n % 26] + name, n // 26
            self.styles[colour] = "_" + name
        return self.styles[colour]

    def faces(self, faces):
        """Writes (colour, points, solid) in drawing order. A face joins an earlier path of its colour
        if no face of another solid between them overlaps it (faces of one convex solid never do)."""
        paths = []  # [colour, text, [(solid, bounds)]]
        for colour, points, solid in faces:
            xs, ys = [p[0] for p in points], [p[1] for p in points]
            bounds = (min(xs), min(ys), max(xs), max(ys))
            for entry in reversed(paths[-400:]):
                if entry[0] == colour:
                    entry[1] += path(points)
                    entry[2].append((solid, bounds))
                    break
                if any(other is not solid and b[0] < bounds[2] and b[2] > bounds[0] and
                       b[1] < bounds[3] and b[3] > bounds[1] for other, b in entry[2]):
                    paths.append([colour, path(points), [(solid, bounds)]])
                    break
            else:
                paths.append([colour, path(points), [(solid, bounds)]])
        self.lines += [f'<path class="{self.style(colour)}" d="{text}"/>' for colour, text, _ in paths]

    def svg(self):
        styles = "".join(f".{name}{{fill:{c};stroke:{c}}}" for c, name in self.styles.items())
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {UNITS * WIDTH} {UNITS * HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
            "<title>A quadruped in three phases of a trot over blocks</title>",
            "<!-- Written by tools/render_robot.py from models/quadruped.toml. -->",
            f"<style>path{{stroke-width:2;stroke-linejoin:round}}{styles}</style>",
            '<defs><filter id="soft" x="-20%" y="-20%" width="140%" height="140%"><feGaussianBlur stdDeviation="20"/></filter>'
            '<filter id="contact" x="-60%" y="-60%" width="220%" height="220%"><feGaussianBlur stdDeviation="10"/></filter>'
            f'<clipPath id="panel"><rect width="{UNITS * WIDTH}" height="{UNITS * HEIGHT}" rx="56"/></clipPath></defs>',
            '<g clip-path="url(#panel)">',
            f'<rect width="{UNITS * WIDTH}" height="{UNITS * HEIGHT}" fill="{hexadecimal(FOG)}"/>',
            *self.lines, "</g></svg>", ""])


class Ground:
    def __init__(self, seed):
        self.source = random.Random(seed)
        self.heights = {}
        for i in range(-14, 9):
            for j in range(-6, 22):
                self.heights[i, j] = BLOCK_HEIGHT * (2 * self.source.random() - 1)

    def height(self, x, y): return self.heights[math.floor(x / BLOCK), math.floor(y / BLOCK)]


def corners(i, j, z):
    x, y = i * BLOCK, j * BLOCK
    return [(x, y, z), (x + BLOCK, y, z), (x + BLOCK, y + BLOCK, z), (x, y + BLOCK, z)]


def draw_ground(drawing, camera, ground, solids, feet):
    light = unit(LIGHT)
    outlines = []
    for solid in solids:
        outlines.append([solid.pose.point(p) for face in solid.faces for p in face])
    order = sorted(ground.heights, key=lambda c: -math.hypot((c[0] + 0.5) * BLOCK - CAMERA[0],
                                                            (c[1] + 0.5) * BLOCK - CAMERA[1]))
    for i, j in order:
        z = ground.heights[i, j]
        top = corners(i, j, z)
        flat = [camera.project(p) for p in top]
        if (max(p[0] for p in flat) < -5 or min(p[0] for p in flat) > UNITS * WIDTH + 5 or
                min(p[1] for p in flat) > UNITS * HEIGHT + 5):
            continue
        distance = norm(sub(CAMERA, top[0]))
        haze = min(1.0, max(0.0, (distance - 2.6) / 3.6)) ** 0.8
        tone = 0.96 + 1.6 * z

        def blend(colour):
            return hexadecimal(tuple(c * (1 - haze) + f * haze for c, f in zip(colour, FOG)))

        faces = []
        for a, b in zip(top, top[1:] + top[:1]):  # sides down to the lowest possible neighbour
            normal = unit(cross(sub(b, a), (0, 0, 1)))
            if dot(normal, sub(CAMERA, a)) > 0:
                low = [(p[0], p[1], -BLOCK_HEIGHT) for p in (b, a)]
                colour = shade(scale(FLOOR, 0.72), normal, camera.back, 1, 0.7)
                faces.append((blend(colour), [camera.project(p) for p in (a, b, *low)], None))
        faces.append((blend(shade(scale(FLOOR, tone), (0, 0, 1), camera.back, 1, 1)), flat, None))
        drawing.faces(faces)
        # Shadows, clipped to this block.
        polygons = []
        box = (i * BLOCK, j * BLOCK)
        for outline in outlines:
            shadow = [sub(p, scale(light, (p[2] - z) / light[2])) for p in outline]
            if all(max(p[k] for p in shadow) > box[k] - 0.03 and min(p[k] for p in shadow) < box[k] + BLOCK + 0.03
                   for k in (0, 1)):
                polygons.append(path(hull([tuple(round(c, 1) for c in camera.project(p)) for p in shadow])))
        spots = []
        for x, y, foot_z in feet:
            if box[0] < x < box[0] + BLOCK and box[1] < y < box[1] + BLOCK and foot_z - z < 0.03:
                ring = [(x + 0.03 * math.cos(t), y + 0.03 * math.sin(t), z)
                        for t in (math.pi * k / 8 for k in range(16))]
                spots.append(path([camera.project(p) for p in ring]))
        if polygons or spots:
            name = f"b{i + 20}_{j + 20}"
            drawing.lines.append(f'<clipPath id="{name}"><path d="{path(flat)}"/></clipPath><g clip-path="url(#{name})" fill="#0b1a2b">')
            if polygons:
                drawing.lines.append(f'<path filter="url(#soft)" opacity=".42" d="{"".join(polygons)}"/>')
            if spots:
                drawing.lines.append(f'<path filter="url(#contact)" opacity=".5" d="{"".join(spots)}"/>')
            drawing.lines.append("</g>")


def draw_solids(drawing, camera, solids):
    occluders = Occluders(solids)
    key_directions = spread(LIGHT, 0.13, 12, 1)
    faces = []
    for solid in solids:
        for face in solid.faces:
            points = [solid.pose.point(p) for p in face]
            centre = scale([sum(c) for c in zip(*points)], 1 / len(points))
            normal = cross(sub(points[2], points[0]), sub(points[-1], points[1]))
            if norm(normal) < 1e-12:
                continue
            normal = unit(normal)
            view = sub(CAMERA, centre)
            if dot(normal, view) <= 0:
                continue
            start = add(centre, scale(normal, 1e-3))
            entries = occluders.near(start, 1.0)
            key = occluders.free_fraction(start, key_directions, entries, solid) if dot(normal, LIGHT) > 0 else 0
            sky = spread(normal, None, 64, 2)
            ambient = occluders.free_fraction(start, sky, occluders.near(start, 0.3), solid)
            shine = {TRUNK: 0.18, HOUSING: 0.12, STEEL: 0.10, SHIN: 0.14, RUBBER: 0.0}[solid.colour]
            colour = shade(solid.colour, normal, unit(view), key, 0.25 + 0.75 * ambient, shine)
            faces.append((-norm(view), hexadecimal(colour), points, solid))
    faces.sort(key=lambda face: face[0])
    drawing.faces([(colour, [camera.project(p) for p in points], solid)
                   for _, colour, points, solid in visible(camera, faces)])


def visible(camera, faces):
    """The faces of which three samples are nearest to the camera, by a depth buffer of half pixels."""
    step, nearest, samples_of = UNITS / 2, {}, []
    for face in faces:
        points = [camera.project(p) for p in face[2]]
        depths = [-dot(sub(p, CAMERA), camera.back) for p in face[2]]
        samples = []
        low, high = min(p[1] for p in points), max(p[1] for p in points)
        for row in range(math.floor(low / step), math.ceil(high / step) + 1):
            y = min(high - 1e-6, max(low + 1e-6, row * step))
            ends = []
            for i, (a, b) in enumerate(zip(points, points[1:] + points[:1])):
                if (a[1] <= y) != (b[1] <= y):
                    t = (y - a[1]) / (b[1] - a[1])
                    ends.append((a[0] + t * (b[0] - a[0]), depths[i] + t * (depths[(i + 1) % len(depths)] - depths[i])))
            if len(ends) < 2:
                continue
            (x0, d0), (x1, d1) = min(ends), max(ends)
            for column in range(round(x0 / step), round(x1 / step) + 1):
                t = min(1.0, max(0.0, (column * step - x0) / (x1 - x0))) if x1 > x0 else 0.0
                depth = d0 + t * (d1 - d0)
                samples.append((column, row, depth))
                if depth < nearest.get((column, row), math.inf):
                    nearest[column, row] = depth
        samples_of.append(samples)
    return [face for face, samples in zip(faces, samples_of)
            if sum(depth < nearest[column, row] + 1e-3 for column, row, depth in samples) > 2]


# (trunk x, y, height above the ground, yaw, pitch, legs that swing); feet relative to their hips.
PHASES = [
    (-0.98, 0.30, 0.300, 0.00, 0.00, ()),
    (-0.02, 0.00, 0.305, 0.00, -0.02, ("FL", "RR")),
    (0.84, -0.34, 0.305, 0.00, -0.02, ("FR", "RL")),
]


def make_robot(recipe, ground, phase):
    x, y, height, yaw, pitch, swing = phase
    base = Pose(product(rotation((0, 0, 1), yaw), rotation((0, 1, 0), pitch)), (x, y, height))
    q, feet = {}, []
    for leg in LEGS:
        side = 1 if leg[1] == "L" else -1
        hip = (recipe.symbols["x_hip"] * (1 if leg[0] == "F" else -1),
               side * (recipe.symbols["y_hip"] + recipe.symbols["y_thigh"]), 0)
        at = add(transform(rotation((0, 0, 1), yaw), hip), (x, y, 0))
        if leg in swing:
            foot = (at[0] + 0.05, at[1], 0.125)
        else:
            stride = -0.05 if swing else 0.0
            foot = (at[0] + stride, at[1], ground.height(at[0] + stride, at[1]) + 0.022)
        q |= recipe.leg_angles(leg, base, foot)
        feet.append((foot[0], foot[1], foot[2] - 0.022))
    poses = recipe.link_poses(base, q)
    for leg, foot in zip(LEGS, feet):  # the closed form agrees with the kinematics of the recipe
        reached = poses[f"{leg}_calf"].point((0, 0, -recipe.symbols["l_calf"]))
        assert norm(sub(reached, add(foot, (0, 0, 0.022)))) < 1e-9
    return robot_solids(recipe, base, q), feet


def render(recipe_path):
    recipe, ground, camera, drawing = Recipe(recipe_path), Ground(5), Camera(), Drawing()
    solids, feet = [], []
    for phase in PHASES:
        robot, robot_feet = make_robot(recipe, ground, phase)
        solids += robot
        feet += robot_feet
    draw_ground(drawing, camera, ground, solids, feet)
    draw_solids(drawing, camera, solids)
    return drawing.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", nargs="?", type=Path, default=ROOT / "models/quadruped.toml")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs/images/robot.svg")
    options = parser.parse_args()
    options.output.write_text(render(options.recipe))


if __name__ == "__main__":
    main()
