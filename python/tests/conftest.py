"""The package under test: the one of the build (LIMB_BUILD_DIR), or the installed one."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("LIMB_BUILD_DIR", ROOT / "build"))
if "LIMB_INSTALLED" not in os.environ:
    sys.path.insert(0, str(BUILD / "python"))

try:
    import limb
    import limb._limb  # the C++ sources are also in a folder named limb
except ImportError as error:
    limb, WHY = None, f"the Python package is not built (./run test builds it if PyPI is reachable): {error}"

sys.path.insert(1, str(ROOT / "tools"))
from shared_folder import shared_path, why_no_shared  # noqa: E402


class WithoutPackage(pytest.File):
    """Replaces a test file if there is no package: one skipped test with the reason."""

    def collect(self):
        yield SkippedItem.from_parent(self, name="package")


class SkippedItem(pytest.Item):
    def runtest(self):
        pytest.skip(WHY)


def pytest_pycollect_makemodule(module_path, parent):
    return None if limb is not None else WithoutPackage.from_parent(parent, path=module_path)


@pytest.fixture(scope="session")
def arm():
    return limb.load("builtin:arm7")


@pytest.fixture(scope="session")
def quadruped():
    return limb.load("builtin:quadruped", base="free")


@pytest.fixture(scope="session")
def shared():
    if why_no_shared():
        pytest.skip(why_no_shared())
    return shared_path()
