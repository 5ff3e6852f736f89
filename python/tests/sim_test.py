"""limb.sim: motions compared with closed forms and with scenarios, Python functions in runs, errors, Ctrl-C."""

import copy
import gc
import math
import multiprocessing
import pickle
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import limb
from limb.sim import Scenario, Simulation, World, read_log

ROOT = Path(__file__).resolve().parents[2]
SLIDER = """
name = "slider"
gravity = [0, 0, 0]
[[link]]
name = "block"
mass = 2
inertia = [1, 1, 1]
[[joint]]
name = "rail"
type = "prismatic"
parent = "world"
child = "block"
axis = [1, 0, 0]
"""
SCENARIO = """
model = "builtin:2r"
duration = 0.5
integrator = "runge-kutta-4"
[initial]
q = {joint1 = "30 deg", joint2 = 0.5}
[controller]
type = "gravity"
target = {joint1 = 0.6}
[[sensor]]
name = "imu"
type = "accelerometer"
frame = "tool"
noise = 0.01
rate = "100 Hz"
[batch]
mass = 0.05
initial = "2 deg"
"""


@pytest.fixture
def slider(tmp_path):
    path = tmp_path / "slider.toml"
    path.write_text(SLIDER)
    return limb.load(str(path))


def test_damped_oscillator_closed_form(slider):
    world = World(slider)
    world.add_spring("rail", stiffness=50, rest=0.1, damping=3)
    simulation = Simulation(world, integrator="dormand-prince", step=0.1, tolerance=1e-11)
    simulation.set_state([0.4])
    motion = simulation.record(1.7, period=0.1)
    d, t = 3 / 4, motion["t"]
    w = math.sqrt(25 - d * d)
    expected = 0.1 + np.exp(-d * t) * 0.3 * (np.cos(w * t) + d / w * np.sin(w * t))
    np.testing.assert_allclose(t, np.linspace(0, 1.7, 18), atol=1e-12, equal_nan=False)
    np.testing.assert_allclose(motion["q"][:, 0], expected, atol=1e-9, equal_nan=False)
    # 1/2 k x^2 of the spring, 1/2 m v^2 of the block.
    np.testing.assert_allclose(motion["energy"][:, 2], 25 * (motion["q"][:, 0] - 0.1) ** 2, rtol=1e-12, atol=1e-12,
                               equal_nan=False)
    np.testing.assert_allclose(motion["energy"][:, 0], motion["v"][:, 0] ** 2, rtol=1e-12, atol=1e-12,
                               equal_nan=False)
    np.testing.assert_allclose(motion["momentum"][:, 0], 2 * motion["v"][:, 0], rtol=1e-12, atol=1e-12,
                               equal_nan=False)
    assert simulation.energy() == pytest.approx(tuple(motion["energy"][-1]))


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "explicit-euler", "runge-kutta-4", "implicit-midpoint",
                                        "dormand-prince", "cvode"])
def test_python_force_equals_spring(slider, integrator):
    if integrator == "cvode" and not limb.sim.has_cvode():
        with pytest.raises(limb.Error, match="built without SUNDIALS"):
            Simulation(World(slider), integrator="cvode")
        return
    ends = []
    for python in (False, True):
        world = World(slider)
        if python:
            world.add_force(lambda t, q, v: 50 * (0.1 - q) - 3 * v)
        else:
            world.add_spring("rail", stiffness=50, rest=0.1, damping=3)
        # The semi-implicit method takes the spring at the end of a step and a function at its start: they differ by
        # the error of the method, which is of first order.
        semi_implicit = integrator == "semi-implicit-euler"
        simulation = Simulation(world, integrator=integrator, step=1e-5 if semi_implicit else 1e-2)
        simulation.set_state([0.4])
        assert simulation.run(0.5) is None
        ends.append((simulation.t, simulation.q[0], simulation.v[0]))
    # CVODE decides on orders and steps by numbers that differ in their last bits: 100 times its tolerance, 1e-9.
    atol = {"semi-implicit-euler": 5e-5, "cvode": 1e-7}.get(integrator, 0)
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12, atol=atol, equal_nan=False)


def test_wrenches_and_pushes(slider):
    world = World(slider)
    world.add_push("block", begin=0.1, end=0.35, force=[4, 0, 0])
    world.add_wrench("block", lambda t, q, v: [1, 0, 0, 0, 0, 0] if t < 0.2 else None)
    simulation = Simulation(world, integrator="semi-implicit-euler", step=1e-3)
    simulation.run(0.5)
    assert simulation.v[0] == pytest.approx((4 * 0.25 + 1 * 0.2) / 2, abs=1e-3)


def test_controller_and_events(slider):
    calls = []

    def controller(t, q, v):
        calls.append((t, q.copy(), v.copy()))
        return [2.0]

    simulation = Simulation(World(slider), integrator="runge-kutta-4", step=1e-2, control_period=0.1)
    simulation.set_controller(controller)
    simulation.set_events([(lambda t, q, v: q[0] - 0.32, "rising")])
    motion = simulation.record(2.0, period=0.1)  # x = t^2 / 2
    assert motion["event"] == 0
    assert simulation.t == pytest.approx(0.8, abs=1e-12)
    assert [round(t, 12) for t, _, _ in calls] == [round(0.1 * k, 12) for k in range(len(calls))]
    np.testing.assert_allclose(motion["command"][:, 0], 2, equal_nan=False)
    simulation.set_controller(None)
    simulation.set_events([])
    speed = simulation.v[0]
    simulation.run(3.0)
    # The current control period ends first: its torque is applied for up to 0.1 s.
    assert simulation.v[0] == pytest.approx(speed, abs=0.11)


def test_agrees_with_scenario(tmp_path):
    """The world of a scenario, built in Python, gives the same bits."""
    scenario = Scenario.parse('model = "builtin:2r"\nduration = 0.2\n[initial]\nq = [0.3, 0.4]\n'
                              '[[push]]\nframe = "tool"\nbegin = 0.05\nend = 0.1\nforce = [0, 20, 0]\n')
    end = scenario.run()
    assert end.failure is None and end.steps == 200
    world = World(limb.load("builtin:2r"))
    world.add_push("tool", begin=0.05, end=0.1, force=[0, 20, 0])
    simulation = Simulation(world)
    simulation.set_state([0.3, 0.4])
    simulation.run(0.2)
    assert np.array_equal(end.q, simulation.q)
    assert np.array_equal(end.v, simulation.v)


def test_compiled_worlds_agree(quadruped):
    ends = []
    for compiled in (False, True):
        world = World(quadruped, compiled=compiled)
        world.add_disturbance(quadruped.frames[-1], force_deviation=2, seed=4)
        simulation = Simulation(world)
        simulation.run(0.2)
        ends.append(simulation.q)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-10, equal_nan=False)


def test_momentum_of_free_flight():
    """A satellite with a moving arm in free flight: momentum is conserved."""
    robot = limb.load(str(ROOT / "docs/scenarios/satellite.toml"), base="free")
    simulation = Simulation(World(robot), integrator="dormand-prince", tolerance=1e-14)
    simulation.set_state(robot.neutral(), [0.5, -0.2, 0.1, 0.3, 0.2, -0.4, 0, 0, 0])
    simulation.set_controller(lambda t, q, v: np.r_[np.zeros(6), 3 * np.sin(5 * t + np.arange(3))])
    momentum = simulation.record(1.0, period=0.05)["momentum"]
    assert np.abs(momentum[0]).max() > 10
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (21, 1)), atol=1e-12 * np.abs(momentum[0]).max(),
                               equal_nan=False)


def test_sensors(slider):
    simulation = Simulation(World(slider), step=1e-3)
    simulation.add_sensor("encoder", "position", bias=0.5)
    simulation.add_sensor("imu", "accelerometer", frame="block", noise=0.1, rate=100, seed=3)
    assert np.isnan(simulation.reading("encoder")).all()
    assert simulation.channels("imu") == ["fx", "fy", "fz"]
    simulation.set_controller(lambda t, q, v: [4])
    motion = simulation.record(1.0, period=0.1)
    imu = motion["sensors"]["imu"]
    assert imu["values"].shape == (101, 3)
    np.testing.assert_allclose(imu["t"], np.linspace(0, 1, 101), atol=1e-9, equal_nan=False)
    assert imu["values"][:, 0].mean() == pytest.approx(2, abs=4 * 0.1 / 10)  # four standard deviations of the mean
    assert imu["values"].std(axis=0) == pytest.approx(0.1, abs=0.04)
    assert simulation.reading("encoder")[0] == pytest.approx(simulation.q[0] + 0.5, abs=1e-12)


def test_actuators_limit_and_lag(slider):
    world = World(slider)
    world.set_actuator("rail", torque_limit=3, time_constant=0.1)
    simulation = Simulation(world, integrator="dormand-prince", step=0.01, tolerance=1e-11)
    simulation.set_controller(lambda t, q, v: [10])
    motion = simulation.record(0.5, period=0.01)
    expected = np.minimum(10 * (1 - np.exp(-motion["t"] / 0.1)), 3)
    np.testing.assert_allclose(motion["motor"][:, 0], expected, atol=1e-8, equal_nan=False)
    with pytest.raises(limb.Error, match="set actuators before"):
        world.set_actuator("rail")


def test_logs_are_read_as_arrays(tmp_path):
    scenario = Scenario.parse(SCENARIO)
    for ending in ("csv", "mcap"):
        path = str(tmp_path / f"run.{ending}")
        end = scenario.run(path)
        log = read_log(path)
        assert set(log.topics) == {"state", "torque", "energy", "momentum", "imu", "target"}
        state = log.topics["state"]
        assert state["t"].shape == (51,) and state["t"][10] == 0.1
        assert state["q.joint1"][-1] == end.q[0]
        assert log.metadata.get("integrator") == ("runge-kutta-4" if ending == "mcap" else None)
    # A truncated log is read up to its last complete chunk.
    long = Scenario.parse(SCENARIO.replace("duration = 0.5", "duration = 5"))
    long.run(str(tmp_path / "long.mcap"))
    rows = len(read_log(str(tmp_path / "long.mcap")).topics["state"]["t"])
    whole = (tmp_path / "long.mcap").read_bytes()
    (tmp_path / "cut.mcap").write_bytes(whole[: len(whole) // 2])
    cut = read_log(str(tmp_path / "cut.mcap"))
    assert 10 < len(cut.topics["state"]["t"]) < rows
    with pytest.raises(limb.Error, match="no_such.csv"):
        read_log(str(tmp_path / "no_such.csv"))


def test_batches(tmp_path):
    scenario = Scenario.parse(SCENARIO)
    scenario.duration = 0.2
    one, two = scenario.run_batch(6, threads=1), scenario.run_batch(6, threads=2)
    assert one.q.shape == (6, 2) and one.failure == [None] * 6
    assert np.array_equal(one.q, two.q)
    assert len(np.unique(one.q[:, 0])) == 6
    scenario.seed = 5
    assert (scenario.run_batch(6).q != one.q).all()


def test_batches_of_given_values(tmp_path):
    scenario = Scenario.parse(SCENARIO)
    scenario.duration = 0.2
    rows = [{"initial.q.joint1": 0.1, "seed": 3}, {"initial.q.joint1": "30 deg", "seed": 4}]
    logs = [str(tmp_path / f"{k}.csv") for k in range(2)]
    runs = scenario.run_batch(vary=rows, logs=logs)
    assert runs.q.shape == (2, 2) and runs.failure == [None, None]
    for k, angle in enumerate((0.1, math.pi / 6)):
        log = limb.sim.read_log(logs[k])
        assert log.topics["state"]["t"][-1] == pytest.approx(0.2)
        assert log.topics["state"]["q.joint1"][0] == pytest.approx(angle, abs=0.2)  # within the spread
    path = tmp_path / "rows.csv"
    path.write_text("initial.q.joint1,seed\n0.1,3\n30 deg,4\n")
    assert np.array_equal(scenario.run_batch(vary=str(path)).q, runs.q)
    assert runs.balance.closure.shape == (2,)
    for arguments, message in (({"vary": rows, "runs": 3}, "runs is 3, expected 2"), ({}, "runs is missing"),
                               ({"vary": []}, "vary is empty"), ({"vary": [1]}, "expected dicts"),
                               ({"vary": [{"step": None}]}, "'step' of vary is None"),
                               ({"vary": rows, "logs": ["a.csv"]}, "logs is 1 paths, expected 2"),
                               ({"vary": [{"stepp": 1}]}, "run 1: 'stepp': scenario: unknown key")):
        with pytest.raises(limb.Error, match=message):
            scenario.run_batch(**arguments)


def test_energy_ledger(slider):
    """A motor accelerates a block against a damper; each entry by hand."""
    world = World(slider)
    world.add_spring("rail", stiffness=0, damping=3)
    simulation = Simulation(world)
    simulation.set_controller(lambda t, q, v: [5])
    motion = simulation.record(1.0, period=0.1)
    balance = simulation.balance()
    assert balance.change == pytest.approx(simulation.energy().total)
    assert balance.motors == pytest.approx(5 * simulation.q[0], rel=1e-3)
    assert balance.springs < -0.1
    assert balance.closure == pytest.approx(0, abs=1e-12)
    assert balance.motors + balance.springs + balance.closure == pytest.approx(balance.change, abs=1e-12)
    assert motion["work"]["motors"][-1] == pytest.approx(balance.motors)
    assert set(motion["work"]) == set(balance._fields) - {"change", "exchanged"}
    assert len(motion["work"]["closure"]) == len(motion["t"])


def test_scenario_errors_name_the_line(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text('model = "builtin:2r"\nstep = -1\n')
    with pytest.raises(limb.Error, match=r"bad.toml:2: .*step is -1"):
        Scenario(str(path))
    with pytest.raises(limb.Error, match="no_such.toml"):
        Scenario(str(tmp_path / "no_such.toml"))
    scenario = Scenario.of_model("builtin:2r")
    with pytest.raises(limb.Error, match=r"q has shape \(3,\), expected \(2,\)"):
        scenario.q = [1, 2, 3]
    with pytest.raises(limb.Error, match="one of explicit-euler"):
        scenario.integrator = "rk4"
    scenario.set_controller("gravity")
    scenario.duration = 0.1
    assert scenario.run().target_error < 1e-12


def test_exceptions_of_functions_propagate(slider):
    def broken(t, q, v):
        if t > 0.05:
            raise KeyError("no such gain")
        return [0.0]

    simulation = Simulation(World(slider))
    simulation.set_controller(broken)
    with pytest.raises(KeyError, match="no such gain"):
        simulation.run(1.0)
    assert 0.05 < simulation.t < 0.06
    simulation.set_controller(lambda t, q, v: [1, 2])
    with pytest.raises(limb.Error, match=r"result of the controller has shape \(2,\), expected \(1,\)"):
        simulation.run(1.0)
    simulation.set_controller(lambda t, q, v: [math.nan])
    with pytest.raises(limb.ComputationError, match="the torque on joint 'rail' is nan"):
        simulation.run(1.0)
    simulation.set_controller(lambda t, q, v: "fast")
    with pytest.raises(ValueError, match="result of the controller is 'fast', expected an array of numbers"):
        simulation.run(1.0)
    simulation.set_controller(lambda t, q, v: simulation.run(9.0))
    with pytest.raises(limb.Error, match="is in a run"):
        simulation.run(1.0)
    simulation.set_controller(None)
    simulation.run(1.0)  # still usable
    assert simulation.t == 1.0
    if limb.sim.has_cvode():
        stiff = Simulation(World(slider), integrator="cvode")
        stiff.set_controller(broken)
        with pytest.raises(KeyError):
            stiff.run(1.0)


def test_errors_name_the_argument(slider):
    world = World(slider)
    for call, text in [(lambda: World(slider, friction="sticky"), "friction is 'sticky', expected one of 'none', 'smooth'"),
                       (lambda: world.add_spring("rial", stiffness=1), "rial"),
                       (lambda: world.add_push("blok", begin=0, end=1), "blok"),
                       (lambda: world.add_push("block", begin=1, end=0), "end is 0"),
                       (lambda: world.add_push("block", begin=0, end=1, force=[1, 2]), r"force has shape \(2,\)"),
                       (lambda: Simulation(world, step=-1), "step is -1"),
                       (lambda: Simulation(world, integrator="euler"), "integrator is 'euler', expected one of"),
                       (lambda: Simulation(world).set_state([0, 1]), r"q has shape \(2,\), expected \(1,\)"),
                       (lambda: Simulation(world).set_state([math.nan]), "q"),
                       (lambda: Simulation(world).add_sensor("a", "sonar"), "type is 'sonar'"),
                       (lambda: Simulation(world).add_sensor("a", "gyroscope"), "frame is missing"),
                       (lambda: Simulation(world).reading("a"), "no sensor is named 'a'"),
                       (lambda: Simulation(world).record(1, period=0), "period is 0")]:
        with pytest.raises(limb.Error, match=text):
            call()


def test_runs_release_the_gil(slider):
    """Another thread runs between two calls of a controller with a long period."""

    class Stop(Exception):
        pass

    started, stop, ended = threading.Event(), threading.Event(), []

    def controller(t, q, v):
        started.set()
        if stop.is_set():
            raise Stop

    simulation = Simulation(World(slider), step=1e-6, control_period=0.1)
    simulation.set_controller(controller)

    def run():
        with pytest.raises(Stop):
            simulation.run(1e6)
        ended.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert started.wait(600)
        for _ in range(20):
            with pytest.raises(limb.Error, match="is in a run"):
                simulation.energy()
    finally:
        stop.set()
        thread.join(600)
    assert ended


INTERRUPTED = """
import sys, threading, os, signal
sys.path[:0] = {path!r}
import limb
signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent may ignore it
robot = limb.load("builtin:2r")
kind = sys.argv[1]
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    if kind == "simulation":
        limb.sim.Simulation(limb.sim.World(robot), control_period=1e6, step=1e-3).run(1e6)
    elif kind == "other thread":  # a world made in another thread, run in this one
        made = []
        thread = threading.Thread(target=lambda: made.append(limb.sim.Simulation(limb.sim.World(robot), step=1e-3)))
        thread.start()
        thread.join()
        made[0].run(1e6)
    else:
        s = limb.sim.Scenario.of_model("builtin:2r")
        s.duration = 1e6
        s.run() if kind == "scenario" else s.run_batch(8, threads=int(kind))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("kind", ["simulation", "other thread", "scenario", "0", "1", "16"])
def test_control_c_ends_a_run(kind):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED.format(path=sys.path), kind], capture_output=True, text=True,
                          timeout=1200)
    assert done.stdout == "interrupted\n", done.stderr


def test_cycles_are_collected(slider):
    class Controller:
        def __call__(self, t, q, v):
            return [-self.simulation.v[0]]

    controller = Controller()
    controller.simulation = Simulation(World(slider))
    controller.simulation.set_controller(controller)
    controller.simulation.run(0.01)
    gone = weakref.ref(controller)
    del controller
    gc.collect()
    assert gone() is None


def push_up(t, q, v):
    """A force that can be pickled."""
    return 0.1 * np.ones(len(v))


def hold(t, q, v):
    """Torques of motors of the quadruped, a controller that can be pickled."""
    return 20 * (STAND - q[7:]) - v[6:]


STAND = np.tile([0.0, 0.8, -1.6], 4)


def test_controllers_return_motor_torques(quadruped):
    """With a floating base: 12 motor torques are the 18 generalised forces with zeros on the base, to the last bit."""
    assert (quadruped.nv, quadruped.motors) == (18, 12)
    S = quadruped.selection_matrix()
    motions = []
    for controller in (hold, lambda t, q, v: S.T @ hold(t, q, v), lambda t, q, v: np.r_[np.zeros(6), hold(t, q, v)]):
        simulation = limb.sim.Simulation(limb.sim.World(quadruped))
        simulation.set_controller(controller)
        motions.append(simulation.record(0.1))
        assert np.array_equal(motions[-1]["command"][:, :6], np.zeros_like(motions[-1]["command"][:, :6]))
    assert np.abs(motions[0]["command"]).max() > 1
    for other in motions[1:]:
        assert np.array_equal(motions[0]["q"], other["q"]) and np.array_equal(motions[0]["command"], other["command"])


def test_wrong_number_of_torques(quadruped, arm):
    for robot, expected in ((quadruped, r"\(18,\), generalised forces, or \(12,\), torques of the motors"), (arm, r"\(7,\)$")):
        simulation = limb.sim.Simulation(limb.sim.World(robot))
        simulation.set_controller(lambda t, q, v: np.zeros(5))
        with pytest.raises(limb.Error, match=r"result of the controller has shape \(5,\), expected " + expected):
            simulation.run(0.01)


def worlds(quadruped):
    world = limb.sim.World(quadruped, friction="none", stops="hard", restitution=0.2)
    world.add_spring("FL_knee" if any(j.name == "FL_knee" for j in quadruped.joints) else quadruped.joints[1].name,
                     stiffness=3.0)
    world.add_push(quadruped.frames[0], begin=0.01, end=0.02, force=[1, 2, 3])
    world.add_disturbance(quadruped.frames[0], force_deviation=0.5, seed=3)
    world.add_force(push_up)
    world.set_actuator(quadruped.joints[2].name, torque_limit=5.0)
    world.set_contact(limb.sim.Ground.plane(friction=0.6), feet=["FL_foot", "FR_foot", "RL_foot", "RR_foot"], radius=0.02)
    return world


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy], ids=["pickle", "deepcopy"])
def test_copies_of_worlds_and_simulations(quadruped, copied):
    """The same calls, so the same motion to the last bit."""
    world = worlds(quadruped)
    motions = []
    for one in (world, copied(world)):
        simulation = limb.sim.Simulation(one, step=5e-4, control_period=1e-3)
        simulation.add_sensor("gyro", "gyroscope", frame=quadruped.frames[0], noise=0.1, seed=5)
        simulation.set_controller(hold)
        simulation = copied(simulation)
        q = quadruped.neutral()
        q[2] = 0.4
        simulation.set_state(q)
        motions.append(simulation.record(0.05))
    for name in ("t", "q", "v", "command"):
        assert np.array_equal(motions[0][name], motions[1][name]), name
    assert np.array_equal(motions[0]["sensors"]["gyro"]["values"], motions[1]["sensors"]["gyro"]["values"])


def test_a_copy_continues(arm):
    """Without motors that remember, contact and random numbers the state is all that there is."""
    simulation = limb.sim.Simulation(limb.sim.World(arm), integrator="runge-kutta-4")
    simulation.set_state(0.3 * np.ones(7), 0.1 * np.ones(7))
    simulation.run(0.1)
    again = pickle.loads(pickle.dumps(simulation))
    assert again.t == simulation.t
    simulation.run(0.2)
    again.run(0.2)
    assert np.array_equal(simulation.q, again.q) and np.array_equal(simulation.v, again.v)
    assert repr(again).startswith("Simulation('arm7', integrator='runge-kutta-4', step=0.001: t=0.2 s")


def energy_after(simulation):
    simulation.run(0.05)
    return simulation.energy().total


def test_simulations_in_other_processes(arm):
    simulations = []
    for k in range(2):
        simulations.append(limb.sim.Simulation(limb.sim.World(arm)))
        simulations[-1].set_state(0.1 * k * np.ones(7))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(energy_after, simulations)
    assert found == [energy_after(x) for x in simulations]


def test_functions_that_cannot_be_pickled(arm):
    world = limb.sim.World(arm)
    world.add_force(lambda t, q, v: None)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(world)
    simulation = limb.sim.Simulation(limb.sim.World(arm))
    controller = limb.control.JointPd(arm, 10.0, 1.0)
    simulation.set_controller(controller.controller(np.zeros(7)))
    with pytest.raises(TypeError, match="NativeController"):
        pickle.dumps(simulation)


def test_reprs(quadruped):
    text = repr(worlds(quadruped))
    assert text.startswith("World('quadruped', friction='none', stops='hard', add_spring(") and "add_force(push_up)" in text
