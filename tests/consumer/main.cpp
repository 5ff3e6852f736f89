#include <cstdio>

#include "limb/base/version.hpp"
#include "limb/math/inertia.hpp"
#include "limb/math/se3.hpp"

// 2 kg at (0, 0.5, 0), carried a quarter turn about z.
int main() {
  const limb::Motion<double> V{{0, 0, 0}, {0, 0, 1.5707963267948966}};
  const auto body = limb::Inertia<double>::point_mass(2.0, {0, 0.5, 0});
  const limb::Vector3<double> com = limb::se3::exp(V) * body.com();
  const auto axes = limb::principal_axes<double>(body.tensor());
  std::printf("limb %s: com (%.3f, %.3f, %.3f), largest moment %.3f\n", limb::kVersion, com.x(),
              com.y(), com.z(), axes.moments.z());
}
