#include "limb/estimate/filter/imu.hpp"

#include <algorithm>
#include <cmath>

#include "limb/base/check.hpp"
#include "limb/estimate/filter/imu_impl.hpp"

namespace limb {

void check_noise(const char* call, const ImuNoise& noise) {
  check_not_negative(call, "imu.gyro", noise.gyro);
  check_not_negative(call, "imu.accel", noise.accel);
  check_not_negative(call, "imu.gyro_walk", noise.gyro_walk);
  check_not_negative(call, "imu.accel_walk", noise.accel_walk);
}

int imu_substeps(const ImuSample& sample, double T) {
  constexpr double kMaxSubsteps = 10000;
  const double substeps = std::max(sample.gyro.norm() * T / kMaxRotation, T / kMaxStep);
  return substeps < kMaxSubsteps ? std::max(1, static_cast<int>(std::ceil(substeps)))
                                 : static_cast<int>(kMaxSubsteps);
}

void integrate_imu(const ImuSample& sample, double T, const ImuNoise& noise, ImuStep& step) {
  integrate_imu_impl<double>(sample, T, noise, step);
}

}  // namespace limb
