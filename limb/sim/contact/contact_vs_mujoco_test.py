"""Foot forces of a quadruped that stands under PD control, against MuJoCo and Drake: against recorded figures of
Drake everywhere, and live where MuJoCo and Drake are installed (else these tests are skipped).
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

DUMP = Path(os.environ.get("LIMB_BUILD_DIR", "build")).resolve() / "tests/contact_dump"

# Their contacts are compliant (about 2 mm here in MuJoCo, less than 0.1 mm in Drake), which changes the pose and
# therefore the loads; limb's contacts are rigid.
TOLERANCE = 0.01

# Measured by test_drake: normal forces in N on FL, FR, RL and RR after 6 s. Discrete MultibodyPlant with its defaults
# (points, lagged approximation), stiction tolerance 1e-4 m/s, URDF and pose of contact_dump.
DRAKE = {
    "version": "1.51.1",
    "settings": {"kp": 120, "kd": 3, "step": 1e-3, "radius": 0.022, "height": 0.35, "flexion": [0.7, 0.7, 0.9, 0.9],
                 "knee": -1.6},
    "normal": [32.9114, 32.9114, 40.5655, 40.5655],
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Run in a temporary folder: MuJoCo writes its warnings into a file in the current folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def limb():
    run = subprocess.run([DUMP], capture_output=True, text=True, timeout=1200)
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    normal = np.array(result["force"])[:, 2]
    assert abs(normal.sum() / result["weight"] - 1) < 1e-6
    assert normal.max() / normal.min() > 1.05  # unequal loads, for a meaningful comparison
    return result


def compare(name, limb, normal):
    ours = np.array(limb["force"])[:, 2]
    worst = np.abs(normal / ours - 1).max()
    print(f"{name}: foot forces {np.round(normal, 3)}, limb {np.round(ours, 3)} N, largest difference {worst:.1e}")
    assert worst < TOLERANCE


def settings(limb):
    q = limb["q"]
    assert q[3:7] == [0, 0, 0, 1] and all(angle == 0 for angle in q[7::3])
    knees = set(q[9::3])
    assert len(knees) == 1
    return {name: limb[name] for name in ("kp", "kd", "step", "radius")} | {
        "height": q[2], "flexion": q[8::3], "knee": knees.pop()}


def test_recorded_drake(limb):
    assert settings(limb) == DRAKE["settings"], "the record has other settings: run test_drake and record its figures"
    compare(f"Drake {DRAKE['version']}, recorded", limb, np.array(DRAKE["normal"]))


def test_mujoco(limb):
    mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed")
    model = mujoco.MjModel.from_xml_string(limb["mjcf"])
    model.opt.timestep = limb["step"]
    model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    data = mujoco.MjData(model)
    q = np.array(limb["q"])
    data.qpos[:] = np.concatenate([q[:3], [q[6]], q[3:6], q[7:]])
    target = data.qpos[7:].copy()
    for _ in range(round(6 / limb["step"])):
        data.qfrc_applied[6:] = limb["kp"] * (target - data.qpos[7:]) - limb["kd"] * data.qvel[6:]
        mujoco.mj_step(model, data)
    force, normal = np.zeros(6), np.zeros(4)
    assert data.ncon == 4
    for i in range(4):
        mujoco.mj_contactForce(model, data, i, force)
        # Feet are the geoms 1 to 4, in the order of the legs.
        normal[data.contact[i].geom.max() - 1] = force[0]
    compare("MuJoCo", limb, normal)


def test_drake(limb):
    pytest.importorskip("pydrake", reason="drake is not installed")
    from pydrake.geometry import HalfSpace, SceneGraph
    from pydrake.math import RigidTransform
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
    from pydrake.systems.analysis import Simulator
    from pydrake.systems.framework import DiagramBuilder

    builder = DiagramBuilder()
    plant, scene = AddMultibodyPlantSceneGraph(builder, limb["step"])
    assert isinstance(scene, SceneGraph)
    Parser(plant).AddModelsFromString(limb["urdf"], "urdf")
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground",
                                    CoulombFriction(0.8, 0.8))
    plant.set_stiction_tolerance(1e-4)
    plant.Finalize()
    diagram = builder.Build()
    simulator = Simulator(diagram)
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    q = np.array(limb["q"])
    names = [f"{leg}_{joint}" for leg in ("FL", "FR", "RL", "RR") for joint in ("abduction", "flexion", "knee")]
    joints = [plant.GetJointByName(name) for name in names]
    trunk = plant.GetBodyByName("trunk")
    plant.SetFreeBodyPose(context, trunk, RigidTransform(q[:3]))
    for joint, angle in zip(joints, q[7:]):
        joint.set_angle(context, angle)
    port = plant.get_applied_generalized_force_input_port()
    steps = round(6 / limb["step"])
    for k in range(steps):
        tau = np.zeros(plant.num_velocities())
        for joint, target in zip(joints, q[7:]):
            tau[joint.velocity_start()] = (limb["kp"] * (target - joint.get_angle(context))
                                           - limb["kd"] * joint.get_angular_rate(context))
        port.FixValue(context, tau)
        simulator.AdvanceTo((k + 1) * limb["step"])
    results = plant.get_contact_results_output_port().Eval(context)
    assert results.num_point_pair_contacts() == 4
    normal = np.zeros(4)
    for i in range(4):
        info = results.point_pair_contact_info(i)
        bodies = [plant.get_body(index).name() for index in (info.bodyA_index(), info.bodyB_index())]
        leg = next(k for k, name in enumerate(("FL", "FR", "RL", "RR")) if f"{name}_calf" in bodies)
        normal[leg] = abs(info.contact_force()[2])
    compare("Drake", limb, normal)
    print("figures for the record:", [round(float(f), 4) for f in normal])
    # Another version may converge to slightly different figures.
    assert np.abs(normal / np.array(DRAKE["normal"]) - 1).max() < 1e-3
