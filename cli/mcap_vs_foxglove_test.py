"""Topics for viewers against the schemas that Foxglove publishes (npm package @foxglove/schemas): the schemas in the
logs equal them, but for descriptions, and every message is valid."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("mcap.reader", reason="the Python package mcap is not installed")
fastjsonschema = pytest.importorskip("fastjsonschema", reason="the Python package fastjsonschema is not installed")
from mcap.reader import make_reader  # noqa: E402

CLI = os.environ["LIMB_CLI"]
PACKAGE = Path(__file__).resolve().parent.parent / ".node/node_modules/@foxglove/schemas"
FEET = "FL_foot,FR_foot,RL_foot,RR_foot"
TOPICS = {"/tf": "FrameTransforms", "/joint_states": "JointStates", "/scene": "SceneUpdate"}
SCENARIO = """
model = "builtin:quadruped"
duration = 0.4
[ground]
[contact]
[initial]
clearance = 0.02
"""
# A robot of whom not everything moves: fixed links, a prismatic joint, a joint that follows another, and a name that JSON
# must escape.
ROBOT = """<robot name="odd"><link name="base"/>
<link name="a &quot;b&quot;"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide \\" type="prismatic"><parent link="base"/><child link="a &quot;b&quot;"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="follows" type="revolute"><parent link="a &quot;b&quot;"/><child link="c"/><axis xyz="0 1 0"/>
<limit lower="-9" upper="9" effort="1" velocity="1"/><mimic joint="slide \\" multiplier="2"/></joint></robot>"""


def limb(*arguments):
    done = subprocess.run([CLI, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr  # 3: an estimate that calls itself overconfident


@pytest.fixture(scope="module")
def published():
    """The schemas of the package by name."""
    if shutil.which("node") is None or not PACKAGE.is_dir():
        pytest.skip("no node or no @foxglove/schemas in .node (./run test installs it if npm is available)")
    program = "process.stdout.write(JSON.stringify(require(process.argv[1])))"
    done = subprocess.run(["node", "-e", program, PACKAGE / "jsonschema.js"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """A log of each program that writes topics for viewers -> those topics."""
    folder = tmp_path_factory.mktemp("logs")
    (folder / "contact.toml").write_text(SCENARIO)
    (folder / "odd.urdf").write_text(ROBOT)
    limb("simulate", folder / "contact.toml", "-o", folder / "contact.mcap")
    limb("simulate", "builtin:arm7", "--initial", "q=random", "--duration", "0.3", "-o", folder / "arm.mcap")
    limb("simulate", folder / "odd.urdf", "--duration", "0.1", "-o", folder / "odd.mcap")
    limb("estimate", folder / "walk.mcap", "--model", "builtin:quadruped", "--feet", FEET, "--make-walk", "3", "-o",
         folder / "estimate.mcap")
    return {folder / "contact.mcap": set(TOPICS), folder / "arm.mcap": {"/tf", "/joint_states"},
            folder / "odd.mcap": {"/tf", "/joint_states"}, folder / "walk.mcap": {"/tf", "/joint_states"},
            folder / "estimate.mcap": {"/tf"}}


def without_annotations(schema):
    """Descriptions and comments do not constrain messages."""
    if isinstance(schema, list):
        return [without_annotations(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: without_annotations(value) for key, value in schema.items()
            if not (key in ("description", "$comment") and isinstance(value, str))}


def sorted_keywords(schema):
    """Equal schemas whose lists of required properties have different orders."""
    if isinstance(schema, list):
        return [sorted_keywords(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: sorted(value) if key == "required" and isinstance(value, list) else sorted_keywords(value)
            for key, value in schema.items()}


def test_schemas_are_those_of_foxglove(logs, published):
    for path, topics in logs.items():
        with path.open("rb") as file:
            summary = make_reader(file).get_summary()
        found = {channel.topic: summary.schemas[channel.schema_id] for channel in summary.channels.values()
                 if channel.topic in TOPICS}
        assert set(found) == topics, path.name
        for topic, schema in found.items():
            assert (schema.name, schema.encoding) == (f"foxglove.{TOPICS[topic]}", "jsonschema")
            expected = sorted_keywords(without_annotations(published[TOPICS[topic]]))
            assert sorted_keywords(json.loads(schema.data)) == expected, f"{path.name} {topic}"


def test_all_messages_are_valid(logs, published):
    validators = {topic: fastjsonschema.compile(published[name], use_default=False) for topic, name in TOPICS.items()}
    arrows = 0
    for path, topics in logs.items():
        counts = dict.fromkeys(topics, 0)
        with path.open("rb") as file:
            for _, channel, message in make_reader(file).iter_messages(topics=list(TOPICS)):
                content = json.loads(message.data)
                validators[channel.topic](content)
                counts[channel.topic] += 1
                if channel.topic == "/scene":
                    arrows += sum(len(entity["arrows"]) for entity in content["entities"])
                elif channel.topic == "/tf":
                    assert content["transforms"], path.name
        # 30 per second of the log, and the first.
        assert all(count >= 3 for count in counts.values()), (path.name, counts)
    assert arrows > 10


def test_the_validators_refuse_wrong_messages(published):
    validate = fastjsonschema.compile(published["FrameTransforms"])
    time = {"sec": 0, "nsec": 0}
    vector = {"x": 0, "y": 0, "z": 0}
    good = {"timestamp": time, "parent_frame_id": "world", "child_frame_id": "a", "translation": vector,
            "rotation": {**vector, "w": 1}}
    validate({"transforms": [good]})
    for wrong in ({**good, "translation": {**vector, "x": None}}, {**good, "timestamp": {"sec": 0, "nsec": 1_000_000_000}},
                  {key: value for key, value in good.items() if key != "rotation"}):
        with pytest.raises(fastjsonschema.JsonSchemaValueException):
            validate({"transforms": [wrong]})
