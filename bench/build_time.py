#!/usr/bin/env python3
"""Compile time of a file that includes public headers: bench/build_time.py [--build FOLDER] [--compiler NAME]

Compiles tests/consumer/main.cpp several times and prints the best user time. The target is below 3 s.
"""

import argparse
import os
import resource
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tests/consumer/main.cpp"
ATTEMPTS = 5


def user_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    # A compiler cache would hide the time.
    subprocess.run(command, check=True, env={**os.environ, "CCACHE_DISABLE": "1"})
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder, for generated headers")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--eigen", default="/usr/include/eigen3", help="include folder of Eigen")
    options = parser.parse_args()
    command = [options.compiler, "-std=c++20", "-O3", "-DNDEBUG", f"-I{ROOT}", f"-I{options.build / 'generated'}",
               f"-I{options.eigen}", "-c", SOURCE, "-o", os.devnull]
    print(f"{SOURCE.name}: {min(user_time(command) for _ in range(ATTEMPTS)):.2f} s of user time")


if __name__ == "__main__":
    main()
