"""The JSON of the command line has the names of the Python API, and the same values: `limb VERB --json` against the
object that Python returns for the same input."""

import json
import math
import os
import subprocess

import numpy as np
import pytest

import limb
from limb import sim
from limb.results import Energy, EnergyBalance, Finding, Joint, LeggedSummary, ProofRow, QpResiduals, RunSummary

CLI = os.environ.get("LIMB_CLI", "")
pytestmark = pytest.mark.skipif(not os.path.exists(CLI), reason="the command line is not built (LIMB_CLI)")
FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]
ROBOTS = ["builtin:arm7", "builtin:quadruped", "builtin:belt-leg"]


def run(*arguments, codes=(0,)):
    done = subprocess.run([CLI, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode in codes, done.stderr
    return json.loads(done.stdout)


def close(found, expected, scale=1.0):
    """Both come from the same code; a compiler may contract products in one of them."""
    found, expected = np.array(found, dtype=float), np.array(expected, dtype=float)
    assert found.shape == expected.shape
    assert np.all(np.abs(found - expected) <= 1e4 * np.finfo(float).eps * (scale + np.abs(expected)))


def has_fields(found, kind, values):
    """All fields of a named tuple, with its values."""
    assert set(kind._fields) <= set(found), set(kind._fields) - set(found)
    for name in kind._fields:
        value = getattr(values, name)
        if isinstance(value, (str, type(None))):
            assert found[name] == value, name
        elif isinstance(value, float) and math.isnan(value):
            assert found[name] is None, name  # JSON has no NaN
        elif not isinstance(value, tuple):
            close(found[name], value, scale=np.abs(value).max(initial=1.0) if np.size(value) else 1.0)


@pytest.mark.parametrize("name", ROBOTS)
def test_info(name):
    found, robot = run("info", name, "--json"), limb.load(name)
    for attribute in ("name", "path", "base", "nq", "nv", "mass", "motors", "loops"):
        assert found[attribute] == getattr(robot, attribute), attribute
    assert tuple(found["gravity_vector"]) == robot.gravity_vector
    assert [frame["name"] for frame in found["frames"]] == robot.frames
    assert [Joint(**{field: joint[field] for field in Joint._fields}) for joint in found["joints"]] == robot.joints
    for joint in robot.joints:
        stated = next(one for one in found["joints"] if one["name"] == joint.name)["limits"]
        if joint.nq != 1:
            continue
        for field in robot.limits._fields:
            index = joint.q_index if field in ("lower", "upper") else joint.v_index
            value = getattr(robot.limits, field)[index]
            assert stated[0][field] == (value if np.isfinite(value) else None), (joint.name, field)


@pytest.mark.parametrize("name", ROBOTS)
def test_eval(name, tmp_path):
    robot = limb.load(name)
    rng = np.random.default_rng(3)
    q = robot.random_configuration(5)
    v, a, tau = rng.normal(size=(3, robot.nv))
    frame, f = robot.frames[-1], rng.normal(size=6)
    given = {"states": [{"q": list(q), "v": list(v), "a": list(a), "tau": list(tau),
                         "external": {"frame": frame, "f_local": list(f)}}], "frames": [frame]}
    (tmp_path / "states.json").write_text(json.dumps(given))
    arguments = {"inverse_dynamics": (q, v, a), "forward_dynamics": (q, v, tau), "mass_matrix": (q,),
                 "mass_inverse": (q,), "bias": (q, v), "gravity": (q,), "coriolis_matrix": (q, v),
                 "kinetic_energy": (q, v), "potential_energy": (q,), "center_of_mass": (q,),
                 "center_of_mass_velocity": (q, v), "center_of_mass_acceleration": (q, v, a),
                 "centroidal_momentum": (q, v), "centroidal_momentum_rate": (q, v, a), "centroidal_matrix": (q,),
                 "integrate": (q, v), "difference": (robot.neutral(), q), "regressor": (q, v, a)}
    names = [*arguments, "dtau_dq", "dtau_dv", "da_dq", "da_dv", "external", "frame_pose", "frame_jacobian", "frame_velocity",
             "frame_acceleration", "frame_bias_acceleration"]
    state = run("eval", name, "--input", tmp_path / "states.json", "--only", ",".join(names))["states"][0]
    for key, values in arguments.items():
        expected = getattr(robot, key)(*values)
        close(state[key], expected, scale=np.abs(expected).max())
    derivatives = (robot.inverse_dynamics_derivatives(q, v, a), robot.forward_dynamics_derivatives(q, v, tau))
    for result, keys in zip(derivatives, (("dtau_dq", "dtau_dv"), ("da_dq", "da_dv")), strict=True):
        for key in keys:
            close(state[key], getattr(result, key), scale=np.abs(getattr(result, key)).max())

    of_frame = state["frames"][frame]
    close(of_frame["frame_pose"], robot.frame_pose(q, frame))
    for axes in ("local", "world", "local_world_aligned"):
        close(of_frame["frame_jacobian"][axes], robot.frame_jacobian(q, frame, axes))
        close(of_frame["frame_velocity"][axes], robot.frame_velocity(q, v, frame, axes), scale=10)
    for axes, kinds in of_frame["frame_acceleration"].items():
        for kind, value in kinds.items():
            close(value, robot.frame_acceleration(q, v, a, frame, axes, kind), scale=100)
    for axes, kinds in of_frame["frame_bias_acceleration"].items():
        for kind, value in kinds.items():
            close(value, robot.frame_bias_acceleration(q, v, frame, axes, kind), scale=100)

    assert set(state["external"]) == {"frame", "f_local", "inverse_dynamics", "forward_dynamics"}
    external = {frame: f}
    close(state["external"]["inverse_dynamics"], robot.inverse_dynamics(q, v, a, external=external), scale=100)
    expected = robot.forward_dynamics(q, v, tau, external=external)
    close(state["external"]["forward_dynamics"], expected, scale=np.abs(expected).max())
    # Every key is the name of a function, of a result, or of an argument.
    known = set(arguments) | {"dtau_dq", "dtau_dv", "da_dq", "da_dv", "external", "frames", "q", "v", "a", "tau"}
    assert set(state) == known
    assert set(of_frame) - {"frame_pose"} <= set(dir(robot))


def test_short_names(tmp_path):
    """Without --only, in every convention, and where --only has them."""
    (tmp_path / "states.json").write_text(json.dumps({"states": [{"q": [0.1, 0.2]}], "frames": ["tool"]}))
    call = ("eval", "builtin:2r", "--input", tmp_path / "states.json")
    for convention in ("limb", "pinocchio", "mujoco", "drake"):
        state = run(*call, "--convention", convention)["states"][0]
        assert {"tau_rnea", "nle", "M", "Minv", "ddq_aba"} <= set(state)
        assert {"R", "p", "J_local"} <= set(state["frames"]["tool"])
    state = run(*call, "--only", "nle,mass_matrix,J_lwa,frame_pose")["states"][0]
    assert set(state) == {"q", "v", "a", "tau", "nle", "mass_matrix", "frames"}
    assert set(state["frames"]["tool"]) == {"J_lwa", "frame_pose"}
    assert set(run(*call, "--only", "frames")["states"][0]["frames"]["tool"]) >= {"R", "p", "J_local"}


SCENARIO = """
model = "builtin:quadruped"
duration = 0.05
[ground]
[contact]
[initial]
clearance = 0.01
[controller]
type = "pd"
"""


@pytest.mark.parametrize("text", [SCENARIO, 'model = "builtin:2r"\nduration = 0.1\n[initial]\nq = [0.3, -0.7]\n'])
def test_simulate(text, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(text)
    found, summary = run("simulate", path, "--json"), sim.Scenario(str(path)).run()
    has_fields(found, RunSummary, summary)
    has_fields(found["balance"], EnergyBalance, summary.balance)
    assert set(found["balance"]) == set(EnergyBalance._fields)
    for at in ("start", "end"):
        assert set(found["energy"][at]) == set(Energy._fields)
        close(found["energy"][at]["total"], getattr(summary, f"energy_{at}"), scale=100)


def test_simulate_batches(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('model = "builtin:2r"\nduration = 0.1\n[controller]\ntype = "pd"\n[batch]\ninitial = 0.1\n')
    found, batch = run("simulate", path, "--batch", 4, "--json"), sim.Scenario(str(path)).run_batch(4)
    close(found["balance"]["change"]["mean"], np.mean(batch.balance.change))
    close(found["target_error"]["max"], np.max(batch.target_error))
    close([x["max"] for x in found["peak_torque"].values()], np.max(batch.peak_torque, axis=0))
    (tmp_path / "runs.csv").write_text("duration\n0.1\n0.2\n")
    rows = run("simulate", path, "--vary", tmp_path / "runs.csv", "--json")["each"]
    assert {"t", "failure", "q", "v", "balance", "target_error"} <= set(rows[0])


def test_check(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text('<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
                    'izz="9" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute"><parent '
                    'link="a"/><child link="b"/><axis xyz="0 0 1"/><limit effort="0" velocity="1"/></joint></robot>')
    found, findings = run("check", path, "--json", codes=(0, 1)), limb.check(path)
    assert found["path"] == str(path)
    assert [Finding(**one) for one in found["findings"]] == findings and len(findings) > 1


def test_prove():
    found, proof = run("prove", "builtin:quadruped", "-n", 3, "--seed", 4, "--json"), \
        limb.load("builtin:quadruped").prove(states=3, seed=4)
    assert found["holds"] == proof.holds
    by_statement = {row.statement: row for row in proof}
    shared = [row for row in found["rows"] if row["statement"] in by_statement]
    assert len(shared) == len(proof) > 5
    for row in shared:
        assert set(row) == set(ProofRow._fields)
        assert row["tolerance"] == by_statement[row["statement"]].tolerance


def test_derive():
    found, derivation = run("derive", "builtin:2r", "--json"), limb.load("builtin:2r").derive()
    for name in ("M", "C", "centrifugal", "coriolis", "V", "G", "tau"):
        assert np.array(found[name]).ravel().tolist() == getattr(derivation, name).text.ravel().tolist(), name
    for name in ("K", "P"):
        assert found[name] == str(getattr(derivation, name))
    assert (found["robot"], found["terms"], found["notes"]) == (derivation.robot, derivation.terms, derivation.notes)
    answer = run("derive", "builtin:rr", "--check", "M22 = m2 lc2^2 + I2", "--json")["answers"][0]
    expected = limb.load("builtin:rr").derive().check("M22 = m2 lc2^2 + I2")
    assert answer == {name: getattr(expected, name) for name in expected._fields if name != "text"}


def test_compile_and_bench():
    compiled = limb.load("builtin:arm7").compile(["rnea", "crba"])
    for found in (run("compile", "builtin:arm7", "--functions", "rnea,crba", "--json"),
                  run("bench", "builtin:arm7", "--functions", "rnea,crba", "-n", 8, "--time", 0.001, "--json")):
        assert found["why_not_compiled"] == compiled.why_not_compiled
        # limb compile has a row per kind of code.
        assert tuple(dict.fromkeys(one["function"] for one in found["functions"])) == compiled.functions
        for one in found["strategies"]:
            expected = getattr(compiled, one["function"]).strategy()
            assert (one["one_state"], one["batch"], one["reason"]) == expected


def test_list():
    found = run("list", "--json")["robots"]
    assert {robot["name"].removeprefix("builtin:") for robot in found} == set(limb.builtin_names())
    for one in found:
        robot = limb.load(one["name"])
        assert (one["nq"], one["nv"], one["mass"]) == (robot.nq, robot.nv, robot.mass)


def test_estimate(tmp_path):
    log = tmp_path / "walk.mcap"
    found = run("estimate", log, "--model", "builtin:quadruped", "--feet", ",".join(FEET), "--make-walk", 3, "--json",
                codes=(0, 3))
    estimator = limb.estimate.BaseEstimator(limb.load("builtin:quadruped"), FEET)
    assert set(found["verdict"]) == set(estimator.verdict())
    assert set(found["counts"]) == set(estimator.counts())
    assert found["filter"] == estimator.filter


def test_demo_of_the_quadruped():
    """The walk has the names of limb.results.LeggedSummary, the programs those of limb.results.QpResiduals; here by
    the sources, since the walk takes seconds: cli/demo_test.py runs it."""
    root = os.path.join(os.path.dirname(__file__), "..", "..", "cli")
    with open(os.path.join(root, "demo_quadruped.cpp")) as file:
        walk = file.read()
    for name in set(LeggedSummary._fields) - {"begin", "steps"}:  # from the start; steps are those of each part
        assert f'{{"{name}", ' in walk, name
    with open(os.path.join(root, "simulate.cpp")) as file:
        programs = file.read()
    for name in ("stationarity", "primal"):
        assert name in QpResiduals._fields and f'{{"{name}", p.residuals.{name}}}' in programs
