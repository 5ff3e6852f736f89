"""Every URDF file at hand in limb and in Pinocchio: total mass, centre of mass, mass matrix and bias forces.

Each file is compared with a fixed and with a free base.
"""

import numpy as np
import pytest

from agreement import STATES, Refused, Verdict, compare, evaluate, judge, listed, listed_but_absent
from robot_collections import robot_files

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed (pip package 'pin')")

FILES, ABSENT = robot_files(".urdf")
LISTED = listed("pinocchio")


def pinocchio_model(path, base):
    try:
        return pin.buildModelFromUrdf(str(path), *[pin.JointModelFreeFlyer()] * (base == "free"))
    except ValueError as error:
        raise Refused(str(error)) from None


def random_states(model, seed):
    """States as limb reads them, and Pinocchio's values there."""
    data, random = model.createData(), np.random.default_rng(seed)
    for _ in range(STATES):
        q = pin.integrate(model, pin.neutral(model), random.uniform(-2, 2, model.nv))
        v = random.uniform(-1, 1, model.nv)
        M = np.triu(pin.crba(model, data, q))
        yield ({"q": q.tolist(), "v": v.tolist()},
               {"M": M + np.triu(M, 1).T, "nle": pin.nonLinearEffects(model, data, q, v).copy(),
                "com": pin.centerOfMass(model, data, q).copy()})


def verdict_of(path, base, folder):
    try:
        model = pinocchio_model(path, base)
    except Refused as error:
        return Verdict("pinocchio", str(error))
    states, expected = zip(*random_states(model, seed=len(path.stem)))
    try:
        found = evaluate(path, "pinocchio", states, folder, "--base", base)
    except Refused as error:
        return Verdict("limb", str(error))
    return compare(*found, expected, pin.computeTotalMass(model), model.gravity.linear)


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("name, path", FILES, ids=[name for name, _ in FILES])
def test_file(name, path, base, tmp_path):
    judge("pinocchio", f"{name} ({base})", verdict_of(path, base, tmp_path),
          {f"{file} ({kind})": row for file, row in LISTED.items() for kind in ("fixed", "free")})


@pytest.mark.parametrize("why", ABSENT or [""])
def test_collection_is_there(why):
    if why:
        pytest.skip(why)


def test_listed_files_exist():
    assert not listed_but_absent("pinocchio", FILES)
