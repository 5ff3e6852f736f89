"""The conventions of convert_*.hpp compared with Pinocchio, MuJoCo and Drake.

A random tree from convert_dump is built in each library; at the converted state the library must
compute limb's poses, velocities, accelerations, Jacobian, mass matrix and joint forces. If a
library is not installed, its tests are skipped with a message that names it.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

DUMP = Path(os.environ.get("LIMB_BUILD_DIR", "build")).resolve() / "tests/convert_dump"
SEEDS = range(1, 9)
EPS = np.finfo(float).eps

# Chains of up to 22 joints, each a product of rotations with a rounding error of an eps or two, in
# both libraries. Measured over these seeds: at most 15 eps of the quantity's size (pin 4.1.0,
# mujoco 4.0.0, drake 1.51.1); a wrong convention gives an error of order 1.
TOLERANCE = 128 * EPS


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Run in a temporary folder: MuJoCo writes its warnings into a file in the current folder."""
    monkeypatch.chdir(tmp_path)


def dump(library, seed, *more):
    found = subprocess.run([str(DUMP), library, str(seed), *more], capture_output=True, text=True,
                           check=True)
    return json.loads(found.stdout)


def close(found, expected, what):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, what
    error = np.abs(found - expected).max() / max(1.0, np.abs(expected).max())
    record(what, error)
    assert error < TOLERANCE, f"{what}: off by {error / EPS:.0f} eps"


WORST = {}


def record(what, error):
    WORST[what.split(" ")[0]] = np.maximum(WORST.get(what.split(" ")[0], 0), error)


@pytest.fixture(autouse=True, scope="module")
def report_worst():
    yield
    for what, error in sorted(WORST.items()):
        print(f"worst {what}: {error / EPS:.0f} eps")


def by_name(items):
    return {item["name"]: item for item in items}


def rotated(R):
    X = np.eye(4)
    X[:3, :3] = R
    return X


def frame_of(body):
    """The library's body frame in limb's: planar joints there move in the xy plane of a frame."""
    return rotated(body["plane"]) if body["type"] == "planar" else np.eye(4)


def frame_about(axis):
    """Any frame whose z is the axis."""
    x = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    x /= np.linalg.norm(x)
    return rotated(np.column_stack([x, np.cross(axis, x), axis]))


def in_frame(R, V):
    """Rows (or entries) of a spatial vector rotated by R^T; both halves, in either order."""
    V = np.asarray(V)
    return np.concatenate([R.T @ V[:3], R.T @ V[3:]])


# Pinocchio -------------------------------------------------------------------------------------

def pinocchio_joint(pin, body):
    axis, axis2 = np.array(body["axis"]), np.array(body["axis2"])

    def composite(*joints):
        joint = pin.JointModelComposite()
        for part in joints:
            joint.addJoint(part)
        return joint

    return {
        "revolute": lambda: pin.JointModelRevoluteUnaligned(axis),
        "continuous": pin.JointModelRUBZ,  # frame_about() rotates z to the axis
        "prismatic": lambda: pin.JointModelPrismaticUnaligned(axis),
        "helical": lambda: pin.JointModelHelicalUnaligned(axis, body["pitch"]),
        "cylindrical": lambda: composite(pin.JointModelPrismaticUnaligned(axis),
                                         pin.JointModelRevoluteUnaligned(axis)),
        "universal": lambda: composite(pin.JointModelRevoluteUnaligned(axis),
                                       pin.JointModelRevoluteUnaligned(axis2)),
        "translation": pin.JointModelTranslation,
        "planar": pin.JointModelPlanar,
        "spherical": pin.JointModelSpherical,
        "free": pin.JointModelFreeFlyer,
    }[body["type"]]()


def pinocchio_model(pin, tree):
    model = pin.Model()
    bodies, ids = by_name(tree["bodies"]), {"": 0}
    frames = {"": np.eye(4)}
    for name, body in bodies.items():
        continuous = body["type"] == "continuous"
        frames[name] = frame_about(body["axis"]) if continuous else frame_of(body)
    for entry in tree["joints"]:
        body = bodies[entry["name"]]
        C = frames[body["name"]]
        X = np.linalg.inv(frames[body["parent"]]) @ np.array(body["X_PJ"]) @ C
        index = model.addJoint(ids[body["parent"]], pinocchio_joint(pin, body), pin.SE3(X),
                               body["name"])
        inertia = pin.Inertia(body["mass"], np.array(body["com"]), np.array(body["tensor"]))
        model.appendBodyToJoint(index, inertia, pin.SE3(np.linalg.inv(C)))
        ids[body["name"]] = index
    return model, frames


def compare_pinocchio(pin, model, frames, tree):
    assert (model.nq, model.nv) == (tree["nq"], tree["nv"])
    assert list(model.names)[1:] == [joint["name"] for joint in tree["joints"]]
    for index, entry in enumerate(tree["joints"], 1):
        assert model.idx_qs[index] == entry["q"] and model.idx_vs[index] == entry["v"]
    data = model.createData()
    for state in tree["states"]:
        q, v, a = (np.array(state[x]) for x in "qva")
        pin.forwardKinematics(model, data, q, v, a)
        for name, expected in state["bodies"].items():
            i, C = model.getJointId(name), frames[name]
            close(data.oMi[i].homogeneous, np.array(expected["X_WB"]) @ C, f"pose {name}")
            close(data.v[i].vector, in_frame(C[:3, :3], expected["V"]), f"velocity {name}")
            close(data.a[i].vector, in_frame(C[:3, :3], expected["A"]), f"acceleration {name}")
        close(pin.rnea(model, data, q, v, a), state["tau"], "tau")
        M = pin.crba(model, data, q)
        close(np.triu(M) + np.triu(M, 1).T, state["M"], "M")
        name = state["J_body"]
        J = pin.computeJointJacobian(model, data, q, model.getJointId(name))
        close(J, in_frame(frames[name][:3, :3], state["J"]), "J")


@pytest.mark.parametrize("seed", SEEDS)
def test_pinocchio_agrees(seed):
    pin = pytest.importorskip("pinocchio", reason="the package 'pin' is not installed")
    tree = dump("pinocchio", seed)
    compare_pinocchio(pin, *pinocchio_model(pin, tree), tree)


def urdf_text(tree):
    from scipy.spatial.transform import Rotation

    def origin(X):
        X = np.array(X)
        rpy = Rotation.from_matrix(X[:3, :3]).as_euler("xyz")
        text = [" ".join(repr(float(x)) for x in part) for part in (X[:3, 3], rpy)]
        return f'<origin xyz="{text[0]}" rpy="{text[1]}"/>'

    lines = ['<robot name="tree">']
    for link in tree["description"]["links"]:
        I = link["tensor"]
        lines.append(f'<link name="{link["name"]}"><inertial>{origin(link["X_LI"])}'
                     f'<mass value="{link["mass"]!r}"/><inertia ixx="{I[0][0]!r}" iyy="{I[1][1]!r}"'
                     f' izz="{I[2][2]!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>')
    for joint in tree["description"]["joints"]:
        axis = " ".join(repr(x) for x in joint["axis"])
        lines.append(f'<joint name="{joint["name"]}" type="{joint["type"]}">{origin(joint["X_PJ"])}'
                     f'<parent link="{joint["parent"]}"/><child link="{joint["child"]}"/>'
                     f'<axis xyz="{axis}"/><limit lower="-9" upper="9" effort="1" velocity="1"/>'
                     "</joint>")
    return "\n".join(lines + ["</robot>"])


@pytest.mark.parametrize("seed", SEEDS)
def test_pinocchio_reads_a_urdf_in_the_converted_order(seed):
    """With fixed joints, whose names affect the order."""
    pin = pytest.importorskip("pinocchio", reason="the package 'pin' is not installed")
    pytest.importorskip("scipy", reason="scipy is not installed")
    tree = dump("pinocchio", seed, "urdf")
    model = pin.buildModelFromXML(urdf_text(tree))
    compare_pinocchio(pin, model, {body["name"]: np.eye(4) for body in tree["bodies"]}, tree)


# MuJoCo ----------------------------------------------------------------------------------------

def text_of(x):
    return " ".join(repr(float(e)) for e in np.asarray(x).ravel())


def mujoco_joints(body):
    """The MuJoCo joints that correspond to one joint of limb."""
    axis, plane = body["axis"], np.array(body["plane"])
    hinge = lambda x: f'type="hinge" axis="{text_of(x)}"'
    slide = lambda x: f'type="slide" axis="{text_of(x)}"'
    parts = {
        "revolute": lambda: [hinge(axis)],
        "continuous": lambda: [hinge(axis)],
        "prismatic": lambda: [slide(axis)],
        "cylindrical": lambda: [slide(axis), hinge(axis)],
        "universal": lambda: [hinge(axis), hinge(body["axis2"])],
        "translation": lambda: [slide(row) for row in np.eye(3)],
        "planar": lambda: [slide(plane[:, 0]), slide(plane[:, 1]), hinge(plane[:, 2])],
        "spherical": lambda: ['type="ball"'],
        "free": lambda: ['type="free"'],
    }[body["type"]]()
    return "".join(f'<joint name="{body["name"]}{"+" * i}" {part}/>' for i, part in enumerate(parts))


def mjcf_text(mujoco, tree):
    children = {}
    for body in tree["bodies"]:
        children.setdefault(body["parent"], []).append(body)

    def write(body):
        X, I = np.array(body["X_PJ"]), np.array(body["tensor"])
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, X[:3, :3].ravel())
        full = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        return (f'<body name="{body["name"]}" pos="{text_of(X[:3, 3])}" quat="{text_of(quat)}">'
                f'{mujoco_joints(body)}<inertial pos="{text_of(body["com"])}" '
                f'mass="{body["mass"]!r}" fullinertia="{text_of(full)}"/>'
                + "".join(map(write, children.get(body["name"], []))) + "</body>")

    return ('<mujoco><compiler angle="radian"/><option gravity="0 0 -9.81"/><worldbody>'
            + "".join(map(write, children[""])) + "</worldbody></mujoco>")


@pytest.mark.parametrize("seed", SEEDS)
def test_mujoco_agrees(seed):
    mujoco = pytest.importorskip("mujoco", reason="the package 'mujoco' is not installed")
    tree = dump("mujoco", seed)
    model = mujoco.MjModel.from_xml_string(mjcf_text(mujoco, tree))
    data = mujoco.MjData(model)
    assert (model.nq, model.nv) == (tree["nq"], tree["nv"])
    for entry in tree["joints"]:
        joint = model.joint(entry["name"])
        assert (joint.qposadr[0], joint.dofadr[0]) == (entry["q"], entry["v"])
    for state in tree["states"]:
        data.qpos[:], data.qvel[:] = state["q"], state["v"]
        mujoco.mj_forward(model, data)
        for name, expected in state["bodies"].items():
            index = model.body(name).id
            X = rotated(data.xmat[index].reshape(3, 3))
            X[:3, 3] = data.xpos[index]
            close(X, expected["X_WB"], f"pose {name}")
            velocity = np.zeros(6)
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, index, velocity, 1)
            close(velocity, expected["V"], f"velocity {name}")
        # Before mj_inverse, which overwrites its inputs.
        name = state["J_body"]
        jacp, jacr = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jacBody(model, data, jacp, jacr, model.body(name).id)
        R = np.array(state["bodies"][name]["X_WB"])[:3, :3]
        close(in_frame(R, np.vstack([jacr, jacp])), state["J"], "J")
        close(mujoco_mass_matrix(mujoco, model, data), state["M"], "M")
        data.qacc[:] = state["a"]
        mujoco.mj_inverse(model, data)
        close(data.qfrc_inverse, state["tau"], "tau")


def mujoco_mass_matrix(mujoco, model, data):
    """Column by column: M x is available in every version."""
    M = np.zeros((model.nv, model.nv))
    for k, unit in enumerate(np.eye(model.nv)):
        column = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, column, unit)
        M[:, k] = column
    return M


# Drake -----------------------------------------------------------------------------------------

def drake_plant(tree):
    from pydrake.math import RigidTransform
    from pydrake.multibody import plant as plants
    from pydrake.multibody import tree as trees

    plant = plants.MultibodyPlant(0.0)
    instance = plant.AddModelInstance("tree")
    frames = {"": plant.world_frame()}
    for body in tree["bodies"]:
        inertia = trees.SpatialInertia.MakeFromCentralInertia(
            body["mass"], np.array(body["com"]),
            trees.RotationalInertia(*np.diag(body["tensor"]), body["tensor"][0][1],
                                    body["tensor"][0][2], body["tensor"][1][2]))
        frames[body["name"]] = plant.AddRigidBody(body["name"], instance, inertia).body_frame()

    def fixed(name, parent, X):
        return plant.AddFrame(trees.FixedOffsetFrame(name, parent, RigidTransform(X)))

    for body in tree["bodies"]:
        name, axis, C = body["name"], np.array(body["axis"]), frame_of(body)
        F = fixed(name + "_F", frames[body["parent"]], np.array(body["X_PJ"]) @ C)
        M = fixed(name + "_M", frames[name], C)
        revolute = lambda n, f, m, x: trees.RevoluteJoint(n, f, m, x)
        prismatic = lambda n, f, m, x: trees.PrismaticJoint(n, f, m, x)
        chains = {
            "revolute": [(revolute, axis)],
            "continuous": [(revolute, axis)],
            "prismatic": [(prismatic, axis)],
            "cylindrical": [(prismatic, axis), (revolute, axis)],
            "universal": [(revolute, axis), (revolute, np.array(body["axis2"]))],
            "translation": [(prismatic, x) for x in np.eye(3)],
        }
        if body["type"] in chains:
            chain = chains[body["type"]]
            for i, (make, x) in enumerate(chain):
                last = i + 1 == len(chain)
                to = M if last else plant.AddRigidBody(
                    f"{name}{'+' * (i + 1)}", instance, trees.SpatialInertia.Zero()).body_frame()
                plant.AddJoint(make(name + "+" * i, F, to, x))
                F = to
        else:
            turn = 2 * np.pi
            plant.AddJoint({
                "helical": lambda: trees.ScrewJoint(name, F, M, axis, body["pitch"] * turn, 0.0),
                "planar": lambda: trees.PlanarJoint(name, F, M, np.zeros(3)),
                "spherical": lambda: trees.BallRpyJoint(name, F, M),
                "free": lambda: trees.QuaternionFloatingJoint(name, F, M),
            }[body["type"]]())
    plant.mutable_gravity_field().set_gravity_vector(np.array([0, 0, -9.81]))
    plant.Finalize()
    return plant


@pytest.mark.parametrize("seed", SEEDS)
def test_drake_agrees(seed):
    pytest.importorskip("pydrake", reason="the package 'drake' is not installed")
    from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces

    tree = dump("drake", seed)
    plant = drake_plant(tree)
    assert (plant.num_positions(), plant.num_velocities()) == (tree["nq"], tree["nv"])
    for entry in tree["joints"]:
        joint = plant.GetJointByName(entry["name"])
        assert (joint.position_start(), joint.velocity_start()) == (entry["q"], entry["v"])
    context = plant.CreateDefaultContext()
    for state in tree["states"]:
        plant.SetPositions(context, state["q"])
        plant.SetVelocities(context, state["v"])
        for name, expected in state["bodies"].items():
            body, X = plant.GetBodyByName(name), np.array(expected["X_WB"])
            close(plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4(), X, f"pose {name}")
            V = plant.EvalBodySpatialVelocityInWorld(context, body).get_coeffs()
            close(in_frame(X[:3, :3], V), expected["V"], f"velocity {name}")
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        tau = plant.CalcInverseDynamics(context, np.array(state["a"]), forces)
        close(tau, state["tau"], "tau")
        close(plant.CalcMassMatrix(context), state["M"], "M")
        frame = plant.GetBodyByName(state["J_body"]).body_frame()
        J = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, frame, np.zeros(3),
                                              plant.world_frame(), frame)
        close(J, state["J"], "J")
