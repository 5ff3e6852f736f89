"""limb's MJCF reader compared with the model that MuJoCo compiles from the same file."""

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

mujoco = pytest.importorskip("mujoco", reason="the package 'mujoco' is not installed")
np = pytest.importorskip("numpy", reason="numpy is not installed")

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
from shared_folder import shared_path, why_no_shared  # noqa: E402

DUMP = Path(os.environ.get("LIMB_BUILD_DIR", ROOT / "build")).resolve() / "tests/describe_dump"
SMALL = sorted((ROOT / "limb/model/testing/mjcf").glob("*.xml"))
SHARED = shared_path().resolve()
WHY_NO_SHARED = why_no_shared()
ROBOTS = ["iiwa14", "g1", "panda", "go2"]
# MuJoCo diagonalises inertias iteratively, measured less than 1e-13 from limb, and stores
# quaternions where limb stores matrices. The rest is rounding.
CLOSE = 1e-12


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Run in a temporary folder: MuJoCo writes its warnings into a file in the current folder."""
    monkeypatch.chdir(tmp_path)


def describe(path):
    """limb's Description of a file."""
    return json.loads(subprocess.run([DUMP, path], check=True, capture_output=True).stdout)[0]


def compile_without_meshes(path):
    """MuJoCo's model of a robot whose mesh files are absent."""
    tree = ElementTree.parse(path)

    def strip(element):
        # A geom may be a mesh by its type or by its class; both have the attribute mesh.
        for child in list(element):
            asset = element.tag == "asset" and child.tag == "mesh"
            if asset or (child.tag == "geom" and "mesh" in child.attrib):
                element.remove(child)
            else:
                strip(child)

    strip(tree.getroot())
    return mujoco.MjModel.from_xml_string(ElementTree.tostring(tree.getroot(), encoding="unicode"))


def rotation(quaternion):
    result = np.zeros(9)
    mujoco.mju_quat2Mat(result, np.asarray(quaternion, dtype=float))
    return result.reshape(3, 3)


def pose(X):
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = X["R"], X["p"]
    return result


def assert_close(found, expected, scale=None, what=""):
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    scale = max(1e-300, np.abs(expected).max(initial=0)) if scale is None else scale
    assert np.abs(found - expected).max(initial=0) <= CLOSE * scale, (
        f"{what}: {found.tolist()} instead of {expected.tolist()}")


def body_name(model, i):
    return "world" if i == 0 else model.body(i).name or f"body#{i}"


def joint_name(model, j):
    if model.joint(j).name:
        return model.joint(j).name
    body = model.jnt_bodyid[j]
    number = j - model.body_jntadr[body]
    return body_name(model, body) + "/joint" + ("" if number == 0 else str(number + 1))


def check_masses(model, found):
    links = {link["name"]: link for link in found["links"]}
    for i in range(1, model.nbody):
        name = body_name(model, i)
        inertial = links.pop(name)["inertial"] or {
            "mass": 0, "com": [0, 0, 0], "tensor": np.zeros((3, 3))}
        assert_close(inertial["mass"], model.body_mass[i], what=f"mass of {name}")
        if model.body_mass[i] > 0:
            assert_close(inertial["com"], model.body_ipos[i], scale=1, what=f"centre of {name}")
        R = rotation(model.body_iquat[i])
        assert_close(inertial["tensor"], R @ np.diag(model.body_inertia[i]) @ R.T,
                     what=f"inertia of {name}")
    # The remaining links are those between the joints of one body.
    assert all(link["inertial"] is None for link in links.values())


TYPES = {mujoco.mjtJoint.mjJNT_HINGE: ("revolute", "continuous"),
         mujoco.mjtJoint.mjJNT_SLIDE: ("prismatic",),
         mujoco.mjtJoint.mjJNT_BALL: ("spherical",),
         mujoco.mjtJoint.mjJNT_FREE: ("free",)}


OF_JOINTS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))


def ratio_to(model, k, j):
    """Ratio of joint j in the tendon that actuator k drives; 1 if it drives the joint itself."""
    if int(model.actuator_trntype[k]) != int(mujoco.mjtTrn.mjTRN_TENDON):
        return 1
    return tendon_terms(model, model.actuator_trnid[k, 0])[joint_name(model, j)]


def largest_effort(model, j, driven):
    """The smaller one of the joint's own limit and of what its actuators exert together."""
    def largest(limited, values):
        return np.abs(values).max() if limited else np.inf

    effort = 0
    for k in driven:
        force = largest(model.actuator_forcelimited[k], model.actuator_forcerange[k])
        affine = model.actuator_biastype[k] == int(mujoco.mjtBias.mjBIAS_AFFINE)
        if (not (affine and np.any(model.actuator_biasprm[k, :3]))
                and model.actuator_gaintype[k] == int(mujoco.mjtGain.mjGAIN_FIXED)):
            control = largest(model.actuator_ctrllimited[k], model.actuator_ctrlrange[k])
            force = np.minimum(force, abs(model.actuator_gainprm[k, 0]) * control)
        effort += abs(model.actuator_gear[k, 0] * ratio_to(model, k, j)) * force
    own = largest(model.jnt_actfrclimited[j], model.jnt_actfrcrange[j])
    return np.minimum(effort or np.inf, own)


def drives(model, k, j):
    target = model.actuator_trnid[k, 0]
    if int(model.actuator_trntype[k]) == int(mujoco.mjtTrn.mjTRN_TENDON):
        return joint_name(model, j) in tendon_terms(model, target)
    return target == j and int(model.actuator_trntype[k]) in OF_JOINTS


def check_joints(model, found):
    joints = {joint["name"]: joint for joint in found["joints"] if joint["type"] != "fixed"}
    for j in range(model.njnt):
        joint = joints.pop(joint_name(model, j))
        kind = mujoco.mjtJoint(model.jnt_type[j])
        assert joint["type"] in TYPES[kind]
        scalar = joint["type"] in ("revolute", "continuous", "prismatic")
        if joint["type"] != "free":
            assert_close(-np.array(joint["X_JC"]["p"]), model.jnt_pos[j], scale=1, what="anchor")
        if scalar:
            assert_close(joint["axis"], model.jnt_axis[j], scale=1, what="axis")
        limits = joint["limits"][0] if joint["limits"] else {"lower": None, "effort": None}
        assert (limits["lower"] is not None) == (bool(model.jnt_limited[j]) and scalar)
        if limits["lower"] is not None:
            assert_close([limits["lower"], limits["upper"]], model.jnt_range[j], what="range")
        dof = model.jnt_dofadr[j]
        assert_close(joint["friction"], model.dof_frictionloss[dof], what="friction")
        # Armature and damping of the actuators act on the joint multiplied by the gear squared.
        driven = [k for k in range(model.nu) if scalar and drives(model, k, j)]
        effort = largest_effort(model, j, driven)
        assert (limits["effort"] is not None) == (effort < np.inf)
        if limits["effort"] is not None:
            assert_close(limits["effort"], effort, what="effort")
        gear2 = {k: (model.actuator_gear[k, 0] * ratio_to(model, k, j)) ** 2 for k in driven}
        armature = sum(gear2[k] * np.ravel(model.actuator_armature[k])[0] for k in driven)
        damping = sum(gear2[k] * np.ravel(model.actuator_damping[k])[0] for k in driven)
        assert_close(joint["armature"], model.dof_armature[dof] + armature, what="armature")
        assert_close(joint["damping"], np.ravel(model.dof_damping[dof])[0] + damping,
                     what="damping")
    assert not joints


def motion(joint, q):
    """Pose of the moved joint frame, from MuJoCo's coordinates of that joint."""
    X = np.eye(4)
    if joint["type"] == "prismatic":
        X[:3, 3] = q[0] * np.array(joint["axis"])
    elif joint["type"] in ("revolute", "continuous"):
        quaternion = np.zeros(4)
        mujoco.mju_axisAngle2Quat(quaternion, np.array(joint["axis"]), q[0])
        X[:3, :3] = rotation(quaternion)
    elif joint["type"] == "spherical":
        X[:3, :3] = rotation(q)
    elif joint["type"] == "free":
        X[:3, 3], X[:3, :3] = q[:3], rotation(q[3:])
    return X


def check_motion(model, found, seed):
    """Poses of all bodies and sites at random coordinates: every placement, anchor and ref."""
    data = mujoco.MjData(model)
    random = np.random.default_rng(seed)
    addresses = {joint_name(model, j): model.jnt_qposadr[j] for j in range(model.njnt)}
    for trial in range(5):
        data.qpos[:] = model.qpos0 if trial == 0 else random.uniform(-2, 2, model.nq)
        mujoco.mj_normalizeQuat(model, data.qpos)
        mujoco.mj_kinematics(model, data)
        X_W = {"world": np.eye(4)}
        for joint in found["joints"]:
            at = addresses.get(joint["name"], 0)
            X_W[joint["child"]] = (X_W[joint["parent"]] @ pose(joint["X_PJ"]) @
                                   motion(joint, data.qpos[at:at + 7]
                                          if joint["type"] == "free" else data.qpos[at:at + 4]) @
                                   pose(joint["X_JC"]))
        for i in range(model.nbody):
            X = X_W[body_name(model, i)]
            context = f"{body_name(model, i)}, seed {seed}, trial {trial}"
            assert_close(X[:3, 3], data.xpos[i], scale=10, what=context)
            assert_close(X[:3, :3].ravel(), data.xmat[i], scale=10, what=context)
        frames = {f["name"]: X_W[f["link"]] @ pose(f["X_LF"]) for f in found["frames"]}
        for s in range(model.nsite):
            if model.site(s).name:
                X = frames[model.site(s).name]
                assert_close(X[:3, 3], data.site_xpos[s], scale=10, what=model.site(s).name)
                assert_close(X[:3, :3].ravel(), data.site_xmat[s], scale=10, what="site axes")
        assert len(frames) == model.nsite


def check_tendon_coupling(model, e, couplings):
    """L1 - L1_0 = c0 + c1 (L2 - L2_0), for coordinates that satisfy the coupling."""
    ids = [model.eq_obj1id[e]] + ([model.eq_obj2id[e]] if model.eq_obj2id[e] >= 0 else [])
    terms = [tendon_terms(model, t) for t in ids]
    follower, = {joint for t in terms for joint in t} & set(couplings)
    coupling = couplings.pop(follower)
    q0 = {joint_name(model, j): model.qpos0[model.jnt_qposadr[j]] for j in range(model.njnt)}
    q = dict(q0)
    for i, term in enumerate(coupling["terms"]):
        q[term["joint"]] = 0.3 + 0.7 * i
    q[follower] = coupling["offset"] + sum(t["ratio"] * q[t["joint"]] for t in coupling["terms"])
    stretch = [sum(ratio * (q[joint] - q0[joint]) for joint, ratio in t.items()) for t in terms]
    expected = model.eq_data[e][0] + (model.eq_data[e][1] * stretch[1] if len(ids) > 1 else 0)
    assert_close(stretch[0], expected, scale=1, what="length of a tendon")


def check_equalities(model, found):
    loops = {loop["name"]: loop for loop in found["loops"]}
    couplings = {c["joint"]: c for c in found["couplings"]}
    frames = {f["name"]: f for f in found["frames"]}
    for e in range(model.neq):
        data, name = model.eq_data[e], model.equality(e).name
        kind = mujoco.mjtEq(model.eq_type[e])
        if not model.eq_active0[e]:
            continue
        if kind == mujoco.mjtEq.mjEQ_JOINT:
            first, second = model.eq_obj1id[e], model.eq_obj2id[e]
            coupling = couplings.pop(joint_name(model, first))
            ref = model.qpos0[model.jnt_qposadr[first]]
            if second < 0:
                assert_close(coupling["offset"], ref + data[0], scale=1)
                assert coupling["terms"] == coupling["powers"] == []
                continue
            assert [t["joint"] for t in coupling["terms"]] == [joint_name(model, second)]
            other = model.qpos0[model.jnt_qposadr[second]]
            found_coefficients = [coupling["offset"], coupling["terms"][0]["ratio"], *coupling["powers"]]
            for x in (-1.5, 0, 0.4, 2):
                expected = ref + np.polynomial.polynomial.polyval(x - other, data[:5])
                assert_close(np.polynomial.polynomial.polyval(x, found_coefficients), expected, scale=1)
            continue
        if kind == mujoco.mjtEq.mjEQ_TENDON:
            check_tendon_coupling(model, e, couplings)
            continue
        loop = loops.pop(name)
        A, B = pose(loop["X_AL"]), pose(loop["X_BL"])
        if model.eq_objtype[e] == mujoco.mjtObj.mjOBJ_SITE:
            for side, site in ((A, model.eq_obj1id[e]), (B, model.eq_obj2id[e])):
                assert_close(side, pose(frames[model.site(site).name]["X_LF"]), scale=1)
            continue
        assert loop["link_a"] == body_name(model, model.eq_obj1id[e])
        assert loop["link_b"] == body_name(model, model.eq_obj2id[e])
        if kind == mujoco.mjtEq.mjEQ_CONNECT:
            assert_close(A[:3, 3], data[:3], scale=1, what=name)
            assert_close(B[:3, 3], data[3:6], scale=1, what=name)
        else:  # weld: anchor in the second body, in the first body, and the relative rotation
            assert_close(B[:3, 3], data[:3], scale=1, what=name)
            assert_close(A[:3, 3], data[3:6], scale=1, what=name)
            assert_close(A[:3, :3] @ B[:3, :3].T, rotation(data[6:10]), scale=1, what=name)
    assert not loops and not couplings


def limits_of(limited, range_):
    return list(range_) if limited else [None, None]


def check_actuators(model, found):
    """Joint, gear, gains and ranges. One of a tendon is a motor of each of its joints, and of the
    tendon if these are several."""
    expected, found_servos = [], {}
    for actuator in found["actuators"]:
        found_servos.setdefault(actuator["control"], actuator)
    for tendon in found["tendons"]:
        found_servos.update({motor["control"]: motor for motor in tendon["motors"]})
    for k in range(model.nu):
        kind = mujoco.mjtTrn(model.actuator_trntype[k])
        target, gear = model.actuator_trnid[k, 0], model.actuator_gear[k, 0]
        if kind == mujoco.mjtTrn.mjTRN_TENDON:
            terms = tendon_terms(model, target)
            expected += [(k, joint, gear * ratio) for joint, ratio in terms.items()]
        elif kind == mujoco.mjtTrn.mjTRN_JOINT:
            expected.append((k, joint_name(model, target), gear))
    assert [(a["control"], a["joint"], a["gear"]) for a in found["actuators"]] == expected
    for k, joint, _ in expected:
        servo, gear = found_servos[k]["servo"], found_servos[k]["gear"]
        assert_close(servo["gain"], model.actuator_gainprm[k, 0], what="gain")
        affine = model.actuator_biastype[k] == int(mujoco.mjtBias.mjBIAS_AFFINE)
        bias = model.actuator_biasprm[k, :3] if affine else np.zeros(3)
        damping = servo["damping"]
        if servo["ratio"]:
            dof = next(model.jnt_dofadr[j] for j in range(model.njnt)
                       if joint_name(model, j) == joint)
            inertia = 1 / (gear ** 2 * model.dof_invweight0[dof])
            damping = 2 * servo["ratio"] * np.sqrt(servo["stiffness"] * inertia)
        assert_close([servo["offset"], -servo["stiffness"], -damping], bias, what="bias")
        assert servo["control"] == limits_of(model.actuator_ctrllimited[k],
                                             model.actuator_ctrlrange[k])
        assert servo["force"] == limits_of(model.actuator_forcelimited[k],
                                           model.actuator_forcerange[k])


def tendon_terms(model, t):
    first = model.tendon_adr[t]
    return {joint_name(model, model.wrap_objid[w]): model.wrap_prm[w]
            for w in range(first, first + model.tendon_num[t])}


def check_springs(model, found):
    joints = {joint["name"]: joint for joint in found["joints"]}
    for j in range(model.njnt):
        joint = joints[joint_name(model, j)]
        stiffness = np.ravel(model.jnt_stiffness[j])[0]
        assert_close(joint["stiffness"], stiffness, what="stiffness")
        if stiffness:
            assert_close(joint["spring_rest"], model.qpos_spring[model.jnt_qposadr[j]], what="rest")
    assert len(found["tendons"]) == model.ntendon
    for t, tendon in enumerate(found["tendons"]):
        assert tendon["name"] == model.tendon(t).name
        assert tendon["terms"] == tendon_terms(model, t)
        assert_close(tendon["stiffness"], np.ravel(model.tendon_stiffness[t])[0])
        assert_close(tendon["damping"], np.ravel(model.tendon_damping[t])[0])
        assert_close(tendon["rest"], model.tendon_lengthspring[t], scale=1, what="rest")
        assert [tendon["lower"], tendon["upper"]] == limits_of(model.tendon_limited[t],
                                                               model.tendon_range[t])
    links = {link["name"]: link for link in found["links"]}
    for i in range(1, model.nbody):
        assert links[body_name(model, i)]["gravity_compensation"] == model.body_gravcomp[i]


def coordinates(model, joint_states, j):
    """limb's q and v of a joint in MuJoCo's order and axes; None where they are not given."""
    state = joint_states.get(joint_name(model, j), {"q": None, "v": None})
    q, v = state["q"], state["v"] or None
    kind = mujoco.mjtJoint(model.jnt_type[j])
    if q is not None and kind == mujoco.mjtJoint.mjJNT_FREE:
        if v is not None:
            v = list(rotation([q[6], *q[3:6]]) @ v[:3]) + v[3:]
        q = [*q[:3], q[6], *q[3:6]]
    elif q is not None and kind == mujoco.mjtJoint.mjJNT_BALL:
        q = [q[3], *q[:3]]
    return q, v


def check_state(model, state, qpos, qvel):
    for j in range(model.njnt):
        q, v = coordinates(model, state["joints"], j)
        size = {mujoco.mjtJoint.mjJNT_FREE: (7, 6), mujoco.mjtJoint.mjJNT_BALL: (4, 3)}.get(
            mujoco.mjtJoint(model.jnt_type[j]), (1, 1))
        at_q, at_v = model.jnt_qposadr[j], model.jnt_dofadr[j]
        expected_q, expected_v = qpos[at_q:at_q + size[0]], qvel[at_v:at_v + size[1]]
        if q is None:
            q = [1, 0, 0, 0] if size == (4, 3) else np.zeros(size[0])
        elif size[0] > 1:  # a quaternion and its negative are the same rotation
            sign = np.sign(np.dot(q[-4:], expected_q[-4:]))
            q = [*q[:-4], *(sign * np.array(q[-4:]))]
            expected_q = [*expected_q[:-4], *(expected_q[-4:] / np.linalg.norm(expected_q[-4:]))]
        assert_close(q, expected_q, scale=1, what=f"q of {joint_name(model, j)}")
        assert_close(np.zeros(size[1]) if v is None else v, expected_v, scale=10, what="v")


def check_scene(model, found):
    scene = found["scene"]
    check_state(model, scene["initial"], model.qpos0, np.zeros(model.nv))
    names = [model.key(k).name for k in range(model.nkey)]
    assert sorted(key["name"] for key in scene["keyframes"]) == sorted(names)
    unnamed = [key for key in scene["keyframes"] if not key["name"]]
    named = {key["name"]: key for key in scene["keyframes"]}
    for k in range(model.nkey):
        key = named[names[k]] if names[k] else unnamed.pop(0)
        check_state(model, key, model.key_qpos[k], model.key_qvel[k])
        assert_close(key["control"] or np.zeros(model.nu), model.key_ctrl[k], what="control")
    if scene["step"] is not None:
        assert scene["step"] == model.opt.timestep
    excluded = sorted(tuple(sorted((body_name(model, s >> 16), body_name(model, s & 0xFFFF))))
                      for s in model.exclude_signature)
    assert sorted(tuple(sorted(pair)) for pair in scene["excluded"]) == excluded
    assert len(scene["pairs"]) == model.npair
    for k, (first, second, *friction) in enumerate(scene["pairs"]):
        assert {first, second} == {model.geom(model.pair_geom1[k]).name, model.geom(model.pair_geom2[k]).name}
        of_dimension = [model.pair_dim[k] > above for above in (1, 3, 4)]
        assert friction == list(model.pair_friction[k, [0, 2, 3]] * of_dimension)
    check_shapes(model, 0, scene["fixed"])
    links = {link["name"]: link for link in found["links"]}
    for i in range(1, model.nbody):
        check_shapes(model, i, links[body_name(model, i)]["geometry"])


# MuJoCo moves the frames of meshes to their mass centres.
NOT_COMPARED = (int(mujoco.mjtGeom.mjGEOM_HFIELD), int(mujoco.mjtGeom.mjGEOM_MESH))


def check_shapes(model, body, shapes):
    """Places, masks and friction of the geoms of a body, in order."""
    geoms = [g for g in range(model.ngeom) if model.geom_bodyid[g] == body
             and model.geom_type[g] not in NOT_COMPARED]
    shapes = [shape for shape in shapes if not shape["mesh"]]
    for g, shape in zip(geoms, shapes, strict=True):
        assert shape["name"] == model.geom(g).name
        assert shape["contact"] == [model.geom_contype[g], model.geom_conaffinity[g]]
        assert shape["friction"] == list(model.geom_friction[g])
        assert shape["dimension"] == model.geom_condim[g]
        assert shape["priority"] == model.geom_priority[g]
        assert_close(shape["X"]["p"], model.geom_pos[g], scale=1, what="place of a geom")
        assert_close(shape["X"]["R"], rotation(model.geom_quat[g]), scale=1, what="its axes")


def check_all(model, found):
    assert not [d for d in found["diagnostics"] if ": error: " in d]
    assert_close(found["gravity"], model.opt.gravity)
    check_masses(model, found)
    check_joints(model, found)
    check_motion(model, found, seed=17)
    check_equalities(model, found)
    check_actuators(model, found)
    check_springs(model, found)
    check_scene(model, found)


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_small_file(path):
    check_all(mujoco.MjModel.from_xml_path(str(path)), describe(path))


@pytest.mark.parametrize("name", ROBOTS)
def test_robot(name):
    if WHY_NO_SHARED:
        pytest.skip(WHY_NO_SHARED)
    path = SHARED / "robots/mjcf" / f"{name}.xml"
    check_all(compile_without_meshes(path), describe(path))


def random_file(random):
    """A tree with every orientation form, joint type, shape and angle unit."""
    numbers = lambda n: " ".join(repr(float(x)) for x in random.uniform(-1, 1, n))  # noqa: E731

    def orientation():
        form, count = [("quat", 4), ("axisangle", 4), ("euler", 3), ("xyaxes", 6), ("zaxis", 3),
                       ("user", 1)][random.integers(6)]
        return f'{form}="{numbers(count)}"'

    def geom():
        kind = ["sphere", "capsule", "cylinder", "ellipsoid", "box"][random.integers(5)]
        size = " ".join(repr(float(x)) for x in random.uniform(0.05, 0.3, 3))
        where = f'pos="{numbers(3)}" {orientation()}'
        if kind != "sphere" and random.random() < 0.3:
            where = f'fromto="{numbers(6)}"'
        amount = [f'mass="{random.uniform(0.1, 2)}"', f'density="{random.uniform(100, 3000)}"',
                  ""][random.integers(3)]
        return f'<geom type="{kind}" size="{size}" {where} {amount}/>'

    def body(depth):
        joints = [f'<joint type="{["hinge", "slide"][random.integers(2)]}" axis="{numbers(3)}" '
                  f'pos="{numbers(3)}" ref="{random.uniform(-1, 1)}"/>'
                  for _ in range(random.integers(4))]
        if not joints and random.random() < 0.5:
            joints = [f'<joint type="ball" pos="{numbers(3)}"/>']
        inside = "".join(joints) + "".join(geom() for _ in range(random.integers(1, 4)))
        if depth < 4:
            inside += "".join(body(depth + 1) for _ in range(random.integers(3)))
        if random.random() < 0.3:
            inside = f'<frame pos="{numbers(3)}" {orientation().replace("user", "name")}>{inside}</frame>'
        return f'<body pos="{numbers(3)}" {orientation()}>{inside}</body>'

    letters = "".join(["xyzXYZ"[random.integers(6)] for _ in range(3)])
    unit = ["degree", "radian"][random.integers(2)]
    return (f'<mujoco><size nuser_body="1" nuser_geom="1"/>'
            f'<compiler angle="{unit}" eulerseq="{letters}"/>'
            f'<worldbody>{body(0)}{body(0)}</worldbody></mujoco>')


@pytest.mark.parametrize("seed", range(40))
def test_random_file(seed):
    text = random_file(np.random.default_rng(seed))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.xml"
        path.write_text(text)
        check_all(mujoco.MjModel.from_xml_string(text), describe(path))
