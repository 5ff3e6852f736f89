"""Arguments of a wrong type: each function of the package names the argument and what it expects."""

import ast
import dataclasses
import inspect
import re

import numpy as np
import pytest

import limb
import limb.control
import limb.convert
import limb.estimate
import limb.legged
import limb.sim
from limb import _limb
from limb._arguments import accepts, signature_of

FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]


@pytest.fixture(scope="module")
def instances():
    """One object of each class of the extension that has methods with arguments."""
    arm, dog = limb.load("builtin:arm7"), limb.load("builtin:quadruped")
    world = limb.sim.World(arm)
    legged = limb.legged.load_quadruped("builtin:quadruped")
    gait = limb.control.Gait.trot()
    known = {
        "Robot": arm, "World": world, "Simulation": limb.sim.Simulation(world),
        "Scenario": limb.sim.Scenario.of_model("builtin:2r"), "Ground": limb.sim.Ground.plane(),
        "Quaternion": limb.Quaternion(), "SO3": limb.SO3(np.eye(3)), "SE3": limb.SE3(np.eye(3), np.zeros(3)),
        "Inertia": limb.Inertia.point_mass(1.0, [0, 0, 1]), "ContactSet": dog.contacts(FEET),
        "Converter": limb.convert.Converter(arm, "pinocchio"), "LeggedRobot": legged, "Gait": gait,
        "CompiledFunction": arm.compile(["gravity"]).gravity,
        "JointPd": limb.control.JointPd(arm, kp=1.0, kd=1.0), "BaseEstimator": limb.estimate.BaseEstimator(dog, FEET),
    }
    return known


def make(name, known):
    """An object of a class of the extension without its constructor, for methods whose arguments are refused."""
    return known.get(name) or getattr(_limb, name).__new__(getattr(_limb, name))


def bound_functions():
    """(class or None, name, function) of all public functions and methods of the extension."""
    for name, value in vars(_limb).items():
        if name.startswith("_"):
            continue
        if type(value).__name__ == "nb_func":
            yield None, name, value
        elif type(value).__name__ == "nb_type":
            for key, method in vars(value).items():
                public = not key.startswith("_") or key in ("__init__", "__call__")
                if public and type(method).__name__ in ("nb_func", "nb_method"):
                    yield name, key, method


def value_for(annotation, known):
    """A value of the type; any will do, since the call fails before it is used."""
    if isinstance(annotation, ast.BinOp):
        return value_for(annotation.left, known)
    name = ast.unparse(annotation).partition("[")[0].rpartition(".")[2]
    simple = {"ArrayLike": [0.0], "Array": np.zeros(1), "float": 1.0, "int": 1, "str": "x", "bool": True, "Sequence": [],
              "Mapping": {}, "dict": {}, "tuple": (), "list": [], "StateFunction": lambda t, q, v: None, "Feet": [],
              "Callable": lambda *_: None, "Contacts": "x", "Any": 1, "object": 1}
    if name in simple:
        return simple[name]
    if isinstance(getattr(_limb, name, None), type):
        return make(name, known)
    return "x"  # one of several texts


CASES = [(owner, name, function, p.name)
         for owner, name, function in bound_functions()
         for text, *_ in function.__nb_signature__
         for p in signature_of(text).parameters
         if p.name != "self" and p.annotation is not None and not accepts(p.annotation, None)]


def test_there_are_many_cases():
    assert len(CASES) > 400
    assert len({(owner, name) for owner, name, *_ in CASES}) > 180


@pytest.mark.parametrize("owner,name,function,argument", CASES, ids=[f"{o}.{n}-{a}" for o, n, _, a in CASES])
def test_none_is_refused_by_name(owner, name, function, argument, instances):
    for text, *_ in function.__nb_signature__:
        signature = signature_of(text)
        if argument not in [p.name for p in signature.parameters]:
            continue
        args, kwargs = [], {}
        for p in signature.parameters:
            if p.name == "self":
                args.append(make(owner, instances))
            elif p.name == argument or p.required:
                value = None if p.name == argument else value_for(p.annotation, instances)
                if p.positional and not kwargs and len(args) == signature.parameters.index(p):
                    args.append(value)
                else:
                    kwargs[p.name] = value
        with pytest.raises((TypeError, limb.Error)) as error:
            function(*args, **kwargs)
        message = str(error.value)
        assert "incompatible function arguments" not in message
        call = name if owner is None else owner if name == "__init__" else f"{owner}.{name}"
        assert message.startswith((f"{call}: ", f"{name}: ")), message
        if len(function.__nb_signature__) == 1:
            assert f"{argument} is None, expected " in message
        else:
            assert " is None, expected " in message


def test_messages():
    robot = limb.load("builtin:arm7")
    q = np.zeros(7)

    def message(call, *args, **kwargs):
        with pytest.raises(TypeError) as error:
            call(*args, **kwargs)
        return str(error.value)

    array = "an array of shape (7,) or (..., 7)"
    assert message(robot.rnea, None, q, q) == f"rnea: q is None, expected {array}"
    assert message(robot.rnea, q, None, q) == f"rnea: v is None, expected {array}"
    assert message(robot.rnea, q, q, a=None) == f"rnea: a is None, expected {array}"
    assert message(robot.rnea, q, q) == f"rnea: a is missing, expected {array}"
    assert message(robot.rnea) == f"rnea: q is missing, expected {array}"
    assert message(robot.rnea, q, q, q, q) == "rnea: takes 3 arguments by position, got 4"
    assert message(robot.rnea, q, q, q, foo=1) == "rnea: unknown argument 'foo', expected q, v, a, external, out, check"
    assert message(robot.rnea, q, q, q, q=q) == "rnea: q is given twice, by position and by name"
    assert message(robot.frame_pose, q, 3) == "frame_pose: frame is 3, expected a str"
    assert message(robot.frame_jacobian, q, "tool", None) == (
        "frame_jacobian: axes is None, expected one of 'local', 'local_world_aligned', 'world'")
    assert message(robot.prove, states=2.5) == "prove: states is 2.5, expected an int"
    assert message(robot.prove, states="many") == "prove: states is a str, expected an int"
    assert message(robot.prove, seed=-1) == "prove: seed is -1, expected an int that is >= 0"
    assert message(robot.prove, seed=2**64) == f"prove: seed is {2**64}, expected an int that is a smaller one"
    assert message(limb.set_threads, None) == "set_threads: threads is None, expected an int"
    assert message(limb.set_threads, 2**40) == f"set_threads: threads is {2**40}, expected an int that is a smaller one"
    assert message(limb.sim.World, None) == "World: robot is None, expected a Robot"
    scenario = limb.sim.Scenario.of_model("builtin:2r")
    with pytest.raises(limb.Error, match="^Scenario.run_batch: runs is missing, expected a number, or vary$"):
        scenario.run_batch(None)
    assert message(scenario.run_batch, "2") == "Scenario.run_batch: runs is a str, expected an int or None"
    assert "None" in message(setattr, scenario, "duration", None)
    assert message(limb.load, None) == "load: path is None, expected a str | PathLike"
    assert message(robot.compile, None) == "compile: functions is None, expected a str | Sequence[str]"
    assert message(limb.convert.to_pinocchio, None, q) == "to_pinocchio: robot is None, expected a Robot"
    assert message(limb.convert.to_pinocchio, robot, None) == "to_pinocchio: q is None, expected an array"
    assert "incompatible" not in message(setattr, scenario, "seed", 2**64)


def test_large_seeds_are_used_as_they_are():
    robot = limb.load("builtin:arm7")
    worst = {seed: tuple(row.worst for row in robot.prove(states=1, seed=seed)) for seed in (0, 2**32, 2**64 - 1)}
    assert len(set(worst.values())) == 3  # other states, other errors of rounding


def test_errors_inside_a_call_are_not_replaced():
    simulation = limb.sim.Simulation(limb.sim.World(limb.load("builtin:2r")))

    def wrong(t, q, v):
        raise TypeError("mine")
    simulation.set_controller(wrong)
    with pytest.raises(TypeError, match="^mine$"):
        simulation.run(0.1)


def test_operators_return_not_implemented():
    with pytest.raises(TypeError, match="unsupported operand|can't multiply"):
        limb.Quaternion() * "x"


def test_batch_sizes_and_seeds_have_ranges():
    scenario = limb.sim.Scenario.of_model("builtin:2r")
    scenario.duration = 0.01
    for runs in (0, -1):
        with pytest.raises((limb.Error, TypeError), match=f"runs is {runs}, expected"):
            scenario.run_batch(runs)
    scenario.seed = 2**64 - 1
    assert scenario.seed == 2**64 - 1
    assert scenario.run().failure in ("", None)
    for name, value in (("duration", np.nan), ("duration", np.inf), ("duration", -1.0), ("log_period", 0.0),
                        ("log_period", np.nan), ("duration", 1e300)):
        other = limb.sim.Scenario.of_model("builtin:2r")
        with pytest.raises(limb.Error, match=f"{name} is "):
            setattr(other, name, value)
            other.run()


def python_functions():
    """Public functions and methods written in Python."""
    for module in (limb, limb.convert, limb.estimate, limb.control, limb.legged, limb.sim, limb.convert):
        for name, value in vars(module).items():
            if name.startswith("_") or not re.match(r"limb(?!\._arguments)", getattr(value, "__module__", "")):
                continue
            if inspect.isfunction(value):
                yield name, value, None
            # Targets are read when they are used; derivations and their formulas are made by Robot.derive.
            elif inspect.isclass(value) and not (issubclass(value, (tuple, limb.Derivation, limb.Formula))
                                                 or dataclasses.is_dataclass(value)):
                for key, method in vars(value).items():
                    if inspect.isfunction(method) and (not key.startswith("_") or key == "__init__"):
                        yield f"{name}.{key}", method, value


PYTHON_CASES = sorted({(label, p.name) for label, f, _ in python_functions()
                       for p in list(inspect.signature(f).parameters.values())[(1 if "." in label else 0):]
                       if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.default is not None
                       and "None" not in str(p.annotation)})


@pytest.mark.parametrize("label,argument", PYTHON_CASES, ids=[f"{a}-{b}" for a, b in PYTHON_CASES])
def test_none_is_refused_by_name_in_python(label, argument, instances):
    function, owner = next((f, c) for name, f, c in python_functions() if name == label)
    valid = {"robot": instances["Robot"], "q": np.zeros(7), "functions": ["gravity"], "feet": FEET, "link": "link7",
             "mass": 1.0, "com": np.zeros(3), "tensor": np.eye(3), "held": {}, "path": "builtin:2r",
             "estimator": instances["BaseEstimator"]}
    kwargs = {}
    for p in list(inspect.signature(function).parameters.values())[(0 if owner is None else 1):]:
        if p.name == argument:
            kwargs[p.name] = None
        elif p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            if p.name not in valid:
                kwargs[p.name] = np.zeros(1)
            else:
                kwargs[p.name] = valid[p.name]
    if owner is not None and not label.endswith("__init__"):
        function = getattr(instances[owner.__name__], function.__name__)
    elif owner is not None:
        function = owner
    with pytest.raises((TypeError, limb.Error)) as error:
        function(**kwargs)
    assert argument in str(error.value) and "None" in str(error.value), str(error.value)


def spellings():
    """Every option with a fixed set of values: (label, the values, a call with one of them)."""
    from typing import get_args

    from limb import types

    arm, dog = limb.load("builtin:arm7"), limb.load("builtin:quadruped", base="free")
    q, v, frame = arm.neutral(), np.zeros(7), arm.frames[-1]
    integrators = [x for x in get_args(types.Integrator) if x != "cvode" or limb.sim.has_cvode()]

    def sensor(x):
        world = limb.sim.World(dog)
        world.set_contact(limb.sim.Ground.plane(), feet=FEET)
        on_frame = x in ("accelerometer", "gyroscope", "contact", "force")
        limb.sim.Simulation(world).add_sensor("s", x, frame=FEET[0] if on_frame else None)

    def shape(x):
        size = {"sphere": [0.1], "capsule": [0.1, 0.2], "cylinder": [0.1, 0.2], "box": [0.1] * 3,
                "ellipsoid": [0.1] * 3}.get(x, [0.1])
        limb.sim.ContactShape(dog, FEET[0], x, size)

    return {
        "base": (get_args(types.Base), lambda x: limb.load("builtin:quadruped", x)),
        "missing_meshes": (get_args(types.MissingMeshes), lambda x: limb.load("builtin:arm7", missing_meshes=x)),
        "unsupported": (get_args(types.Unsupported), lambda x: limb.load("builtin:arm7", unsupported=x)),
        "format": (("recipe",), lambda x: limb.loads(arm.to_recipe(), format=x)),
        "axes": (get_args(types.Axes), lambda x: arm.frame_jacobian(q, frame, x)),
        "kind": (get_args(types.AccelerationKind), lambda x: arm.frame_acceleration(q, v, v, frame, kind=x)),
        "convention": (get_args(types.BaseVelocityConvention),
                       lambda x: dog.base_velocity(dog.neutral(), np.zeros(18), x)),
        "strategy": (get_args(types.Strategy), lambda x: arm.compile("aba_derivatives", strategy=x)),
        "order": (get_args(types.Order), lambda x: arm.compile("crba", order=x)),
        "method": (get_args(types.DerivationMethod), lambda x: limb.load("builtin:2r").derive("M", method=x)),
        "parameters": (get_args(types.DerivationParameters), lambda x: limb.load("builtin:2r").derive("M", parameters=x)),
        "integrator": (integrators, lambda x: limb.sim.Simulation(limb.sim.World(arm), integrator=x)),
        "friction": (get_args(types.Friction), lambda x: limb.sim.World(arm, friction=x)),
        "stops": (get_args(types.Stops), lambda x: limb.sim.World(arm, stops=x)),
        "wrench axes": (get_args(types.WrenchAxes),
                        lambda x: limb.sim.World(arm).add_push(frame, begin=0, end=1, axes=x)),
        "direction": (get_args(types.Direction),
                      lambda x: limb.sim.Simulation(limb.sim.World(arm)).set_events([(lambda t, q, v: 1.0, x)])),
        "anti_windup": (get_args(types.AntiWindup),
                        lambda x: limb.control.JointPid(arm, 1.0, 1.0, 1.0, period=1e-3, anti_windup=x)),
        "filter": (get_args(types.Filter), lambda x: limb.estimate.BaseEstimator(dog, FEET, filter=x)),
        "odometry": (get_args(types.Odometry), lambda x: limb.estimate.BaseEstimator(dog, FEET, odometry=x)),
        "sensor": (get_args(types.SensorType), sensor),
        "shape": ([x for x in get_args(types.ShapeKind) if x != "mesh"], shape),
    }


@pytest.mark.parametrize("option", sorted(spellings()))
def test_options_have_one_spelling(option):
    """The values of limb.types work; other spellings of them do not, and the message lists all of them."""
    values, call = spellings()[option]
    for value in values:
        call(value)
        others = {value.upper() if value.islower() else value.lower(), value.title(), value + " ", value.replace("-", "_"),
                  value.replace("_", "-"), "x"}
        for other in sorted(others - set(values)):
            with pytest.raises(limb.Error) as error:
                call(other)
            assert f"'{other}'" in str(error.value)
            missing = [x for x in values if x not in str(error.value)]
            assert not missing, f"{error.value}: {missing}"
