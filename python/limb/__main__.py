"""python -m limb: the command line of limb."""

import os
import sys
from pathlib import Path


def program() -> Path:
    """The program installed with the package, or the one of the build tree."""
    here = Path(__file__).resolve().parent
    for path in (here / "bin/limb", here.parent.parent / "limb"):
        if path.is_file():
            return path
    sys.exit("limb: the command line is not installed with the package")


def main() -> None:
    path = str(program())
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
