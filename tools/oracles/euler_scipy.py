#!/usr/bin/env python3
"""Writes limb/math/euler_scipy_data.hpp: Euler angles of all 24 sequences by SciPy.

    pip install scipy
    python3 tools/oracles/euler_scipy.py > limb/math/euler_scipy_data.hpp

For each sequence three orientations: given angles -> quaternion and matrix (Rotation.from_euler),
and that rotation -> angles (Rotation.as_euler). The given angles are drawn over three whole turns,
so as_euler has to find the equivalent angles in range.
"""
import itertools

import numpy as np
import scipy
from scipy.spatial.transform import Rotation

SEED = 20240611
PER_SEQUENCE = 3


def row(values):
    return "{" + ", ".join(repr(float(v)) for v in values) + "}"


def main():
    rng = np.random.default_rng(SEED)
    names = ["".join(s) for s in itertools.product("XYZ", repeat=3) if s[0] != s[1] and s[1] != s[2]]
    names += [s.lower() for s in names]
    print("#pragma once\n")
    print(f"// Made by tools/oracles/euler_scipy.py with SciPy {scipy.__version__}, "
          f"NumPy {np.__version__}, seed {SEED}:")
    print("//   python3 tools/oracles/euler_scipy.py > limb/math/euler_scipy_data.hpp")
    print("// clang-format off\n")
    print("namespace limb::euler_scipy {\n")
    print("struct Sample {")
    print("  const char* sequence;")
    print("  double given[3];   // rad")
    print("  double xyzw[4];    // Rotation.from_euler(sequence, given).as_quat()")
    print("  double matrix[9];  // .as_matrix(), by rows")
    print("  double angles[3];  // .as_euler(sequence)")
    print("};\n")
    print("inline constexpr Sample kSamples[] = {")
    for name in names:
        for _ in range(PER_SEQUENCE):
            given = rng.uniform(-3 * np.pi, 3 * np.pi, 3)
            rotation = Rotation.from_euler(name, given)
            print(f'    {{"{name}", {row(given)}, {row(rotation.as_quat())},')
            print(f"     {row(rotation.as_matrix().ravel())},")
            print(f"     {row(rotation.as_euler(name))}}},")
    print("};\n")
    print("}  // namespace limb::euler_scipy")


if __name__ == "__main__":
    main()
