// Noise of legs and random walk of contacts from the distances of feet, against the densities that
// the distances were made with.
#include "limb/estimate/estimator/foot_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limb/math/noise_generator.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;

struct Standing {
  double sigma, walk;  ///< m, m/sqrt(s)
  double slip = 0;     ///< m/s, of the first foot, from 5 s to 5.5 s
  bool walks = true;   ///< whether feet have touched down lately
  double duration = 30, T = 0.005;
};

/// Four feet with white noise and a random walk, the base in between moving as it likes.
FootNoise measured(const Standing& s, double assumed_sigma, double assumed_walk,
                   std::uint64_t seed) {
  NoiseGenerator noise(seed);
  const auto vec = [&](double x) {
    return Vec(x * noise.normal(), x * noise.normal(), x * noise.normal());
  };
  FootNoise result(assumed_walk);
  std::array<Vec, 4> at = {Vec(0.3, 0.2, 0), Vec(0.3, -0.2, 0), Vec(-0.3, 0.2, 0),
                           Vec(-0.3, -0.2, 0)};
  std::array<FootNoise::Foot, 4> feet;
  for (int k = 0; k < s.duration / s.T; ++k) {
    const double t = k * s.T;
    const Vec base(0.1 * std::sin(t), 0.2 * t, 0.5);
    const Matrix3<double> R = so3::exp<double>(Vec(0.1 * std::sin(2 * t), 0, 0.2 * t));
    for (std::size_t i = 0; i < 4; ++i) {
      at[i] += vec(s.walk * std::sqrt(s.T));
      if (i == 0 && t > 5 && t < 5.5) at[i].x() += s.slip * s.T;
      feet[i] = {R.transpose() * (at[i] - base) + vec(s.sigma),
                 assumed_sigma * assumed_sigma * Matrix3<double>::Identity(), true, s.walks};
    }
    result.add(t, feet.data(), 4);
  }
  return result;
}

TEST(FootNoise, FindsNoiseAndRandomWalk) {
  for (const double sigma : {3e-4, 1e-3, 3e-3}) {
    for (const double walk : {7e-4, 2e-3, 6e-3}) {
      const FootNoise found = measured({sigma, walk}, 1e-3, 2e-3, 5);
      // About 2000 changes per second of memory, six distances of four feet: some percent. The walk
      // is the difference of two sums: it is not found below a fraction of the noise.
      EXPECT_NEAR(std::sqrt(found.scale()) * 1e-3 / sigma, 1, 0.1) << sigma << " " << walk;
      const double noise_walk = sigma / std::sqrt(0.1);  // of the noise over a lag
      EXPECT_NEAR(found.contact_noise() / walk, 1, 0.15 + 0.25 * noise_walk / walk)
          << sigma << " " << walk;
    }
  }
}

TEST(FootNoise, AFewSecondsAreEnough) {
  const FootNoise found = measured({3e-4, 2e-3, 0, true, 3}, 1e-3, 2e-3, 2);
  EXPECT_NEAR(std::sqrt(found.scale()) * 1e-3 / 3e-4, 1, 0.4);
  EXPECT_NEAR(found.contact_noise() / 2e-3, 1, 0.3);
}

TEST(FootNoise, ASlipDoesNotCount) {
  const FootNoise found = measured({4e-4, 2e-3, 0.3, true, 8}, 1e-3, 2e-3, 3);
  EXPECT_NEAR(std::sqrt(found.scale()) * 1e-3 / 4e-4, 1, 0.2);
  // The largest changes count as three deviations: not 7 cm.
  EXPECT_LT(found.contact_noise(), 4e-3);
}

TEST(FootNoise, ARobotAtRestShowsNoRandomWalk) {
  const FootNoise found = measured({4e-4, 0, 0, false}, 1e-3, 2e-3, 4);
  EXPECT_NEAR(std::sqrt(found.scale()) * 1e-3 / 4e-4, 1, 0.15);
  EXPECT_NEAR(found.contact_noise(), 2e-3, 1e-4);
}

TEST(FootNoise, StaysWithinItsBounds) {
  const FootNoise none = measured({0, 0}, 1e-3, 2e-3, 1);
  EXPECT_EQ(none.scale(), FootNoise::kLeastScale);
  EXPECT_EQ(none.contact_noise(), FootNoise::kLeastWalk);
  const FootNoise wild = measured({0.1, 0.5}, 1e-3, 2e-3, 1);
  EXPECT_LE(wild.scale(), FootNoise::kLargestScale);
  EXPECT_LE(wild.contact_noise(), FootNoise::kLargestWalk);
}

}  // namespace
}  // namespace limb
