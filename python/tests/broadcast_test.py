"""NumPy broadcasting of leading dimensions, and the check of numbers that are not finite, for every method."""

import inspect

import numpy as np
import pytest

import limb
from limb._arguments import signature_of

FEET = ["FL_foot", "RR_foot"]
VECTORS = {"q": "nq", "q0": "nq", "q1": "nq", "q_start": "nq", "v": "nv", "a": "nv", "tau": "nv", "multipliers": "nv"}


def array_methods(robot):
    """Every method with `check`, with its arguments of the robot's sizes: (name, array arguments, other arguments)."""
    found = []
    for name in dir(limb._limb.Robot):
        method = getattr(limb._limb.Robot, name)
        if name.startswith("_") or not hasattr(method, "__nb_signature__"):
            continue
        parameters = signature_of(method.__nb_signature__[0][0]).parameters
        if "check" not in [p.name for p in parameters]:
            continue
        arrays = [p.name for p in parameters if p.name in VECTORS and p.required]
        others = {}
        for p in parameters:
            if not p.required or p.name == "self" or p.name in VECTORS:
                continue
            others[p.name] = {"frame": robot.frames[-1], "contacts": FEET, "point": np.array([0.1, 0.2, 0.3]),
                              "t": np.array(0.25), "frames": FEET, "theta": robot.log_cholesky_parameters(),
                              "M": robot.mass_matrix(robot.neutral()), "h": np.zeros(robot.nv),
                              "goals": {FEET[0]: np.array([0.2, 0.1, -0.25])}, "convention": "mixed"}[p.name]
        found.append((name, arrays, others))
    return found


def numbers(result):
    parts = result if isinstance(result, tuple) else (result,)
    return [np.asarray(x) for x in parts]


def values_of(robot, arrays, shapes):
    random = np.random.default_rng(4)
    values = {}
    for k, (name, shape) in enumerate(zip(arrays, shapes)):
        count = int(np.prod(shape))
        x = (robot.random_configuration(k + 1, count) if VECTORS[name] == "nq"
             else random.normal(size=(count, robot.nv)))
        values[name] = x.reshape(*shape, -1)
    return values


def test_there_are_many_methods(quadruped):
    assert len(array_methods(quadruped)) > 60


def test_every_method_broadcasts(quadruped):
    """Shapes (2, 1) and (1, 3), and () and (3,), give the results of the states one by one."""
    for name, arrays, others in array_methods(quadruped):
        if len(arrays) < 2:
            continue
        call = getattr(quadruped, name)
        for shapes in ([(2, 1), (1, 3), (3,), (2, 1)], [(), (3,), (), (3,)]):
            values = values_of(quadruped, arrays, shapes)
            lead = np.broadcast_shapes(*(x.shape[:-1] for x in values.values()))
            result = numbers(call(**values, **others))
            full = {k: np.broadcast_to(x, lead + x.shape[-1:]) for k, x in values.items()}
            for index in np.ndindex(*lead):
                one = numbers(call(**{k: x[index] for k, x in full.items()}, **others))
                assert len(one) == len(result)
                for all_states, state in zip(result, one):
                    assert all_states.shape == lead + state.shape, name
                    # Not bit for bit: the order of sums in matrix products depends on the alignment of the arrays.
                    # Second derivatives are sums over 18 x 18 terms: 18 * 18 eps relative to the largest entry.
                    bound = 324 * np.finfo(float).eps * np.abs(state).max(initial=1)
                    assert np.abs(all_states[index] - state).max(initial=0) <= bound, (name, index)


def test_other_arguments_broadcast(arm):
    q, frame = arm.random_configuration(1, 4), arm.frames[-1]
    wrench = np.random.default_rng(1).normal(size=(3, 1, 6))
    tau = arm.rnea(q, np.zeros(7), np.zeros(7), external={frame: wrench})
    assert tau.shape == (3, 4, 7)
    assert np.array_equal(tau[2, 1], arm.rnea(q[1], np.zeros(7), np.zeros(7), external={frame: wrench[2, 0]}))
    t = np.linspace(0, 1, 5)
    assert arm.interpolate(q[0], q[1], t).shape == (5, 7)
    assert arm.interpolate(q[:, None], q[:1], t).shape == (4, 5, 7)
    assert arm.gravity(np.zeros((0, 7))).shape == (0, 7)
    assert arm.bias(np.zeros((1, 7)), np.zeros((0, 7))).shape == (0, 7)


def test_float32_broadcasts(arm):
    q, v = arm.random_configuration(1, 4).astype("f4"), np.ones((3, 1, 7), dtype="f4")
    tau = arm.bias(q, v)
    assert tau.shape == (3, 4, 7) and tau.dtype == np.float32
    assert np.array_equal(tau[1, 2], arm.bias(q[2], v[1, 0]))


def test_dimensions_that_do_not_fit(arm):
    with pytest.raises(limb.Error, match=r"bias: v has shape \(3, 7\), expected \(7,\) or \(4, 7\) \(batch dimensions "
                                         r"broadcast with those of q\)"):
        arm.bias(np.zeros((4, 7)), np.zeros((3, 7)))


def test_single_states_are_checked_in_every_method(quadruped):
    """None and True refuse a number that is not finite, False does not."""
    for name, arrays, others in array_methods(quadruped):
        for argument in arrays:
            values = values_of(quadruped, arrays, [()] * len(arrays))
            values = {k: x.copy() for k, x in values.items()}
            values[argument][..., -1] = np.nan
            for check in (None, True):
                with pytest.raises(limb.Error, match=rf"{name}: {argument}\[\d+\] is nan, expected a finite number"):
                    getattr(quadruped, name)(**values, **others, check=check)


def test_batches_are_checked_on_request(arm):
    Q, V = arm.random_configuration(1, 6).reshape(2, 3, 7), np.zeros((3, 7))
    V[1, 4] = np.inf
    assert not np.isfinite(arm.bias(Q, V)).all()
    with pytest.raises(limb.Error, match=r"bias: v\[1, 4\] is inf, expected a finite number"):
        arm.bias(Q, V, check=True)
    with pytest.raises(limb.Error, match=r"bias: v\[4\] is inf"):
        arm.bias(Q[0, 0], V[1])
    assert not np.isfinite(arm.bias(Q[0, 0], V[1], check=False)).all()
    with pytest.raises(limb.Error, match=r"point\[0\] is nan"):
        arm.point_jacobian(Q[0, 0], arm.frames[-1], [np.nan, 0, 0])
    with pytest.raises(limb.Error, match=r"interpolate: t is nan"):
        arm.interpolate(Q[0, 0], Q[0, 1], np.nan)
    with pytest.raises(limb.Error, match="check is 'yes', expected True, False, or None"):
        arm.gravity(Q[0, 0], check="yes")


def test_quaternion_message_has_the_index_of_the_caller(quadruped):
    Q = quadruped.random_configuration(1, 6).reshape(2, 3, 19)
    Q[1, 2, 3:7] *= 2
    with pytest.raises(limb.Error, match=r"quaternion q\[1, 2, 3\] to q\[1, 2, 6\]"):
        quadruped.gravity(Q)


@pytest.mark.parametrize("function", ["rnea", "aba", "bias", "gravity", "crba", "rnea_derivatives", "aba_derivatives"])
def test_compiled_functions_broadcast_and_check(arm, function):
    call = getattr(arm.compile([function]), function)
    random = np.random.default_rng(1)
    arrays = [random.normal(size=shape + (7,)) for shape in ((2, 1), (1, 3), (3,))[:len(call.arguments)]]
    lead = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
    full = [np.broadcast_to(x, lead + (7,)) for x in arrays]
    for result, same in zip(numbers(call(*arrays)), numbers(call(*full))):
        assert result.shape == same.shape and result.shape[:len(lead)] == lead
        assert np.array_equal(result, same)
    bad = [x.copy() for x in arrays]
    bad[-1][(0,) * (bad[-1].ndim - 1) + (2,)] = np.nan
    call(*bad)
    index = ", ".join(["0"] * (bad[-1].ndim - 1) + ["2"])
    with pytest.raises(limb.Error, match=rf"{function}: {call.arguments[-1]}\[{index}\] is nan, expected a finite number"):
        call(*bad, check=True)
    one = [np.zeros(7) for _ in arrays]
    one[0][3] = np.inf
    with pytest.raises(limb.Error, match=rf"{function}: q\[3\] is inf, expected a finite number"):
        call(*one)
    call(*one, check=False)


def test_signatures_have_check(arm):
    assert "check: bool | None = None" in limb._limb.Robot.rnea.__nb_signature__[0][0]
    assert "check" in inspect.getdoc(limb._limb.Robot.rnea)
