"""The folder of reference robots and recorded values: LIMB_SHARED, or `shared` beside the repository.

As limb/model/testing/shared.hpp. Another folder of that name is recognised by the missing marker file.
"""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKER = "golden/README.md"
FIRST_LINE = "# Reference values from Pinocchio"  # how the marker starts


def shared_path() -> Path:
    return Path(os.environ.get("LIMB_SHARED") or ROOT.parent / "shared")


def why_no_shared(folder: Path | None = None) -> str:
    """Empty if the folder is there and is ours, otherwise the reason for skipping."""
    folder = folder or shared_path()
    if not folder.is_dir():
        return f"no folder of reference robots {folder} (LIMB_SHARED names another)"
    try:
        with (folder / MARKER).open(encoding="utf-8", errors="replace") as file:
            ours = file.readline().startswith(FIRST_LINE)
    except OSError:
        ours = False
    return "" if ours else f"{folder} is not limb's folder of reference robots: no {MARKER} that starts with '{FIRST_LINE}'"
