#!/usr/bin/env python3
"""Installs a build, moves the result, and uses it from another project as a user would."""

import argparse
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

CONSUMER = Path(__file__).resolve().parent / "consumer"
EXPECTED = ("limb {version}: at (1.000, 1.000), moment 0.500, mass at (0.500, 1.000), "
            "turned 1.000, w 0.707\n")
INTERNAL = ("testing", "register_writer.hpp", "lower.hpp", "robot_cache.hpp", "qp_problem.hpp",
            "covariance_kernels.hpp", "page_writer.hpp", "read_mjcf_*.hpp", "*_test.cpp")


def call(*command) -> str:
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"failed: {shlex.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="the build folder to install")
    parser.add_argument("--scratch", type=Path, required=True, help="a folder to be overwritten")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--version", required=True)
    options = parser.parse_args()

    shutil.rmtree(options.scratch, ignore_errors=True)
    staged, prefix = options.scratch / "staged", options.scratch / "prefix"
    call("cmake", "--install", options.build, "--prefix", staged)
    staged.rename(prefix)  # an installed limb must not contain the path it was installed to
    for folder in (options.build, CONSUMER.parent.parent, staged):
        for file in prefix.rglob("*.cmake"):
            if f"{folder}/" in file.read_text():
                sys.exit(f"{file} names {folder}: the package cannot be moved")
    for name in INTERNAL:
        if found := list(prefix.rglob(name)):
            sys.exit(f"installed, though internal: {found[0]}")

    build = options.scratch / "build"
    call("cmake", "-S", CONSUMER, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
         f"-DCMAKE_CXX_COMPILER={options.compiler}", f"-DCMAKE_PREFIX_PATH={prefix}")
    call("cmake", "--build", build)
    expected = EXPECTED.format(version=options.version)
    for program in ("consumer", "consumer_of_all"):
        found = call(build / program)
        if found != expected:
            sys.exit(f"{program} printed\n{found}expected\n{expected}")
    for program in ("front_headers", "any_scalar"):
        call(build / program)
    if (options.build / "limb").exists():
        call(prefix / "bin/limb", "--help")


if __name__ == "__main__":
    main()
