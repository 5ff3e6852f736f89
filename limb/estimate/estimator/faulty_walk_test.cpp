// Walks with gaps, bias steps, slipping feet and late contacts: none is lost without a verdict, and
// if the verdict is consistent, the errors have the stated size. LIMB_ESTIMATE_RUNS=200 (and
// LIMB_ESTIMATE_FIRST=1000, the first seed) runs the table of
// bench/results/2026-11-18-estimation.md.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "limb/estimate/filter/chi_square.hpp"
#include "limb/estimate/testing/faulty_walk.hpp"
#include "limb/estimate/testing/monte_carlo.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::WalkFaults;

constexpr int kWalks = 10;

int first_seed() {
  const char* given = std::getenv("LIMB_ESTIMATE_FIRST");
  return given == nullptr ? 0 : std::atoi(given);
}
int runs() {
  const char* given = std::getenv("LIMB_ESTIMATE_RUNS");
  return given == nullptr ? 12 : std::atoi(given);
}

const SyntheticWalk& walk_of(int slips, int i) {  // with other slips for other seeds
  static std::vector<std::unique_ptr<SyntheticWalk>> walks[2];
  auto& all = walks[slips > 0];
  while (static_cast<int>(all.size()) <= i) {
    WalkOptions walking;
    walking.feet = {"FL_foot", "FR_foot", "RL_foot", "RR_foot"};
    walking.rate = 200;
    walking.duration = 12;
    walking.rest = 1.2;
    walking.crouch = 0.25;
    walking.slips = testing::random_slips(slips, walking.duration, 4,
                                          static_cast<std::size_t>(first_seed()) + all.size());
    all.push_back(std::make_unique<SyntheticWalk>(load_model("builtin:quadruped"), walking));
  }
  return *all[static_cast<std::size_t>(i)];
}

struct Group {
  const char* name;
  WalkFaults faults;
  /// Bounds of the mean NEES, as factors of the 99 % band of its runs. The random walk of biases
  /// that the filter assumes is larger than that of a walk without steps of them and smaller than
  /// that of one with a step: data do not tell them apart (docs/estimation.md, Consistency).
  double low = 0.7, high = 1.25;
  /// Largest fraction of runs beyond a probability of 1e-4. With steps of biases, errors are a
  /// mixture of normal distributions, with longer tails than one.
  double beyond = 0.01;
};

class FaultyWalks : public ::testing::TestWithParam<FilterKind> {};

constexpr std::array<int, 4> kParts = {3, 2, 1, 3};
/// Errors of 9 numbers beyond this have a probability of 1e-4 each.
const double kLargest = chi_square_quantile(1 - 1e-4, 9);

TEST_P(FaultyWalks, AreConsistentOrSaySo) {
  const std::vector<Group> groups = {
      {"no faults", {0, 0.2, 0, 0, 0, 0, 0}},
      {"gaps", {0.05, 0.2, 0, 0, 0, 0, 0}},
      {"slips", {0, 0.2, 0, 0, 0, 3, 0}},
      {"late contacts", {0, 0.2, 0, 0, 0.03, 0, 0}},
      {"bias steps", {0, 0.2, 2e-3, 0.03, 0, 0, 0}, 0.7, 1.5, 0.05},
      {"all of them", WalkFaults{}, 0.7, 1.5, 0.05},
  };
  const WalkErrors errors = testing::typical_errors();
  std::printf("%-14s %5s %5s %5s  %9s %9s  %6s %9s %6s  %s\n", "faults", "cons.", "over", "lost",
              "error mm", "worst mm", "NEES", "in 95 %", "beyond",
              "squares of position, tilt, yaw, velocity, 1 expected");
  for (const Group& group : groups) {
    int verdicts[3] = {}, beyond = 0, silent = 0, inside = 0;
    double nees = 0, error = 0, worst = 0;
    std::array<double, 4> parts{};
    double contact_noise = 0;
    const ChiSquareBand single = chi_square_band(9, 1);
    for (int seed = first_seed(); seed < first_seed() + runs(); ++seed) {
      EstimatorOptions options;
      options.filter = GetParam();
      const auto run = testing::run_faulty(walk_of(group.faults.slips, seed % kWalks), errors,
                                           group.faults, options, static_cast<std::uint64_t>(seed));
      ASSERT_TRUE(std::isfinite(run.nees) && std::isfinite(run.position_error));
      ++verdicts[static_cast<int>(run.verdict.verdict)];
      contact_noise += run.contact_noise / runs();
      error += run.position_error / runs();
      worst = std::isnan(worst) ? worst : std::max(worst, run.position_error);
      // Far from the truth, without a word.
      silent += run.verdict.verdict == Verdict::consistent && run.position_error > 0.5;
      if (run.verdict.verdict != Verdict::consistent) continue;
      nees += run.nees;
      for (std::size_t i = 0; i < 4; ++i) parts[i] += run.parts[i] / kParts[i];
      beyond += run.nees > kLargest;
      inside += run.nees > single.low && run.nees < single.high;
    }
    const int consistent = verdicts[0];
    const ChiSquareBand band = chi_square_band(9, std::max(consistent, 1), 0.99);
    const double mean = nees / std::max(consistent, 1);
    std::printf("%-14s %5d %5d %5d  %9.1f %9.1f  %6.2f %5d/%-3d %6d ", group.name, verdicts[0],
                verdicts[1], verdicts[2], 1e3 * error, 1e3 * worst, mean, inside, consistent,
                beyond);
    for (const double part : parts) std::printf(" %.2f", part / std::max(consistent, 1));
    std::printf("\n");
    EXPECT_EQ(silent, 0) << group.name;
    // Faults are handled, and without them there are no false alarms.
    EXPECT_GE(consistent, &group == &groups.front() ? 0.98 * runs() : 0.9 * runs()) << group.name;
    // Errors have the stated size: neither larger nor smaller.
    EXPECT_LT(mean, group.high * band.high) << group.name;
    EXPECT_GT(mean, group.low * band.low) << group.name;
    EXPECT_LE(beyond, group.beyond * runs()) << group.name;
    // Whatever goes wrong, the random walk of the contacts is found.
    EXPECT_NEAR(contact_noise / errors.creep, 1, 0.2) << group.name;
  }
}

TEST_P(FaultyWalks, AnOutageIsLost) {
  WalkFaults faults;
  faults.outage = 0.8;
  for (int seed = 0; seed < 3; ++seed) {
    EstimatorOptions options;
    options.filter = GetParam();
    const auto run = testing::run_faulty(walk_of(0, seed), testing::typical_errors(), faults,
                                         options, static_cast<std::uint64_t>(seed));
    EXPECT_EQ(run.verdict.verdict, Verdict::lost);
    EXPECT_NEAR(run.verdict.t, 6.8, 0.21);  // the end of the outage, or of a gap right after it
    // The position is what it was, to the distance of a walk of 0.8 s.
    EXPECT_LT(run.position_error, 0.5);
    EXPECT_GT(run.position_deviation, 0.5);
  }
}

INSTANTIATE_TEST_SUITE_P(BothFilters, FaultyWalks,
                         ::testing::Values(FilterKind::invariant, FilterKind::error_state),
                         [](const auto& kind) {
                           return kind.param == FilterKind::invariant ? "Invariant" : "ErrorState";
                         });

/// A robot that stands on four feet; `change` may modify the samples.
template <typename Change>
BaseEstimator stand(const EstimatorOptions& options, const Change& change,
                    double* error = nullptr) {
  WalkOptions walking;
  walking.feet = {"FL_foot", "FR_foot", "RL_foot", "RR_foot"};
  walking.rate = 100;
  walking.duration = 8;
  walking.rest = 1.2;
  walking.crouch = 0.25;
  walking.duty = 1;
  walking.speed = walking.turning = 0;
  static const SyntheticWalk walk(load_model("builtin:quadruped"), walking);
  NoisyWalk noisy(walk, testing::typical_errors(), 4);
  EstimatorOptions used = options;
  used.initial.p_WB = walk.instants()[0].q.head<3>();
  BaseEstimator estimator(walk.model(), walking.feet, "", used);
  const std::vector<double> forces(4, 100.0);
  while (noisy.next()) {
    double t = noisy.instant().t;
    ImuSample imu = noisy.imu();
    VectorX<double> q = noisy.q();
    if (!change(t, imu, q)) continue;
    estimator.imu(t, imu);
    estimator.legs(t, q, noisy.v(), forces);
    if (error != nullptr) {
      *error = (estimator.estimate().X_WB.p - noisy.instant().q.head<3>()).norm();
    }
  }
  return estimator;
}

// A wrong rate for a moment, as from a disturbed sensor: all feet contradict the prediction and
// none of the others. They stay where they are.
TEST(BaseEstimator, FeetThatAgreeAreNotSlipping) {
  double error = 0;
  const BaseEstimator estimator = stand(
      {},
      [](double t, ImuSample& imu, VectorX<double>&) {
        if (t > 4 && t < 4.16) return false;           // a gap,
        if (t >= 4.16 && t < 4.2) imu.accel.x() += 4;  // and a wrong sample at its end
        return true;
      },
      &error);
  EXPECT_EQ(estimator.diagnostics().imu_gaps, 1U);
  EXPECT_EQ(estimator.diagnostics().slips, 0U);
  EXPECT_EQ(estimator.verdict().verdict, Verdict::consistent);
  EXPECT_LT(error, 0.01);
}

// A logger that stalls stamps old samples of the joints within a moment.
TEST(BaseEstimator, QueuedSamplesAreNotTrusted) {
  double error = 0;
  const auto queued = [](double& t) {
    // The last 0.16 s of every half second are delivered at its end.
    const double phase = std::fmod(t, 0.5);
    if (t < 2 || phase < 0.34) return;
    t = t - phase + 0.4995 + (phase - 0.34) * 1e-3;
  };
  EstimatorOptions options;
  WalkOptions walking;
  walking.feet = {"FL_foot", "FR_foot", "RL_foot", "RR_foot"};
  walking.rate = 100;
  walking.duration = 8;
  walking.rest = 1.2;
  walking.crouch = 0.25;
  walking.duty = 1;
  walking.speed = walking.turning = 0;
  const SyntheticWalk walk(load_model("builtin:quadruped"), walking);
  NoisyWalk noisy(walk, testing::typical_errors(), 4);
  options.initial.p_WB = walk.instants()[0].q.head<3>();
  BaseEstimator estimator(walk.model(), walking.feet, "", options);
  const std::vector<double> forces(4, 100.0);
  while (noisy.next()) {
    double t = noisy.instant().t;
    queued(t);
    estimator.imu(t, noisy.imu());
    estimator.legs(t, noisy.q(), noisy.v(), forces);
    error = (estimator.estimate().X_WB.p - noisy.instant().q.head<3>()).norm();
  }
  EXPECT_GT(estimator.diagnostics().leg_queued, 100U);
  EXPECT_GT(estimator.diagnostics().imu_gaps, 8U);
  EXPECT_EQ(estimator.diagnostics().slips, 0U);
  EXPECT_EQ(estimator.verdict().verdict, Verdict::consistent);
  EXPECT_LT(error, 0.01);
}

TEST(BaseEstimator, JointsBridgeASilentImu) {
  const SyntheticWalk& walk = walk_of(0, 0);
  NoisyWalk noisy(walk, testing::typical_errors(), 5);
  EstimatorOptions options;
  options.initial.p_WB = walk.instants()[0].q.head<3>();
  BaseEstimator estimator(walk.model(), walk.options().feet, "", options);
  std::vector<double> forces(4);
  double error = 0;
  while (noisy.next()) {
    const double t = noisy.instant().t;
    if (!(t > 5 && t < 5.3)) estimator.imu(t, noisy.imu());
    for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy.instant().contact[i] ? 100 : 0;
    estimator.legs(t, noisy.q(), noisy.v(), forces);
    if (t > 5 && t < 5.3)
      error = (estimator.estimate().X_WB.p - noisy.instant().q.head<3>()).norm();
  }
  EXPECT_GT(estimator.diagnostics().gaps_bridged, 40U);
  EXPECT_LE(estimator.diagnostics().leg_early, 6U);  // within three periods, or 30 ms
  EXPECT_LT(error, 0.03);                            // of 9 cm that the robot walks in that time
}

}  // namespace
}  // namespace limb
