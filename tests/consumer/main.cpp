#include <cstdio>

#include "limb/base/version.hpp"
#include "limb/math/inertia.hpp"
#include "limb/math/se3.hpp"

// A quarter of the unit circle, followed with one constant twist, ends at (1, 1) with a quarter
// turn to the left; a mass of 2 at distance 0.5 has the moment 0.5 and is moved to (0.5, 1).
int main() {
  const double quarter = 1.5707963267948966;
  const auto X = limb::se3::exp<double>({{quarter, 0, 0}, {0, 0, quarter}});
  const auto body = limb::Inertia<double>::point_mass(2.0, {0, 0.5, 0});
  const auto axes = limb::principal_axes<double>(body.tensor());
  const limb::Vector3<double> com = X * body.com();
  const auto q = limb::quaternion_from_matrix(X.R);
  const limb::Motion<double> V = limb::se3::log(X);
  std::printf("limb %s: at (%.3f, %.3f), moment %.3f, mass at (%.3f, %.3f), turned %.3f, w %.3f\n",
              limb::kVersion, X.p.x(), X.p.y(), axes.moments.z(), com.x(), com.y(),
              V.w.z() / quarter, q.w());
}
