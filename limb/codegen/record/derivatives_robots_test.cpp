// Recorded derivatives of all robots, against central differences of the templates in long double.
#include <gtest/gtest.h>

#include "limb/base/testing/left_out.hpp"
#include "limb/base/testing/sanitized.hpp"
#include "limb/codegen/program.hpp"
#include "limb/codegen/testing/robot_inputs.hpp"
#include "limb/dynamics/recursive/aba_impl.hpp"
#include "limb/dynamics/recursive/rnea_impl.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/core/model_impl.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

using Long = long double;

/// d f(q exp(d)) and d f(v + d) for each direction.
struct Differences {
  MatrixX<double> dq, dv;
};
template <typename F>
Differences differences(const Model<Long>& model, const VectorX<Long>& q, const VectorX<Long>& v,
                        const F& f) {
  // Both errors, h^2 of the third derivative and 5e-20 / h of rounding, are about 1e-13.
  const Long h = 1e-6L;
  const int n = model.nv();
  Differences d{MatrixX<double>(n, n), MatrixX<double>(n, n)};
  for (int k = 0; k < n; ++k) {
    VectorX<Long> step = VectorX<Long>::Zero(n);
    step[k] = h;
    const VectorX<Long> back = -step;
    const VectorX<Long> by_q = (f(testing::integrate_configuration<Long>(model, q, step), v) -
                                f(testing::integrate_configuration<Long>(model, q, back), v)) /
                               (2 * h);
    const VectorX<Long> by_v =
        (f(q, VectorX<Long>(v + step)) - f(q, VectorX<Long>(v + back))) / (2 * h);
    d.dq.col(k) = by_q.cast<double>();
    d.dv.col(k) = by_v.cast<double>();
  }
  return d;
}

void compare(const Model<double>& model, const Model<Long>& wide, DynamicsFunction function,
             unsigned seed) {
  SCOPED_TRACE(to_text(function));
  const bool forward = function == DynamicsFunction::aba_derivatives;
  const testing::Sample s = testing::sample_of("", model, seed);
  const int n = model.nv();
  const VectorX<double>& last = forward ? s.tau : s.a;
  MatrixX<double> dq(n, n), dv(n, n), da_dtau(n, n);
  const double* in[] = {s.q.data(), s.v.data(), last.data()};
  double* out[] = {dq.data(), dv.data(), da_dtau.data()};
  codegen::Program(codegen::trace(model, function)).run(in, out);

  Workspace<Long> work(wide);
  const VectorX<Long> q = s.q.cast<Long>(), v = s.v.cast<Long>(), fixed = last.cast<Long>();
  const auto f = [&](const VectorX<Long>& x, const VectorX<Long>& y) {
    VectorX<Long> result(n);
    if (forward) {
      aba<Long>(wide, work, x, y, fixed, result, {});
    } else {
      rnea<Long>(wide, work, x, y, fixed, result, {});
    }
    return result;
  };
  const Differences expected = differences(wide, q, v, f);
  // The 1e-13 of the differences with a third derivative a hundred times the first; for forward
  // dynamics the rounding of double times the condition of the mass matrix (1e5 for these robots).
  const double tolerance = forward ? 1e-8 : 1e-10;
  EXPECT_LT((dq - expected.dq).norm(), tolerance * (1 + expected.dq.norm()));
  EXPECT_LT((dv - expected.dv).norm(), tolerance * (1 + expected.dv.norm()));
}

void compare_all(const std::string& robot, const Model<double>& model) {
  // Differences of larger robots take minutes with sanitizers, and run the same lines.
  if (testing::kSanitized && model.nv() > 7) {
    testing::leave_out("sanitizer build: robots of more than 7 degrees of freedom");
    return;
  }
  SCOPED_TRACE(robot);
  const Model<Long> wide = model.cast<Long>();
  for (const unsigned seed : {3U, 4U}) {
    compare(model, wide, DynamicsFunction::rnea_derivatives, seed);
    if (testing::has_function(model, DynamicsFunction::aba_derivatives)) {
      compare(model, wide, DynamicsFunction::aba_derivatives, seed);
    } else {
      EXPECT_FALSE(model.loops().empty());  // of which the template has no straight-line code
    }
  }
}

TEST(DerivativesOfRobots, BuiltInRobotsMatchDifferencesInLongDouble) {
  for (const std::string& name : builtin_names()) compare_all(name, load_model("builtin:" + name));
  const int joints = testing::kSanitized ? 3 : 11;
  for (const testing::Sample& s : testing::samples(2, joints)) compare_all(s.name, s.model);
}

TEST(DerivativesOfRobots, ReferenceRobotsMatchDifferencesInLongDouble) {
  const std::filesystem::path shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
  const std::vector<testing::NamedModel> robots = testing::shared_robots(shared);
  EXPECT_GT(robots.size(), 20U);
  for (const auto& [name, model] : robots) compare_all(name, model);
}

}  // namespace
}  // namespace limb
