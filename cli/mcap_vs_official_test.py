"""MCAP logs against the official Python library: it reads what limb writes, and limb reads what it
writes, in all its compressions and encodings."""

import json
import os
import struct
import subprocess
from pathlib import Path

import pytest

mcap_writer = pytest.importorskip("mcap.writer", reason="the Python package mcap is not installed")
from mcap.reader import NonSeekingReader, make_reader  # noqa: E402

CLI = os.environ["LIMB_CLI"]

SCENARIO = """
model = "builtin:quadruped"
duration = 0.5
log_period = 0.002
[ground]
[contact]
[initial]
clearance = 0.02
"""


def limb(*arguments, **options):
    return subprocess.run([CLI, *map(str, arguments)], capture_output=True, text=True, **options)


def simulate(folder: Path, name="run.mcap", text=SCENARIO) -> Path:
    (folder / "s.toml").write_text(text)
    done = limb("simulate", folder / "s.toml", "-o", folder / name)
    assert done.returncode == 0, done.stderr
    return folder / name


def check(value, schema, path="message"):
    """A message against the part of JSON Schema that the log uses."""
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool}
    kind = schema["type"]
    if kind == "number":
        assert isinstance(value, (int, float)) and not isinstance(value, bool), path
    elif kind == "integer":
        assert isinstance(value, int), path
    else:
        assert isinstance(value, kinds[kind]), path
    for name in schema.get("required", []):
        assert name in value, f"{path}.{name}"
    for name, inner in schema.get("properties", {}).items():
        if name in value:
            check(value[name], inner, f"{path}.{name}")
    if kind == "array":
        for i, element in enumerate(value):
            check(element, schema["items"], f"{path}[{i}]")
    if kind == "object" and "properties" in schema:
        assert set(value) <= set(schema["properties"]), path


def test_official_reader_reads_logs_of_limb(tmp_path):
    log = simulate(tmp_path)
    with open(log, "rb") as file:
        reader = make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        topics = {channel.topic for channel in summary.channels.values()}
        assert {"/state", "/energy", "/tf", "/joint_states", "/scene"} <= topics
        assert summary.statistics.chunk_count == len(summary.chunk_indexes) >= 2
        assert all(index.compression == "zstd" for index in summary.chunk_indexes)
        indexed, first = 0, {}
        for schema, channel, message in reader.iter_messages():
            assert schema.encoding == "jsonschema" and channel.message_encoding == "json"
            content = json.loads(message.data)
            check(content, json.loads(schema.data), channel.topic)
            if schema.name.startswith("limb."):
                assert message.log_time == round(content["t"] * 1e9)
            first.setdefault(channel.topic, content)
            indexed += 1
        assert indexed == summary.statistics.message_count
        assert [one.name for one in reader.iter_attachments()] == ["robot.urdf"]
        attachment = next(iter(reader.iter_attachments()))
        assert attachment.data.startswith(b"<?xml") and b"<robot" in attachment.data
        metadata = {one.name: one.metadata for one in reader.iter_metadata()}
        assert metadata["limb"]["model"] == "builtin:quadruped"
    with open(log, "rb") as file:  # without the index
        assert sum(1 for _ in NonSeekingReader(file, validate_crcs=True).iter_messages()) == indexed
    # The attached robot has the links of /tf and the joints of /joint_states.
    urdf = attachment.data.decode()
    for transform in first["/tf"]["transforms"]:
        assert f'<link name="{transform["child_frame_id"]}"' in urdf
    for joint in first["/joint_states"]["joints"]:
        assert f'<joint name="{joint["name"]}"' in urdf
    # The robot falls on four feet: their arrows point up and add up to about the weight, 0.5 m.
    with open(log, "rb") as file:
        last = [json.loads(m.data) for _, _, m in make_reader(file).iter_messages(["/scene"])][-1]
    arrows = last["entities"][0]["arrows"]
    assert len(arrows) >= 4
    for arrow in arrows:
        assert arrow["shaft_length"] > 0 and arrow["head_length"] > 0


def test_equal_runs_give_equal_bytes(tmp_path):
    assert simulate(tmp_path, "a.mcap").read_bytes() == simulate(tmp_path, "b.mcap").read_bytes()


def test_logs_are_a_third_of_the_uncompressed_size(tmp_path):
    log = simulate(tmp_path)
    with open(log, "rb") as file:
        size = sum(len(m.data) + 31 for _, c, m in make_reader(file).iter_messages()
                   if c.topic not in ("/tf", "/joint_states", "/scene"))
    assert log.stat().st_size < size / 3


def rows(path, *arguments):
    """Topics that limb plot draws, by the titles of its charts; its message if it fails."""
    done = limb("plot", path, "-o", path.with_suffix(".svg"), *arguments)
    return done, path.with_suffix(".svg").read_text() if done.returncode == 0 else ""


def write(path, write_messages, **options):
    with open(path, "wb") as file:
        writer = mcap_writer.Writer(file, **options)
        writer.start()
        write_messages(writer)
        writer.finish()
    return path


def json_messages(writer, n=200):
    schema = writer.register_schema("Imu", "jsonschema", b'{"type":"object"}')
    channel = writer.register_channel("/imu", "json", schema)
    for i in range(n):
        data = {"stamp": i, "accel": {"x": 0.1 * i, "y": None}, "joints": [1, 2, i], "ok": i > 5,
                "note": "text"}
        writer.add_message(channel, 1_700_000_000_000_000_000 + i * 5_000_000,
                           json.dumps(data).encode(), 0)


COMPRESSIONS = list(mcap_writer.CompressionType)


@pytest.mark.parametrize("compression", COMPRESSIONS, ids=lambda c: c.name)
@pytest.mark.parametrize("chunked", [True, False])
def test_limb_reads_logs_of_the_official_writer(tmp_path, compression, chunked):
    log = write(tmp_path / "imu.mcap", json_messages, compression=compression,
                use_chunking=chunked, chunk_size=2000)
    done, svg = rows(log)
    assert done.returncode == 0, done.stderr
    for title in ("imu", "imu accel", "imu joints"):
        assert f">{title}<" in svg, title
    assert "200 rows" in done.stdout + done.stderr


def test_large_chunks(tmp_path):
    log = write(tmp_path / "imu.mcap", lambda w: json_messages(w, 30_000), chunk_size=1 << 24)
    done, _ = rows(log)
    assert done.returncode == 0 and "30000 rows" in done.stdout + done.stderr


JOINT_STATE = """std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""


class Cdr:
    """The encoding of ROS 2: each number aligned to its size."""

    def __init__(self):
        self.bytes = b""

    def number(self, form, value):
        size = struct.calcsize(form)
        self.bytes += b"\0" * (-len(self.bytes) % size) + struct.pack("<" + form, value)

    def text(self, text):
        self.number("I", len(text) + 1)
        self.bytes += text.encode() + b"\0"

    def list(self, form, values):
        self.number("I", len(values))
        for value in values:
            self.number(form, value)


def joint_state(i):
    out = Cdr()
    out.number("i", i // 100)
    out.number("I", i)
    out.text("base")
    out.number("I", 2)
    out.text("elbow")
    out.text("knee")
    out.list("d", [0.1 * i, -0.2 * i])
    out.list("d", [])
    out.list("d", [5.0, i])
    return b"\0\1\0\0" + out.bytes


def ros2_messages(writer):
    schema = writer.register_schema("sensor_msgs/msg/JointState", "ros2msg", JOINT_STATE.encode())
    channel = writer.register_channel("/joint_states", "cdr", schema)
    for i in range(50):
        writer.add_message(channel, i * 10_000_000, joint_state(i), 0)


def test_limb_reads_messages_of_ros2(tmp_path):
    log = write(tmp_path / "bag.mcap", ros2_messages)
    done, svg = rows(log)
    assert done.returncode == 0, done.stderr
    for text in ("joint_states position", "joint_states effort", ">elbow<", ">knee<"):
        assert text in svg, text


def test_limb_reads_messages_of_ros1(tmp_path):
    definition = b"Header header\nfloat32[3] data\nuint8 OFF=0\nbool on\n" + b"=" * 80 + \
        b"\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"

    def messages(writer):
        schema = writer.register_schema("my_msgs/Sample", "ros1msg", definition)
        channel = writer.register_channel("/sample", "ros1", schema)
        for i in range(20):
            data = struct.pack("<IIII", i, 5, 6, 3) + b"map" + struct.pack("<fff?", i, 2, 3, True)
            writer.add_message(channel, i * 1_000_000, data, 0)

    done, svg = rows(write(tmp_path / "bag.mcap", messages))
    assert done.returncode == 0, done.stderr
    assert "sample data" in svg


def test_what_cannot_be_read_is_named(tmp_path):
    def protobuf(writer):
        schema = writer.register_schema("foo.Bar", "protobuf", b"\0")
        channel = writer.register_channel("/bar", "protobuf", schema)
        writer.add_message(channel, 0, b"\1", 0)

    log = write(tmp_path / "p.mcap", protobuf)
    done, _ = rows(log)
    assert done.returncode == 1
    assert done.stderr.strip() == (f"limb plot: {log} has no topic in JSON or of ROS messages, "
                                   "but 'bar' (protobuf)")

    def both(writer):
        json_messages(writer)
        protobuf(writer)

    done, svg = rows(write(tmp_path / "both.mcap", both))
    assert done.returncode == 0 and "imu" in svg
    assert "limb plot: topics that cannot be read: 'bar' (protobuf)" in done.stderr


def test_short_messages_are_errors(tmp_path):
    def short(writer):
        schema = writer.register_schema("sensor_msgs/msg/JointState", "ros2msg",
                                        JOINT_STATE.encode())
        channel = writer.register_channel("/joint_states", "cdr", schema)
        writer.add_message(channel, 0, joint_state(3)[:40], 0)

    log = write(tmp_path / "short.mcap", short)
    done, _ = rows(log)
    assert done.returncode == 1
    assert done.stderr.strip() == (f"limb plot: {log}: topic 'joint_states': message of type "
                                   "sensor_msgs/JointState does not fit its definition")


# Fields of Foxglove's schemas, from the field lists of its documentation (docs.foxglove.dev, "Schemas").
TIME = {"sec": int, "nsec": int}
VECTOR = {"x": float, "y": float, "z": float}
QUATERNION = {**VECTOR, "w": float}
COLOR = {"r": float, "g": float, "b": float, "a": float}
POSE = {"position": VECTOR, "orientation": QUATERNION}
ARROW = {"pose": POSE, "shaft_length": float, "shaft_diameter": float, "head_length": float, "head_diameter": float,
         "color": COLOR}
ENTITY = {"timestamp": TIME, "frame_id": str, "id": str, "lifetime": TIME, "frame_locked": bool,
          "metadata": [{"key": str, "value": str}], "arrows": [ARROW], "cubes": [dict], "spheres": [dict],
          "cylinders": [dict], "lines": [dict], "triangles": [dict], "texts": [dict], "models": [dict]}
FOXGLOVE = {
    "foxglove.FrameTransforms": {"transforms": [{"timestamp": TIME, "parent_frame_id": str, "child_frame_id": str,
                                                 "translation": VECTOR, "rotation": QUATERNION}]},
    "foxglove.JointStates": {"timestamp": TIME, "joints": [{"name": str, "position": float, "velocity": float,
                                                            "effort": float}]},
    "foxglove.SceneUpdate": {"deletions": [{"timestamp": TIME, "type": int, "id": str}], "entities": [ENTITY]},
}
# Numbers of joints may be left out.
OPTIONAL = {"position", "velocity", "effort"}


def check_fields(value, fields, path):
    """The message has the fields of the schema and no others, each of its type; null is of none."""
    if isinstance(fields, dict):
        assert isinstance(value, dict), path
        assert set(value) <= set(fields), f"{path}: {set(value) - set(fields)}"
        assert set(fields) - set(value) <= OPTIONAL, f"{path}: {set(fields) - set(value)}"
        for name, inner in value.items():
            check_fields(inner, fields[name], f"{path}.{name}")
    elif isinstance(fields, list):
        assert isinstance(value, list), path
        for i, inner in enumerate(value):
            check_fields(inner, fields[0], f"{path}[{i}]")
    elif fields is float:
        assert isinstance(value, (int, float)) and not isinstance(value, bool), f"{path}: {value!r}"
    else:
        assert isinstance(value, fields) and (fields is bool or not isinstance(value, bool)), f"{path}: {value!r}"


def test_viewer_messages_have_the_fields_of_foxglove(tmp_path):
    seen = {}
    with open(simulate(tmp_path), "rb") as file:
        for schema, channel, message in make_reader(file).iter_messages():
            text = message.data.decode()
            assert "null" not in text and "NaN" not in text and "Infinity" not in text, channel.topic
            if schema.name in FOXGLOVE:
                content = json.loads(text)
                check_fields(content, FOXGLOVE[schema.name], channel.topic)
                seen[schema.name] = content
    assert set(seen) == set(FOXGLOVE)
    for transform in seen["foxglove.FrameTransforms"]["transforms"]:
        q = transform["rotation"]
        assert abs(sum(q[k] ** 2 for k in "xyzw") - 1) < 1e-6  # the log has seven digits
    with pytest.raises(AssertionError):
        check_fields({"sec": None, "nsec": 1}, TIME, "null is not a number")


def test_units_of_all_numbers(tmp_path):
    """The description of each number in the schemas of limb is its unit."""
    known = {"s", "rad", "m", "1", "rad/s", "m/s", "N m", "N", "J", "N s", "N m s"}
    count = 0

    def units(schema):
        if schema["type"] == "number":
            yield schema["description"]
        for inner in schema.get("properties", {}).values():
            yield from units(inner)

    with open(simulate(tmp_path), "rb") as file:
        for schema in make_reader(file).get_summary().schemas.values():
            if schema.name.startswith("limb."):
                found = list(units(json.loads(schema.data)))
                assert set(found) <= known, schema.name
                count += len(found)
    assert count > 100


@pytest.mark.parametrize("compression", COMPRESSIONS, ids=lambda c: c.name)
def test_large_files_of_the_official_writer_keep_every_number(tmp_path, compression):
    """100,000 messages in many chunks, read by limb estimate's and plot's reader row by row."""
    n = 100_000
    log = write(tmp_path / "large.mcap", lambda w: json_messages(w, n), compression=compression, chunk_size=1 << 16)
    done = limb("plot", log, "-o", tmp_path / "large.svg", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["rows"] == n
    assert result["t_start"] == 0 and abs(result["t_end"] - 0.005 * (n - 1)) < 1e-9
