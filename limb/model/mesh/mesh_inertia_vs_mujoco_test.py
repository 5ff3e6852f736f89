"""Masses that limb's MJCF reader takes from meshes, compared with the model that MuJoCo compiles."""

import importlib.util
import json
import os
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

mujoco = pytest.importorskip("mujoco", reason="the package 'mujoco' is not installed")
np = pytest.importorskip("numpy", reason="numpy is not installed")

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
from shared_folder import shared_path, why_no_shared  # noqa: E402

DUMP = Path(os.environ.get("LIMB_BUILD_DIR", ROOT / "build")).resolve() / "tests/describe_dump"
WHY_NO_SHARED = why_no_shared()
# Both add up some thousand triangles of float coordinates in double.
CLOSE = 1e-9
# MuJoCo stops its diagonalisation at off-diagonal entries of about 1e-8: its axes are that far from
# the principal ones, its moments by the square of it.
CLOSE_AXES = 1e-7


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Run in a temporary folder: MuJoCo writes its warnings into a file in the current folder."""
    monkeypatch.chdir(tmp_path)


def describe(path):
    """limb's Description of a file."""
    return json.loads(subprocess.run([DUMP, path], check=True, capture_output=True).stdout)[0]


def errors(found):
    return [text for text in found["diagnostics"] if ": error: " in text]


def rotation(quaternion):
    result = np.zeros(9)
    mujoco.mju_quat2Mat(result, np.asarray(quaternion, dtype=float))
    return result.reshape(3, 3)


def check_masses(model, found, close=CLOSE):
    """Mass, centre, principal moments and axes of every body; the number of bodies with mass."""
    links = {link["name"]: link["inertial"] for link in found["links"]}
    count = 0
    for i in range(1, model.nbody):
        name = model.body(i).name or f"body#{i}"
        mass = model.body_mass[i]
        inertial = links[name] or {"mass": 0, "com": [0, 0, 0], "tensor": np.zeros((3, 3))}
        assert abs(inertial["mass"] - mass) <= close * mass, f"mass of {name}"
        if mass == 0:
            continue
        count += 1
        # The size of the body is the scale of its centre.
        size = np.sqrt(model.body_inertia[i].max() / mass)
        centre = np.abs(np.array(inertial["com"]) - model.body_ipos[i]).max()
        assert centre <= close * (size + np.abs(model.body_ipos[i]).max()), f"centre of {name}"
        R = rotation(model.body_iquat[i])
        tensor = R.T @ np.array(inertial["tensor"]) @ R
        largest = model.body_inertia[i].max()
        moments = np.linalg.eigvalsh(tensor) - np.sort(model.body_inertia[i])
        assert np.abs(moments).max() <= close * largest, f"moments of {name}"
        axes = np.abs(tensor - np.diag(model.body_inertia[i])).max()
        assert axes <= CLOSE_AXES * largest, f"axes of {name}"
    return count


# ---------------------------------------------------------------------------------------------------
# Meshes and their files

def l_profile():
    """A concave prism away from the origin."""
    outline = np.array([[0, 0], [2, 0], [2, .5], [.5, .5], [.5, 3], [0, 3]])
    n = len(outline)
    vertices = np.vstack([np.c_[outline, np.zeros(n)], np.c_[outline, np.full(n, .7)]]) + [1, 2, 3]
    caps = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]
    faces = [c[::-1] for c in caps] + [[i + n for i in c] for c in caps]
    for i in range(n):
        j = (i + 1) % n
        faces += [[i, j, j + n], [i, j + n, i + n]]
    return vertices, np.array(faces)


def cylinder(n=24):
    """A closed cylinder with caps of quadrilaterals and centres, as CAD programs write it."""
    angle = 2 * np.pi * np.arange(n) / n
    ring = np.c_[np.cos(angle), np.sin(angle)]
    vertices = np.vstack([np.c_[ring, np.zeros(n)], np.c_[ring, np.full(n, 2.5)],
                          [[0, 0, 0], [0, 0, 2.5]]]) * [.3, .2, 1]
    faces = []
    for i in range(n):
        j = (i + 1) % n
        faces += [[i, j, j + n], [i, j + n, i + n], [2 * n, j, i], [2 * n + 1, i + n, j + n]]
    return vertices, np.array(faces)


def blob(seed):
    """A bumpy sphere: star-shaped, not convex."""
    random = np.random.default_rng(seed)
    n, m = 9, 14
    u, v = np.pi * np.arange(1, n) / n, 2 * np.pi * np.arange(m) / m
    points = [[np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)] for a in u for b in v]
    points = np.array(points + [[0, 0, 1], [0, 0, -1]])
    points = points * random.uniform(.6, 1, len(points))[:, None] * random.uniform(.1, 1, 3)
    top, bottom = len(points) - 2, len(points) - 1
    faces = []
    for j in range(m):
        k = (j + 1) % m
        faces += [[top, j, k], [bottom, (n - 2) * m + k, (n - 2) * m + j]]
        for i in range(n - 2):
            a, b = i * m, (i + 1) * m
            faces += [[a + j, b + j, b + k], [a + j, b + k, a + k]]
    return points + random.uniform(-1, 1, 3), np.array(faces)


def numbers(values):
    return " ".join(repr(float(x)) for x in np.ravel(values))


def write_stl(path, vertices, faces):
    data = b"limb".ljust(80, b"\0") + struct.pack("<I", len(faces))
    for face in faces:
        data += struct.pack("<12fH", 0, 0, 1, *np.ravel(vertices[face]), 0)
    path.write_bytes(data)


def write_obj(path, vertices, faces):
    lines = [f"v {numbers(v)}" for v in vertices]
    path.write_text("\n".join(lines + ["f " + " ".join(str(i + 1) for i in f) for f in faces]))


def write_msh(path, vertices, faces):
    path.write_bytes(struct.pack("<4i", len(vertices), 0, 0, len(faces)) +
                     np.asarray(vertices, "<f4").tobytes() + np.asarray(faces, "<i4").tobytes())


def compare(tmp_path, mesh, geom='<geom type="mesh" mesh="m"/>', compiler="", default="", close=CLOSE):
    """limb and MuJoCo read the same file; both have a body with mass."""
    path = tmp_path / "robot.xml"
    path.write_text(f'<mujoco><compiler {compiler}/><default>{default}</default>'
                    f'<asset>{mesh}</asset><worldbody><body name="b" pos="1 2 3">{geom}</body>'
                    f'<body><geom size=".1"/></body></worldbody></mujoco>')
    found = describe(path)
    assert not errors(found)
    assert check_masses(mujoco.MjModel.from_xml_path(str(path)), found, close) == 2


def inline(vertices, faces, attributes=""):
    face = "" if faces is None else f'face="{" ".join(str(i) for i in np.ravel(faces))}"'
    return f'<mesh name="m" vertex="{numbers(vertices)}" {face} {attributes}/>'


MODES = ["exact", "legacy", "convex", "shell"]
SHAPES = {"l_profile": l_profile(), "cylinder": cylinder(), "blob": blob(1), "blob2": blob(2)}


@pytest.mark.parametrize("mode", MODES + [None])
@pytest.mark.parametrize("shape", SHAPES)
def test_mode(tmp_path, shape, mode):
    attributes = f'inertia="{mode}"' if mode else ""
    compare(tmp_path, inline(*SHAPES[shape], attributes))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ending", ["stl", "STL", "obj", "msh"])
def test_file(tmp_path, ending, mode):
    write = {"stl": write_stl, "obj": write_obj, "msh": write_msh}[ending.lower()]
    (tmp_path / "parts").mkdir()
    write(tmp_path / "parts" / f"m.{ending}", *blob(3))
    compare(tmp_path, f'<mesh file="m.{ending}" inertia="{mode}"/>', compiler='meshdir="parts"')


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("attributes", [
    'scale="0.001 0.001 0.001"', 'scale="1 -2 3"', 'scale="-1 -1 -1"', 'refpos="1 2 3"',
    'refquat="1 2 3 4"', 'refpos="1 2 3" refquat="-1 2 .3 4" scale="-2 .1 1.7"'])
def test_placement(tmp_path, attributes, mode):
    compare(tmp_path, inline(*l_profile(), f'inertia="{mode}" {attributes}'))


def test_vertices_without_faces(tmp_path):
    compare(tmp_path, inline(blob(4)[0], None))
    compare(tmp_path, inline(blob(4)[0], None, 'inertia="shell" scale="1 1 -1"'))
    write_msh(tmp_path / "m.msh", blob(4)[0], [])
    compare(tmp_path, '<mesh file="m.msh" inertia="legacy"/>')


@pytest.mark.parametrize("mode", ["exact", "legacy", "shell"])
def test_open_surface(tmp_path, mode):
    vertices, faces = blob(5)
    compare(tmp_path, inline(vertices, faces[:-20], f'inertia="{mode}"'))


def test_flipped_triangles_count_in_legacy(tmp_path):
    vertices, faces = l_profile()
    faces[:7] = faces[:7, ::-1]
    for mode in ["legacy", "convex", "shell"]:
        compare(tmp_path, inline(vertices, faces, f'inertia="{mode}"'))


@pytest.mark.parametrize("seed", range(6))
def test_polygons_of_obj(tmp_path, seed):
    """Warped quadrilaterals, and flat polygons, which have one mass however they are cut."""
    random = np.random.default_rng(seed)
    vertices, _ = cylinder(7)
    vertices = vertices + random.uniform(-.05, .05, vertices.shape) * [1, 1, 0]
    sides = [[i, (i + 1) % 7, (i + 1) % 7 + 7, i + 7] for i in range(7)]
    (tmp_path / "a.obj").write_text("\n".join(
        [f"v {numbers(v)}" for v in vertices] + ["f 7 6 5 4 3 2 1", "f 8 9 10 11 12 13 14"] +
        ["f " + " ".join(str(i + 1) for i in side) for side in sides]))
    for mode in ["exact", "legacy", "shell"]:
        compare(tmp_path, f'<mesh name="m" file="a.obj" inertia="{mode}"/>')
    outline = l_profile()[0]
    (tmp_path / "b.obj").write_text("\n".join(
        [f"v {numbers(v)}" for v in outline] + ["f -7 -8 -9 -10 -11 -12", "f 7// 8// 9// 10// 11// 12//"] +
        [f"f {i + 1} {(i + 1) % 6 + 1} {(i + 1) % 6 + 7} {i + 7}" for i in range(6)]))
    compare(tmp_path, '<mesh name="m" file="b.obj" inertia="exact"/>')
    compare(tmp_path, '<mesh name="m" file="b.obj" inertia="shell"/>')
    compare(tmp_path, '<mesh name="m" file="b.obj"/>')


def test_only_the_first_object_of_obj_counts(tmp_path):
    vertices, faces = blob(6)
    for separator in ["o x", "g x"]:
        lines = [f"v {numbers(v)}" for v in vertices]
        lines += ["o a", "g b"] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces[:100]]
        lines += [separator] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces[100:]]
        (tmp_path / "m.obj").write_text("\n".join(lines))
        for mode in MODES:
            compare(tmp_path, f'<mesh name="m" file="m.obj" inertia="{mode}"/>')


@pytest.mark.parametrize("geom", [
    '<geom type="mesh" mesh="m" mass="2"/>', '<geom type="mesh" mesh="m" density="7"/>',
    '<geom type="mesh" mesh="m" mass="2" density="0"/>', '<geom type="sdf" mesh="m"/>',
    '<geom type="mesh" mesh="m" pos="1 2 3" euler="10 20 30"/><geom type="box" size="1 2 3"/>',
    '<frame pos="1 1 1" euler="0 0 45"><geom type="mesh" mesh="m" quat="1 2 3 4"/></frame>',
    '<geom type="mesh" mesh="m" group="3"/><geom size=".5"/>',
    '<geom type="mesh" mesh="m" contype="0" conaffinity="0"/>'])
@pytest.mark.parametrize("compiler", [
    "", 'inertiagrouprange="0 2"', 'settotalmass="3"', 'balanceinertia="true" boundmass="1"',
    'boundinertia="1e4"', 'inertiafromgeom="true"'])
def test_geom(tmp_path, geom, compiler):
    if compiler.startswith("inertiagroup") and "group" not in geom:
        compiler = 'inertiagrouprange="0 5"'
    compare(tmp_path, inline(*l_profile(), 'inertia="exact"'), geom, compiler)


@pytest.mark.parametrize("compiler", ["", 'fitaabb="true"'])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["box", "sphere", "capsule", "cylinder", "ellipsoid"])
def test_primitive_fitted_to_a_mesh(tmp_path, kind, mode, compiler):
    geom = (f'<geom type="{kind}" mesh="m" pos="1 2 3" quat="1 2 3 4" fitscale="1.5"/>'
            f'<geom type="{kind}" mesh="m" shellinertia="true"/>')
    # The bounding box is along MuJoCo's axes.
    close = CLOSE_AXES if compiler else CLOSE
    compare(tmp_path, inline(*blob(7), f'inertia="{mode}"'), geom, compiler, close=close)


@pytest.mark.parametrize("amount", ["", 'mass="2"'])
@pytest.mark.parametrize("kind", ["box", "sphere", "capsule", "cylinder", "ellipsoid"])
def test_shell_of_a_primitive(tmp_path, kind, amount):
    compare(tmp_path, "", f'<geom type="{kind}" size=".1 .25 .4" shellinertia="true" {amount}/>')


def test_defaults(tmp_path):
    default = ('<mesh scale="2 2 2"/><default class="k"><mesh inertia="exact" scale="1 -1 1"/>'
               '<geom type="mesh" mesh="m"/></default>')
    compare(tmp_path, inline(*l_profile(), 'class="k"'), '<geom class="k"/>', default=default)
    compare(tmp_path, inline(*l_profile()), '<geom class="k"/>', default=default)


@pytest.mark.parametrize("mesh", [
    inline(l_profile()[0], l_profile()[1][:, ::-1], 'inertia="exact"'),
    inline(*l_profile(), 'scale="1e-6 1e-6 1e-6"'),
    inline(*l_profile(), 'scale="1 1 0"'),
    inline(l_profile()[0], np.vstack([l_profile()[1], [[0, 1, 2]]]), 'inertia="exact"'),
    inline(l_profile()[0], [[0, 1, 12]]),
    inline(l_profile()[0][:3], None),
    inline(l_profile()[0][:6], None, 'inertia="convex"'),
    '<mesh name="m" file="missing.obj"/>'])
def test_both_refuse(tmp_path, mesh):
    path = tmp_path / "robot.xml"
    path.write_text(f'<mujoco><asset>{mesh}</asset><worldbody><body>'
                    '<geom type="mesh" mesh="m" contype="0" conaffinity="0"/></body></worldbody></mujoco>')
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_path(str(path))
    assert ["[mesh-mass-unknown]" in text for text in errors(describe(path))] == [True]


# ---------------------------------------------------------------------------------------------------
# Files as people have them

def files():
    folders = [] if WHY_NO_SHARED else [shared_path().resolve() / "street", shared_path().resolve() / "robots"]
    suite = importlib.util.find_spec("dm_control")
    if suite is not None:
        folders += [Path(p) for p in suite.submodule_search_locations]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.xml"))]
    return [path for path in paths if "<mujoco" in path.read_text(errors="replace")]


FILES = files()


def mesh_files():
    if WHY_NO_SHARED:
        return []
    return sorted(path for path in (shared_path().resolve() / "street").rglob("*")
                  if path.suffix.lower() in (".stl", ".obj", ".msh"))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("path", mesh_files(), ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_mesh_of_a_robot(tmp_path, path, mode):
    """Every mesh file in every mode: the same mass, or both refuse it."""
    # MuJoCo's cache of files does not distinguish equal names.
    copy = tmp_path / f"{path.parts[-3]}_{path.name}"
    copy.write_bytes(path.read_bytes())
    robot = tmp_path / "robot.xml"
    robot.write_text(f'<mujoco><asset><mesh name="m" file="{copy.name}" inertia="{mode}"/></asset><worldbody><body>'
                     '<geom type="mesh" mesh="m" contype="0" conaffinity="0"/></body></worldbody></mujoco>')
    found = describe(robot)
    try:
        model = mujoco.MjModel.from_xml_path(str(robot))
    except ValueError:
        assert ["[mesh-mass-unknown]" in text for text in errors(found)] == [True]
        return
    assert not errors(found)
    assert check_masses(model, found) == 1


def compile_without_missing_files(path):
    """MuJoCo's model without the meshes and textures whose files are absent, and the geoms that use them."""
    tree = ElementTree.parse(path).getroot()
    folder = path.parent
    for compiler in tree.iter("compiler"):
        assets = compiler.get("assetdir", "")
        folder = path.parent / compiler.get("meshdir", assets)
        compiler.attrib.update(meshdir=str(folder))
        if "assetdir" in compiler.attrib:
            del compiler.attrib["assetdir"]
    missing = set()
    for asset in tree.iter("asset"):
        for child in list(asset):
            file = child.get("file")
            if child.tag == "texture" and file or child.tag == "mesh" and file and not (folder / file).is_file():
                missing.add(child.get("name", Path(file or "").stem))
                asset.remove(child)
            elif child.tag == "material":
                child.attrib.pop("texture", None)

    def strip(element):
        for child in list(element):
            if child.tag == "contact" or child.tag == "geom" and child.get("mesh") in missing:
                element.remove(child)
            else:
                strip(child)

    strip(tree)
    return mujoco.MjModel.from_xml_string(ElementTree.tostring(tree, encoding="unicode"))


@pytest.mark.skipif(bool(WHY_NO_SHARED), reason=str(WHY_NO_SHARED))
def test_there_are_files():
    assert len(FILES) > 10


@pytest.mark.parametrize("path", FILES, ids=[str(Path(*p.parts[-3:])) for p in FILES])
def test_robot_file(path):
    """The same masses as MuJoCo. Where MuJoCo cannot read the file because files are absent, either no mass depends on
    them, and both agree without them, or limb names a missing mesh."""
    found = describe(path)
    refused = [text for text in errors(found) if "[mesh-mass-unknown]" in text]
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        if refused:
            return
        if "<include" in path.read_text():
            pytest.skip(f"MuJoCo does not read {path.name}: {str(error).splitlines()[0][:60]}")
        model = compile_without_missing_files(path)
    assert not refused
    not_read = [text for text in found["diagnostics"] if "[element-not-supported]" in text]
    if any("<attach>" in t or "<replicate>" in t or "<composite>" in t or "<flexcomp>" in t
           for t in not_read):
        pytest.skip("MuJoCo makes bodies of the file that limb does not read")
    check_masses(model, found)
