"""The package under test: that of the build (LIMB_BUILD_DIR), or the one that is installed."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("LIMB_BUILD_DIR", ROOT / "build"))
if "LIMB_INSTALLED" not in os.environ:
    sys.path.insert(0, str(BUILD / "python"))

limb = pytest.importorskip("limb", reason="the Python package is not built")

SHARED = Path(os.environ.get("LIMB_SHARED", ROOT.parent / "shared"))


@pytest.fixture(scope="session")
def arm():
    return limb.load("builtin:arm7")


@pytest.fixture(scope="session")
def quadruped():
    return limb.load("builtin:quadruped", base="free")


@pytest.fixture(scope="session")
def shared():
    if not SHARED.is_dir():
        pytest.skip(f"the reference files are not at {SHARED}")
    return SHARED
