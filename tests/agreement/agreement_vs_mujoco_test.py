"""Every MJCF file at hand in limb and in MuJoCo: moving mass, its centre, mass matrix, bias forces and damping.

Where mesh files of the robot are not part of the collection, both libraries read it without the masses of
these meshes (limb: --missing-meshes ignore).
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from agreement import (ROOT, STATES, TOLERANCE, Refused, Verdict, compare, evaluate, judge, listed,
                       listed_but_absent)
from robot_collections import collections, robot_files

sys.path.insert(0, str(ROOT / "limb/model/convert"))
from convert_vs_pinocchio_test import elsewhere, mujoco_mass_matrix  # noqa: E402, F401

mujoco = pytest.importorskip("mujoco", reason="the package 'mujoco' is not installed")

FILES, ABSENT = robot_files(".xml")
LISTED = listed("mujoco")
FOLDERS = {name: folder for name, folder, _ in collections(".xml")}
# MuJoCo stops its search for the principal axes of a mesh at off-diagonal entries of about 1e-8.
MESH_TOLERANCE = 1e-7


def is_missing(spec, folder, file):
    return bool(file) and not (Path(spec.modelfiledir) / folder / file).is_file()


def compile_without_missing_files(path):
    """MuJoCo's model, in which shapes of missing meshes have no mass and missing textures are grey."""
    spec = mujoco.MjSpec.from_file(str(path))
    missing = {mesh.name: mesh for mesh in spec.meshes if is_missing(spec, spec.meshdir, mesh.file)}
    for geom in spec.geoms:
        if geom.meshname in missing:
            geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_SPHERE, ""
            geom.size, geom.mass = [0.01, 0, 0], 0
    for mesh in missing.values():
        spec.delete(mesh)
    for texture in spec.textures:
        if is_missing(spec, spec.texturedir, texture.file):
            texture.file, texture.builtin = "", mujoco.mjtBuiltin.mjBUILTIN_FLAT
            texture.type, texture.width, texture.height = mujoco.mjtTexture.mjTEXTURE_2D, 1, 1
    return spec.compile(), bool(missing)


def mujoco_model(path):
    """The model, and whether masses of meshes are left out."""
    try:
        return mujoco.MjModel.from_xml_path(str(path)), False
    except ValueError as error:
        if "opening file" not in str(error):
            raise Refused(str(error)) from None
    try:
        return compile_without_missing_files(path)
    except ValueError as error:
        raise Refused(str(error)) from None


def random_states(model, seed):
    """States as limb reads them, and MuJoCo's values there. The moving bodies only: limb does not count
    the mass of what is fixed to the world."""
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data, random = mujoco.MjData(model), np.random.default_rng(seed)
    mass = np.where(model.body_treeid >= 0, model.body_mass, 0)
    for _ in range(STATES):
        data.qpos[:], data.qvel[:] = random.uniform(-2, 2, model.nq), random.uniform(-1, 1, model.nv)
        mujoco.mj_normalizeQuat(model, data.qpos)
        mujoco.mj_forward(model, data)
        yield ({"q": data.qpos.tolist(), "v": data.qvel.tolist()},
               {"M": mujoco_mass_matrix(mujoco, model, data), "nle": data.qfrc_bias - data.qfrc_damper,
                "com": mass @ data.xipos / (mass.sum() or 1)})


def verdict_of(name, path, folder):
    try:
        model, without_meshes = mujoco_model(path)
    except Refused as error:
        return Verdict("mujoco", str(error))
    states, expected = zip(*random_states(model, seed=len(name)))
    # Some files of a package use meshes of another folder of it.
    root = next(str(f) for n, f in FOLDERS.items() if f and name.startswith(n + "/"))
    options = ["--root", root] + ["--missing-meshes", "ignore"] * without_meshes
    try:
        found = evaluate(path, "mujoco", states, folder, *options)
    except Refused as error:
        return Verdict("limb", str(error))
    mass = model.body_mass[model.body_treeid >= 0].sum()
    return compare(*found, expected, mass, model.opt.gravity, MESH_TOLERANCE if model.nmesh else TOLERANCE)


@pytest.mark.parametrize("name, path", FILES, ids=[name for name, _ in FILES])
def test_file(name, path, tmp_path):
    judge("mujoco", name, verdict_of(name, path, tmp_path), LISTED)


@pytest.mark.parametrize("why", ABSENT or [""])
def test_collection_is_there(why):
    if why:
        pytest.skip(why)


def test_listed_files_exist():
    assert not listed_but_absent("mujoco", FILES)
