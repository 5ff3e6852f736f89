// One step of the state estimation of a walking robot with all feet on the ground, compared with
// the same arithmetic on dense Eigen matrices; and the complete step of the estimator, compared
// with a budget of 10 us.
#include <Eigen/Cholesky>
#include <cstdio>

#include "bench/side_by_side.hpp"
#include "limb/estimate/estimator/base_estimator.hpp"
#include "limb/estimate/walk/synthetic_walk.hpp"
#include "limb/model/core/load.hpp"

namespace limb::bench {
namespace {

using Dense = MatrixX<double>;

/// A walk without steps: every foot is measured at every sample.
SyntheticWalk standing(const Model<double>& model, const std::vector<std::string>& feet) {
  WalkOptions options;
  options.feet = feet;
  options.rate = 400;
  options.duration = 3;
  options.rest = 1.5;
  options.duty = 1;
  return {model, options};
}

void measure(const char* name, const std::vector<std::string>& feet) {
  const Model<double> model = load_model(name);
  const SyntheticWalk walk = standing(model, feet);
  WalkErrors errors;
  errors.encoder = 1e-3;
  std::vector<Timing> rows;
  long refused = 0;
  for (const FilterKind kind : {FilterKind::error_state, FilterKind::invariant}) {
    EstimatorOptions options;
    options.filter = kind;
    BaseEstimator estimator(model, feet, "", options);
    NoisyWalk noisy(walk, errors, 1);
    const std::vector<double> forces(feet.size(), 100.0);
    while (noisy.next()) {
      estimator.imu(noisy.instant().t, noisy.imu());
      estimator.legs(noisy.instant().t, noisy.q(), noisy.v(), forces);
    }
    const std::string label(estimator.filter().name());
    const VectorX<double> q = noisy.q(), v = noisy.v();
    const ImuSample sample = noisy.imu();

    // The filter without kinematics, and precomputed dense matrices.
    auto filter = make_filter(kind, {});
    filter->reset(estimator.filter().state(), Matrix15::Identity() * 1e-4);
    LegKinematics legs(model, feet);
    legs.update(q, v);
    std::vector<BaseMeasurement> all;
    for (int i = 0; i < legs.feet(); ++i) {
      filter->add_foot(i, legs.p_SF(i), legs.noise(i, 1e-3, 1e-3));
    }
    const int n = filter->state().errors();
    ImuStep step;
    integrate_imu(sample, 0.0025, {}, step);
    Dense F = filter->transition(step), P = filter->covariance(), Q = Dense::Zero(n, n);
    Q.topLeftCorner<15, 15>() = step.noise;
    Dense H(3 * legs.feet(), n), N = 1e-6 * Dense::Identity(3 * legs.feet(), 3 * legs.feet());
    for (int i = 0; i < legs.feet(); ++i) {
      all.push_back(foot_position(filter->state(), i, legs.p_SF(i), legs.noise(i, 1e-3, 1e-3)));
      H.middleRows(3 * i, 3) = filter->jacobian(all.back());
    }
    const Dense one = Dense::Identity(n, n);
    // Restarts regularly, so that the covariance stays realistic.
    int calls = 0;
    const auto restart = [&] {
      filter->reset(estimator.filter().state(), Matrix15::Identity() * 1e-4);
      for (int i = 0; i < legs.feet(); ++i) {
        filter->add_foot(i, legs.p_SF(i), legs.noise(i, 1e-3, 1e-3));
      }
    };
    rows.push_back(side_by_side(
        label + ", prediction",
        [&](int) {
          if (++calls % 25 == 0) restart();
          filter->predict(sample, 0.0025);
        },
        [&](int) {
          P = F * P * F.transpose() + Q;
          benchmark::DoNotOptimize(P.data());
          P = filter->covariance();
        }));
    rows.push_back(side_by_side(
        label + ", feet",
        [&](int) {
          if (++calls % 25 == 0) restart();
          for (int i = 0; i < legs.feet(); ++i) {
            all[static_cast<std::size_t>(i)] =
                foot_position(filter->state(), i, legs.p_SF(i), legs.noise(i, 1e-3, 1e-3));
          }
          refused += !filter->update(all).ok();
        },
        [&](int) {
          const Dense S = H * P * H.transpose() + N;
          const Dense K = S.llt().solve(H * P).transpose();
          const Dense A = one - K * H;
          P = A * P * A.transpose() + K * N * K.transpose();
          benchmark::DoNotOptimize(P.data());
          P = filter->covariance();
        }));
    // The complete step: time stamps, joints, kinematics, gates; compared with a busy wait of 10
    // us.
    double t = estimator.time();
    const auto budget = [](int) {
      const auto start = Clock::now();
      while (Clock::now() - start < std::chrono::microseconds(10)) continue;
    };
    rows.push_back(side_by_side(
        label + ", whole step",
        [&](int) {
          t += 0.0025;
          estimator.imu(t, sample);
          estimator.legs(t, q, v, forces);
        },
        budget, 300));
  }
  std::printf("%s, %d feet; %ld updates refused\n", name, static_cast<int>(feet.size()), refused);
  print(name, "dense", rows);
}

}  // namespace
}  // namespace limb::bench

int main() {
  limb::bench::measure("builtin:quadruped", {"FL_foot", "FR_foot", "RL_foot", "RR_foot"});
  limb::bench::measure("builtin:humanoid", {"left_sole", "right_sole"});
}
