// Functions for control loops do not allocate.
#include <gtest/gtest.h>

#include "limb/dynamics/testing/allocations.hpp"
#include "limb/estimate/contact/momentum_observer.hpp"
#include "limb/estimate/estimator/base_estimator.hpp"
#include "limb/estimate/testing/robots.hpp"
#include "limb/estimate/walk/synthetic_walk.hpp"

namespace limb {
namespace {

TEST(Allocation, NoneInTheControlLoop) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  int robots = 0;
  for (const char* name : {"builtin:quadruped", "builtin:humanoid"}) {
    for (const auto& walker : testing::walkers()) {
      if (walker.name != name) continue;
      ++robots;
      WalkOptions walking;
      walking.feet = walker.feet;
      walking.rate = 200;
      walking.duration = 3;
      walking.rest = 1.2;
      const SyntheticWalk walk(walker.load(), walking);
      for (const FilterKind kind : {FilterKind::error_state, FilterKind::invariant}) {
        for (const Odometry odometry : {Odometry::position, Odometry::velocity}) {
          EstimatorOptions options;
          options.filter = kind;
          options.odometry = odometry;
          options.ground_height = 0;
          BaseEstimator estimator(walk.model(), walker.feet, "", options);
          MomentumObserver observer(walk.model(), 100);
          const LegKinematics legs(walk.model(), walker.feet);
          FootForces foot_forces(legs);
          VectorX<double> q, v, tau = VectorX<double>::Zero(walk.model().nv());
          std::vector<double> forces(walker.feet.size());
          NoisyWalk noisy(walk, {}, 1);
          long count = 0;
          bool first = true;
          BaseEstimate e;
          while (noisy.next()) {
            q = noisy.q();
            v = noisy.v();
            const double t = noisy.instant().t;
            for (std::size_t i = 0; i < forces.size(); ++i) {
              forces[i] = noisy.instant().contact[i] ? 100 : 0;
            }
            const auto step = [&] {
              estimator.imu(t, noisy.imu());
              estimator.legs(t, q, v, forces);
              if (!estimator.ready()) return;
              estimator.position_fix(t, noisy.truth().p_WS, {0, 0, 0}, Matrix3<double>::Identity());
              estimator.yaw_fix(t, 0, 0.5);
              estimator.write_base(q, v);
              e = estimator.estimate();
              observer.update(0.005, q, v, tau);
              foot_forces.update(q, observer.force());
            };
            // The first call may initialize static data.
            if (first) {
              step();
            } else {
              count += testing::allocations(step);
            }
            first = false;
          }
          EXPECT_TRUE(estimator.ready());
          EXPECT_GT(estimator.diagnostics().contacts_made, 3u);
          EXPECT_EQ(count, 0) << name << ", " << estimator.filter().name();
          EXPECT_EQ(testing::allocations([&] { estimator.reset(); }), 0);
        }
      }
    }
  }
  EXPECT_EQ(robots, 2);
}

}  // namespace
}  // namespace limb
