"""Robot files of public collections, of the reference folder and of this repository, for the agreement tests.

The packages dm_control and example-robot-data hold 560 MB of files, so that `./run test` does not install them:

    pip install --no-deps --only-binary :all: --target .robots -r tools/requirements-robots.txt

They are searched in the folder LIMB_ROBOTS, in .robots, and in the environment of this Python.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from shared_folder import shared_path, why_no_shared  # noqa: E402

HOW = "pip install --no-deps --only-binary :all: --target .robots -r tools/requirements-robots.txt"
# By format: where each package has its robots, below the folder that it is installed to.
PACKAGES = {".xml": {"dm_control": "dm_control"},
          ".urdf": {"example-robot-data": "cmeel.prefix/share/example-robot-data/robots"}}


def package_folder(inside):
    """The folder with this path inside of an installed package, or None."""
    places = [os.environ.get("LIMB_ROBOTS"), ROOT / ".robots", *sys.path]
    for place in filter(None, places):
        if (folder := Path(place) / inside).is_dir():
            return folder.resolve()
    return None


def collections(suffix):
    """Name, folder (None if absent) and the reason for its absence, of each collection with such files."""
    for name, inside in PACKAGES[suffix].items():
        folder = package_folder(inside)
        yield name, folder, "" if folder else f"no robots of the package {name} (LIMB_ROBOTS, or {HOW})"
    for name in ("robots", "street"):
        folder = shared_path().resolve() / name
        why = why_no_shared() or ("" if folder.is_dir() else f"no folder {folder}")
        yield f"shared/{name}", None if why else folder, why
    yield "limb", ROOT, ""


def is_mjcf(path):
    """A file of MuJoCo, not another XML file."""
    return "<mujoco" in path.read_text(errors="replace")


def robot_files(suffix):
    """(id, path) of all files with the suffix, .urdf or .xml (MJCF), and why collections are absent. The id
    is the collection with the path inside, the same on every machine."""
    files, absent = [], []
    for name, folder, why in collections(suffix):
        if folder is None:
            absent.append(why)
            continue
        inside = folder / "limb/model/testing/mjcf" if name == "limb" else folder
        for path in sorted(inside.rglob("*" + suffix)):
            if suffix == ".urdf" or is_mjcf(path):
                files.append((f"{name}/{path.relative_to(folder).as_posix()}", path))
    return files, absent
