"""Motion of MJCF files by `limb simulate`, with their servos, springs, tendons and drag, against MuJoCo. Skipped if MuJoCo
is not installed.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco", reason="the package 'mujoco' is not installed")
LIMB = Path(os.environ.get("LIMB_BUILD_DIR", "build")).resolve() / "limb"

# limb's default method is of first order: its error at 2 us is below 5e-5 (tendons; the others: 1e-5), at 20 us ten times
# larger. That of MuJoCo's Runge-Kutta method at 0.1 ms is far below.
TOLERANCE = 1e-4
DURATION = 0.5

HEAD = '<mujoco><compiler angle="radian"/><option integrator="RK4" timestep="0.0001"/>'
ARM = """<worldbody>
  <body pos="0 0 1"><joint name="a" axis="0 1 0" ref="0.2" damping="0.3"/><geom type="capsule" size="0.04" fromto="0 0 0 0.4 0 0"/>
    <body pos="0.4 0 0"><joint name="b" axis="0 0 1" stiffness="5" springref="0.3" armature="0.02"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
      <body pos="0.3 0 0" gravcomp="0.7"><joint name="c" type="slide" axis="1 0 0" damping="2"/><geom size="0.05"/></body>
    </body>
  </body>
  <body pos="2 0 1" quat="1 2 3 4"><freejoint/><geom type="box" size="0.1 0.2 0.3"/></body>
</worldbody>"""
FREE = ' name="k" qpos="0.5 -0.4 0.05 2 0 1 0.5 0.5 0.5 0.5" qvel="1 -2 0.3 1 2 3 4 -5 6"'
CASES = {
    "springs": f"{HEAD}{ARM}<keyframe><key{FREE}/></keyframe></mujoco>",
    "servos": f"""{HEAD}{ARM}<actuator><position joint="a" kp="60" kv="4" gear="1.5"/><velocity joint="b" kv="3"/>
        <general joint="c" gainprm="40" biastype="affine" biasprm="1 -50 -2" forcerange="-6 3"/></actuator>
        <keyframe><key{FREE} ctrl="0.3 0.5 0.2"/></keyframe></mujoco>""",
    "damping_ratio": f"""{HEAD}{ARM}<actuator><position joint="a" kp="60" dampratio="0.8"/></actuator>
        <keyframe><key{FREE} ctrl="0.3"/></keyframe></mujoco>""",
    "tendons": f"""{HEAD}{ARM}<tendon><fixed name="t" stiffness="20" damping="2" springlength="0.1 0.2">
        <joint joint="a" coef="1"/><joint joint="b" coef="-0.6"/></fixed></tendon>
        <actuator><position tendon="t" kp="15" gear="1.2"/></actuator>
        <keyframe><key{FREE} ctrl="0.4"/></keyframe></mujoco>""",
    "medium": f"""{HEAD}<option density="300" viscosity="0.4" wind="1 -2 0.5"/>{ARM}
        <keyframe><key{FREE}/></keyframe></mujoco>""",
    "armature_of_free": f"""{HEAD}{ARM.replace('<freejoint/>', '<joint type="free" armature="20"/>')}
        <keyframe><key{FREE}/></keyframe></mujoco>""",
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Run in a temporary folder: MuJoCo writes its warnings into a file in the current folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", CASES)
def test_motion(name):
    Path("scene.xml").write_text(CASES[name])
    run = subprocess.run([LIMB, "simulate", "scene.xml", "--keyframe", "k", "--duration", str(DURATION), "--dt", "2e-6",
                          "--json"], capture_output=True, text=True, timeout=1200)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    model = mujoco.MjModel.from_xml_path("scene.xml")
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    for _ in range(round(DURATION / model.opt.timestep)):
        mujoco.mj_step(model, data)
    q = np.array(found["q"])
    q[6:10] = [q[9], *q[6:9]]
    difference = np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, difference, 1, data.qpos, q)
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, data.qpos[6:10])
    v = np.array(found["v"])
    v[3:6] = rotation.reshape(3, 3) @ v[3:6]
    print(f"{name}: q {np.abs(difference).max():.1e}, v {np.abs(v - data.qvel).max():.1e}")
    assert np.abs(data.qpos[:3] - model.key_qpos[0][:3]).max() > 0.05  # it moved
    assert np.abs(difference).max() < TOLERANCE
    assert np.abs(v - data.qvel).max() < 10 * TOLERANCE


KNEE = """<mujoco><compiler angle="radian"/><option integrator="RK4" timestep="0.00002"/><worldbody>
  <body pos="0 0 1"><joint name="hip" axis="0 1 0"/><geom type="capsule" size="0.06" fromto="0 0 0 0 0 -0.4"/>
    <body pos="0 0 -0.4"><joint name="forward" type="slide" axis="1 0 0" ref="0.01"/><joint name="up" type="slide" axis="0 0 1"/>
      <joint name="knee" axis="0 1 0" ref="-0.2"/><geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.4"/>
    </body></body></worldbody>
  <contact><exclude body1="world" body2="world"/></contact>
  <default><equality solref="-1e6 -2000" solimp="0.9999 0.9999 0.001"/></default>
  <equality><joint joint1="forward" joint2="knee" polycoef="0.001 0.02 -0.11 0.03 0.007"/>
    <joint joint1="up" joint2="knee" polycoef="0 0 0.04"/></equality>
  <keyframe><key name="k" qpos="0.7 {forward} {up} -1.1" qvel="0.4 0 0 0"/></keyframe></mujoco>"""


def test_polynomial_couplings():
    """A knee whose translations follow quartic and quadratic polynomials. MuJoCo holds them by stiff springs: its error is
    about force / (mass stiffness), 1e-5 m here."""
    x = -1.1 + 0.2
    forward, up = 0.01 + np.polynomial.polynomial.polyval(x, [0.001, 0.02, -0.11, 0.03, 0.007]), 0.04 * x**2
    Path("scene.xml").write_text(KNEE.format(forward=float(forward), up=float(up)))
    run = subprocess.run([LIMB, "simulate", "scene.xml", "--keyframe", "k", "--duration", "0.5", "--dt", "1e-5",
                          "--ground", "none", "--json"], capture_output=True, text=True, timeout=1200)
    assert run.returncode == 0, run.stderr
    q = np.array(json.loads(run.stdout)["q"])
    model = mujoco.MjModel.from_xml_path("scene.xml")
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    for _ in range(round(0.5 / model.opt.timestep)):
        mujoco.mj_step(model, data)
    print(f"knee: {np.abs(q - data.qpos).max():.1e}, moved {np.abs(data.qpos - model.key_qpos[0]).max():.2f}")
    assert np.abs(data.qpos[3] - model.key_qpos[0][3]) > 0.5  # it moved
    assert np.abs(q - data.qpos).max() < 5e-4


CORNERS = "-1 -1 -1  1 -1 -0.8  -0.9 1 -1  1.2 1 -1  -1 -0.9 0.7  1 -1 1  -1 1.1 1  0.8 1 0.9"
AT_REST = f"""<mujoco><compiler angle="radian"/><option timestep="0.001" cone="elliptic"/>
  <asset><mesh name="m" vertex="{CORNERS}" scale="0.1 0.07 -0.05" refpos="0.1 0 0.2" refquat="1 0.2 0.3 0.1" inertia="convex"/></asset>
  <worldbody><geom type="{{ground}}" {{size}}/>{{bodies}}</worldbody></mujoco>"""
BODIES = "".join(f'<body pos="{0.5 * i - 1} 0 0.12" euler="{1.3 * i} {0.9 * i} 0"><freejoint/>'
                 '<geom type="mesh" mesh="m" density="500"/></body>' for i in range(5))
GROUNDS = {"plane": ("plane", 'size="0 0 1"'), "box": ("box", 'size="2 2 0.5" pos="0 0 -0.5"')}


@pytest.mark.parametrize("name", GROUNDS)
def test_rest_pose_of_a_mesh(name):
    """Dropped in several poses, a mesh comes to rest on the same face in both. MuJoCo's contacts yield by less than a
    millimetre, which turns a body of 10 cm by less than 0.02 rad."""
    ground, size = GROUNDS[name]
    Path("scene.xml").write_text(AT_REST.format(ground=ground, size=size, bodies=BODIES))
    run = subprocess.run([LIMB, "simulate", "scene.xml", "--duration", "3", "--json"], capture_output=True, text=True,
                         timeout=1200)
    assert run.returncode == 0, run.stderr
    q = np.array(json.loads(run.stdout)["q"]).reshape(-1, 7)
    model = mujoco.MjModel.from_xml_path("scene.xml")
    model.geom_conaffinity[1:] = 0  # meshes do not touch each other in limb
    model.geom_contype[0] = 0
    data = mujoco.MjData(model)
    for _ in range(3000):
        mujoco.mj_step(model, data)
    for i, theirs in enumerate(data.qpos.reshape(-1, 7)):
        def up(w, x, y, z):
            """The vertical in the axes of the body."""
            rotation = np.zeros(9)
            mujoco.mju_quat2Mat(rotation, np.array([w, x, y, z]))
            return rotation[6:]
        ours = q[i]
        print(f"{name} {i}: height {ours[2]:.5f} {theirs[2]:.5f}, "
              f"tilt {np.linalg.norm(up(ours[6], *ours[3:6]) - up(*theirs[3:])):.1e}")
        assert abs(ours[2] - theirs[2]) < 1e-3
        assert np.linalg.norm(up(ours[6], *ours[3:6]) - up(*theirs[3:])) < 0.02
