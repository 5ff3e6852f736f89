// The generated C filter against BaseFilter over a walk: with double they are the same computation
// in another order; with float the difference is that of its rounding.
#include "limb/estimate/c/c_filter.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "limb/codegen/testing/c_folder.hpp"
#include "limb/estimate/filter/chi_square.hpp"
#include "limb/estimate/testing/quadruped_walk.hpp"

namespace limb {
namespace {

using codegen::Precision;

/// The generated functions, compiled to a library and loaded.
template <typename Real>
class LoadedFilter {
 public:
  LoadedFilter(const LegKinematics& legs, FilterKind kind, const WalkErrors& errors, double gate)
      : package_(make_c_filter(
            legs, {.prefix = "dog",
                   .filter = kind,
                   .precision = std::is_same_v<Real, float> ? Precision::f32 : Precision::f64,
                   .comment = "A test."})),
        folder_(package_),
        memory_(1 << 14),
        noise_{{Real(errors.imu.gyro), Real(errors.imu.accel), Real(errors.imu.gyro_walk),
                Real(errors.imu.accel_walk)},
               Real(errors.creep),
               Real(errors.encoder),
               Real(1e-5),
               Real(gate)} {
    EXPECT_EQ(folder_.run("gcc -std=c99 -Wall -Wextra -Werror -pedantic -O2 -ffp-contract=off -c "
                          "-fPIC dog_filter.c && gcc -shared -o dog.so dog_filter.o -lm && "
                          "size dog_filter.o && nm -u dog_filter.o"),
              0)
        << folder_.log();
    library_ = dlopen((folder_.path() / "dog.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr);
  }
  ~LoadedFilter() {
    if (library_ != nullptr) dlclose(library_);
  }
  LoadedFilter(const LoadedFilter&) = delete;
  LoadedFilter& operator=(const LoadedFilter&) = delete;

  bool loaded() const { return library_ != nullptr; }
  std::string log() const { return folder_.log(); }
  std::size_t stack_bytes() const { return package_.stack_bytes; }

  void init(const FilterState& x, const Eigen::Matrix<double, 15, 1>& deviations) {
    const auto p = cast(x.p_WS), v = cast(x.v_WS), bg = cast(x.gyro_bias), ba = cast(x.accel_bias);
    const Eigen::Matrix<Real, 3, 3> R = x.R_WS.cast<Real>();
    const Eigen::Matrix<Real, 15, 1> d = deviations.cast<Real>();
    using F =
        void(void*, const Real*, const Real*, const Real*, const Real*, const Real*, const Real*);
    function<F>("dog_filter_init")(memory_.data(), p.data(), R.data(), v.data(), bg.data(),
                                   ba.data(), d.data());
  }
  int predict(const ImuSample& sample, double T) {
    const auto gyro = cast(sample.gyro), accel = cast(sample.accel);
    using F = int(void*, const void*, const Real*, const Real*, Real);
    return function<F>("dog_filter_predict")(memory_.data(), &noise_, gyro.data(), accel.data(),
                                             Real(T));
  }
  int feet(const VectorX<double>& q, const std::vector<bool>& contact) {
    const Eigen::Matrix<Real, Eigen::Dynamic, 1> x = q.cast<Real>();
    std::vector<unsigned char> flags(contact.begin(), contact.end());
    using F = int(void*, const void*, const Real*, const unsigned char*);
    return function<F>("dog_filter_feet")(memory_.data(), &noise_, x.data(), flags.data());
  }
  struct Base {
    Vector3<double> p, v;
    Matrix3<double> R;
    Eigen::Matrix<double, 9, 9> covariance;
  };
  Base base(const ImuSample& sample) {
    const auto gyro = cast(sample.gyro);
    Eigen::Matrix<Real, 3, 1> p, v;
    Eigen::Matrix<Real, 3, 3> R;
    Eigen::Matrix<Real, 9, 9> C;
    using F = void(const void*, const Real*, Real*, Real*, Real*);
    function<F>("dog_filter_base")(memory_.data(), gyro.data(), p.data(), R.data(), v.data());
    function<void(const void*, Real*)>("dog_filter_covariance")(memory_.data(), C.data());
    return {p.template cast<double>(), v.template cast<double>(), R.template cast<double>(),
            C.template cast<double>()};
  }

 private:
  static Eigen::Matrix<Real, 3, 1> cast(const Vector3<double>& x) { return x.cast<Real>(); }
  template <typename F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(dlsym(library_, name));
  }
  struct Noise {
    Real imu[4], contact, encoder, foot_error, gate;
  };

  codegen::CPackage package_;
  testing::CFolder folder_;
  std::vector<double> memory_;
  Noise noise_;
  void* library_ = nullptr;
};

struct Difference {
  double position = 0, rotation = 0, velocity = 0, deviation = 0;
  int used = 0;
};

/// The largest differences over a walk.
template <typename Real>
Difference compare(FilterKind kind) {
  const SyntheticWalk& walk = testing::quadruped_walk({});
  const WalkErrors errors = testing::typical_errors();
  LegKinematics legs(walk.model(), walk.options().feet);
  const double gate = chi_square_quantile(0.999, 3);
  LoadedFilter<Real> generated(legs, kind, errors, gate);
  Difference worst;
  if (!generated.loaded()) return worst;
  const auto filter = make_filter(kind, {errors.imu, errors.creep, walk.model().gravity()});
  const auto deviations = testing::initial_deviations();
  NoisyWalk noisy(walk, errors, 5);
  bool started = false;
  double t = 0, time = 0;
  int steps = 0;
  std::printf("%s %s: %s", kind == FilterKind::invariant ? "invariant" : "error-state",
              std::is_same_v<Real, float> ? "float" : "double", generated.log().c_str());
  const auto larger = [](double a, double b) { return a > b || std::isnan(a) ? a : b; };
  while (noisy.next()) {
    if (!started) {
      const FilterState start = testing::off_by(noisy.truth(), 0.1 * deviations);
      filter->reset(start, Matrix15(deviations.cwiseAbs2().asDiagonal()));
      generated.init(start, deviations);
      started = true;
      t = noisy.instant().t;
      continue;
    }
    const double T = noisy.instant().t - t;
    t = noisy.instant().t;
    EXPECT_EQ(filter->predict(noisy.imu(), T), Status::ok);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(generated.predict(noisy.imu(), T), 0);
    const int used = generated.feet(noisy.q(), noisy.instant().contact);
    time += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ++steps;
    // As BaseEstimator does: remove, measure, add.
    EXPECT_EQ(legs.update(noisy.q(), noisy.v()), Status::ok);
    std::vector<BaseMeasurement> measured;
    const auto noise = [&](int i) { return legs.noise(i, errors.encoder, 1e-5); };
    for (int i = 0; i < legs.feet(); ++i) {
      const int slot = filter->state().slot_of(i);
      if (slot >= 0 && !noisy.instant().contact[static_cast<std::size_t>(i)])
        filter->remove_foot(i);
    }
    for (int i = 0; i < legs.feet(); ++i) {
      const int slot = filter->state().slot_of(i);
      if (slot >= 0) {
        measured.push_back(foot_position(filter->state(), slot, legs.p_SF(i), noise(i)));
      }
    }
    std::vector<InnovationTest> tests(measured.size(), {.gate = gate});
    filter->update(measured, tests);
    int passed = 0;
    for (const InnovationTest& test : tests) passed += test.passed;
    if (std::is_same_v<Real, double>) {
      EXPECT_EQ(used, passed) << t;
    }
    for (int i = 0; i < legs.feet(); ++i) {
      if (noisy.instant().contact[static_cast<std::size_t>(i)] && filter->state().slot_of(i) < 0) {
        filter->add_foot(i, legs.p_SF(i), noise(i));
      }
    }
    worst.used += used;
    const auto base = generated.base(noisy.imu());
    const FilterState& x = filter->state();
    const FilterMatrix P = filter->common_covariance();
    worst.position = larger((base.p - x.p_WS).norm(), worst.position);
    worst.rotation = larger((base.R - x.R_WS).norm(), worst.rotation);
    worst.velocity = larger((base.v - x.v_WS).norm(), worst.velocity);
    for (int i = 0; i < 9; ++i) {
      worst.deviation = larger(std::abs(std::sqrt(base.covariance(i, i)) / std::sqrt(P(i, i)) - 1),
                               worst.deviation);
    }
  }
  std::printf(
      "  p %.2g m, R %.2g, v %.2g m/s, deviations %.2g; %.1f us per step, stack %zu bytes\n",
      worst.position, worst.rotation, worst.velocity, worst.deviation, 1e6 * time / steps,
      generated.stack_bytes());
  return worst;
}

class CFilter : public ::testing::TestWithParam<FilterKind> {};

TEST_P(CFilter, EqualsTheFilterInDoublePrecision) {
  if (!testing::has_command("gcc")) GTEST_SKIP() << "no gcc";
  const Difference worst = compare<double>(GetParam());
  EXPECT_GT(worst.used, 2000);
  // BaseFilter adds 4e-12 of each variance per update for rounding, 5e-9 of it in 1200 steps; the C
  // filter does not. Of variances that are 1e2 times smaller than those that they are correlated
  // with, this is up to 5e-7; the state follows by 1e-2 of that.
  EXPECT_LT(worst.position, 5e-9);
  EXPECT_LT(worst.rotation, 5e-9);
  EXPECT_LT(worst.velocity, 5e-9);
  EXPECT_LT(worst.deviation, 5e-7);
}

TEST_P(CFilter, FloatStaysWithinItsRounding) {
  if (!testing::has_command("gcc")) GTEST_SKIP() << "no gcc";
  const Difference worst = compare<float>(GetParam());
  EXPECT_GT(worst.used, 2000);
  // 6e-8 of positions of a metre and of rotations, 1200 steps whose rounding adds up like a random
  // walk: 2e-6; gains of a covariance that is rounded to 1e-7 of variances up to 1e4 times larger:
  // 1e-3 of deviations of some millimetres and milliradians. Ten times these.
  EXPECT_LT(worst.position, 5e-5);
  EXPECT_LT(worst.rotation, 2e-4);
  EXPECT_LT(worst.velocity, 2e-4);
  EXPECT_LT(worst.deviation, 0.01);
}

INSTANTIATE_TEST_SUITE_P(BothFilters, CFilter,
                         ::testing::Values(FilterKind::invariant, FilterKind::error_state),
                         [](const auto& kind) {
                           return kind.param == FilterKind::invariant ? "Invariant" : "ErrorState";
                         });

TEST(CFilterFunctions, RefuseABadStep) {
  if (!testing::has_command("gcc")) GTEST_SKIP() << "no gcc";
  const SyntheticWalk& walk = testing::quadruped_walk({});
  const LegKinematics legs(walk.model(), walk.options().feet);
  LoadedFilter<float> filter(legs, FilterKind::invariant, testing::typical_errors(), 16);
  ASSERT_TRUE(filter.loaded());
  filter.init(walk.instants()[0].truth, testing::initial_deviations());
  EXPECT_EQ(filter.predict({}, 0), 1);
  EXPECT_EQ(filter.predict({}, std::nan("")), 1);
  EXPECT_EQ(filter.predict({}, 2), 1);
}

}  // namespace
}  // namespace limb
