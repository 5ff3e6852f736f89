"""Robot.show: the page is complete, needs no network, and its kinematics are those of the robot."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import limb


def data_of(page):
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S).group(1))


def test_page_is_self_contained(quadruped, tmp_path):
    path = tmp_path / "robot.html"
    view = quadruped.show(path=path)
    page = path.read_text()
    assert page == view.html()
    assert not re.search(r"(src|href)\s*=|https?:|@import|fetch\(|XMLHttp", page)
    data = data_of(page)
    assert data["name"] == "quadruped" and len(data["sliders"]) == 12
    assert len(data["shapes"]) == len([x for x in quadruped.geometry if x.role == "visual" and x.shape != "plane"]) > 0
    assert view._repr_html_().startswith("<iframe srcdoc=")
    assert repr(view).startswith("View('quadruped': ")


def test_meshes_are_in_the_page(tmp_path):
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    robot = limb.loads("""<robot name="m"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
        ixz="0" iyz="0"/></inertial><visual><geometry><mesh filename="a.obj" scale="2 1 1"/></geometry></visual>
        <visual><geometry><mesh filename="none.obj"/></geometry></visual></link></robot>""", folder=tmp_path)
    view = robot.show(path=tmp_path / "m.html")
    assert len(data_of(view.html())["meshes"]) == 1
    assert len(view.left_out) == 1 and "none.obj" in view.left_out[0]


def test_wrong_configuration(arm):
    with pytest.raises(limb.Error, match="forward_kinematics: q has shape"):
        arm.show([0, 0], browser=False)
    with pytest.raises(limb.Error, match="show: q has shape"):
        arm.show(np.zeros((2, 7)), browser=False)


@pytest.mark.parametrize("name", ["arm7", "quadruped", "belt-leg"])
def test_kinematics_of_the_page(name, tmp_path):
    """The page's own forward kinematics, run by node, against those of the robot."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    robot = limb.load(f"builtin:{name}")
    q = robot.random_configuration(3)
    page = robot.show(q, browser=False).html()
    script = page.rsplit("<script>", 1)[1].split("// Unit shapes as triangles.")[0]
    script = re.sub(r'(?s)const canvas = .*?// 4 x 4', "// 4 x 4", script).replace("window.limb =", "globalThis.limb =")
    script = re.sub(r"const data = .*?;\n", f"const data = {json.dumps(data_of(page))};\n", script, count=1)
    file = tmp_path / "poses.js"
    file.write_text(script + "\nconsole.log(JSON.stringify(poses()));")
    found = json.loads(subprocess.run([node, file], capture_output=True, text=True, check=True).stdout)
    poses = robot.forward_kinematics(q)
    expected = poses[-len(found):]
    # Poses in the page have nine decimals, summed over a few joints.
    assert np.allclose(np.array(found).reshape(-1, 4, 4), expected, atol=1e-8)
