// Derivatives of constrained dynamics and impacts on random trees of all joint types, coupled and
// not, with contacts, loops, gains, redundant and impossible rows, against dual numbers through the
// functions themselves.
#include "limb/dynamics/constraints/constrained_derivatives.hpp"

#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/constraints/constrained_dynamics_impl.hpp"
#include "limb/dynamics/derivatives/aba_derivatives.hpp"
#include "limb/dynamics/identify/parameter_derivatives.hpp"
#include "limb/dynamics/identify/regressor.hpp"
#include "limb/dynamics/recursive/crba_impl.hpp"
#include "limb/dynamics/recursive/rnea_impl.hpp"
#include "limb/dynamics/testing/loops.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::Dual;
using testing::example_wrenches;
using testing::Sample;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();

enum class ConstraintCase {
  points,     ///< a point in contact axes and one in world axes, with gains and targets
  surface,    ///< a frame with gains
  redundant,  ///< two surfaces and a point on one body
  loops,
};

template <typename T>
ConstraintSet<T> constraints(const Model<T>& model, ConstraintCase which) {
  if (which == ConstraintCase::loops) return {model, {}, all_loops<T>(model, {T(20), T(4)})};
  const int last = model.body_count() - 1;
  const auto contact = [&](int body, ContactKind kind, ContactAxes axes) {
    Contact<T> c{BodyId(body)};
    c.kind = kind;
    c.axes = axes;
    c.X_FC = {axis_rotation<T>(0, T(0.4)), {T(0.1), T(-0.2), T(0.3)}};
    return c;
  };
  std::vector<Contact<T>> all;
  switch (which) {
    case ConstraintCase::points:
      all = {contact(last, ContactKind::point, ContactAxes::contact),
             contact(last / 2, ContactKind::point, ContactAxes::world)};
      for (Contact<T>& c : all) {
        c.stabilization = {T(10), T(3)};
        c.A_target = {{T(0.5), T(-1), T(2)}, {T(0), T(0), T(0)}};
        c.X_WC_target.p = {T(0.2), T(0.1), T(-0.3)};
      }
      break;
    case ConstraintCase::surface:
      all = {contact(last, ContactKind::surface, ContactAxes::contact)};
      all[0].stabilization = {T(10), T(3)};
      all[0].A_target = {{T(0.5), T(-1), T(2)}, {T(0.2), T(0.3), T(-0.4)}};
      all[0].X_WC_target = {axis_rotation<T>(1, T(0.3)), {T(0.2), T(0.1), T(-0.3)}};
      break;
    default:
      all = {contact(last, ContactKind::surface, ContactAxes::contact),
             contact(last, ContactKind::surface, ContactAxes::world),
             contact(last, ContactKind::point, ContactAxes::contact)};
      all[1].X_FC.p = {T(-0.2), T(0.1), T(0.4)};
  }
  return {model, all};
}

/// Worst error over all samples.
class Comparison {
 public:
  explicit Comparison(double tolerance) : tolerance_(tolerance) {}
  ~Comparison() {
    std::printf("worst %.0e; %d robots, %d with redundant rows, %d of them inconsistent\n",
                worst_.value(), robots_, redundant_, impossible_);
  }
  void count(const ConstrainedReport<double>& report) {
    ++robots_;
    redundant_ += report.rank < report.rows;
    impossible_ += report.rank < report.rows && report.residual > 0.1;
  }
  int redundant() const { return redundant_; }
  int impossible() const { return impossible_; }
  void compare(const Matrix& found, const Matrix& expected, const char* what) {
    const double error = testing::relative(found, expected);
    EXPECT_LT(error, tolerance_) << what;
    worst_.add(error);
  }

 private:
  double tolerance_;
  Worst worst_;
  int robots_ = 0, redundant_ = 0, impossible_ = 0;
};

/// Derivatives of (x, f) = call(q, v, third) stacked, by duals.
struct ByDuals {
  template <typename Call>
  ByDuals(const Model<Dual>& model, const Vector& q, const Vector& v, const Vector& third, int size,
          const Call& call)
      : dq(size, v.size()), dv(dq), dthird(dq) {
    const Vector zero = Vector::Zero(v.size());
    const auto column = [&](const Vector& a, const Vector& b, const Vector& c) {
      return testing::derivative(call(testing::dual_position(model, q, a),
                                      testing::dual_vector(v, b), testing::dual_vector(third, c)));
    };
    for (Eigen::Index i = 0; i < v.size(); ++i) {
      const Vector unit = Vector::Unit(v.size(), i);
      dq.col(i) = column(unit, zero, zero);
      dv.col(i) = column(zero, unit, zero);
      dthird.col(i) = column(zero, zero, unit);
    }
  }
  Matrix dq, dv, dthird;
};

VectorX<Dual> stacked(const VectorX<Dual>& x, const VectorX<Dual>& f) {
  VectorX<Dual> both(x.size() + f.size());
  both.head(x.size()) = x;
  both.tail(f.size()) = f;
  return both;
}

void check_forward(const Sample& s, ConstraintCase which, const ConstrainedOptions& options,
                   Comparison& worst) {
  SCOPED_TRACE(s.name);
  const Model<Dual> model = s.model.cast<Dual>();
  const ConstraintSet<double> set = constraints(s.model, which);
  const ConstraintSet<Dual> dual_set = constraints(model, which);
  const int n = s.model.nv(), rows = set.rows();
  const auto external = example_wrenches(s.model);
  std::vector<FrameWrench<Dual>> dual_external;
  for (const auto& w : external) dual_external.push_back({w.frame, w.F_F.cast<Dual>()});
  ConstraintWorkspace<Dual> dual_work(model, dual_set);
  int rank = -1;
  const ByDuals expected(
      model, s.q, s.v, s.tau, n + rows,
      [&](const VectorX<Dual>& q, const VectorX<Dual>& v, const VectorX<Dual>& tau) {
        VectorX<Dual> a(n), f(rows);
        rank = constrained_forward_dynamics<Dual>(model, dual_set, dual_work, q, v, tau,
                                                  dual_external, a, f, options)
                   .rank;
        return stacked(a, f);
      });

  ConstrainedDerivativeWorkspace<double> work(s.model, set);
  ConstrainedDerivatives<double> found(s.model, set);
  const auto report =
      constrained_derivatives(s.model, set, work, s.q, s.v, s.tau, external, found, options);
  EXPECT_EQ(report.rank, rank);
  worst.count(report);
  worst.compare(found.da_dq, expected.dq.topRows(n), "da_dq");
  worst.compare(found.da_dv, expected.dv.topRows(n), "da_dv");
  worst.compare(found.da_dtau, expected.dthird.topRows(n), "da_dtau");
  worst.compare(found.df_dq, expected.dq.bottomRows(rows), "df_dq");
  worst.compare(found.df_dv, expected.dv.bottomRows(rows), "df_dv");
  worst.compare(found.df_dtau, expected.dthird.bottomRows(rows), "df_dtau");
}

// Errors of solutions grow with the condition number of J M^-1 J^T, those of derivatives with its
// square: 1e6 to 1e8 on these robots. Worst seen: 1e-11.
constexpr double kTolerance = 1e7 * kEps;

TEST(ConstrainedDerivatives, AgreeWithDualNumbers) {
  for (const ConstraintCase which :
       {ConstraintCase::points, ConstraintCase::surface, ConstraintCase::redundant}) {
    SCOPED_TRACE(static_cast<int>(which));
    Comparison worst(kTolerance);
    for (const Sample& s : testing::samples(2)) check_forward(s, which, {}, worst);
    if (which == ConstraintCase::redundant) {
      EXPECT_GT(worst.redundant(), worst.impossible());
      EXPECT_GT(worst.impossible(), 0);
    }
  }
}

TEST(ConstrainedDerivatives, OfCompliantContacts) {
  Comparison worst(1e5 * kEps);  // compliance bounds the condition number
  for (const Sample& s : testing::samples(2)) {
    check_forward(s, ConstraintCase::redundant, {.effects = {}, .compliance = 0.1}, worst);
  }
}

TEST(ConstrainedDerivatives, OfClosedLoops) {
  Comparison worst(kTolerance);
  for (const Sample& s : testing::samples_with_loops(2))
    check_forward(s, ConstraintCase::loops, {}, worst);
}

// Forward dynamics keeps the loops of a robot closed, and so do its derivatives.
TEST(ConstrainedDerivatives, AreThoseOfForwardDynamicsWithLoops) {
  for (const Sample& s : testing::samples_with_loops(2)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    const ConstraintSet<double> set(s.model, {}, all_loops(s.model));
    ConstrainedDerivativeWorkspace<double> work(s.model, set);
    ConstrainedDerivatives<double> expected(s.model, set);
    DerivativeWorkspace<double> closed(s.model), open(s.model, Loops::open);
    Vector a(n);
    Matrix dq(n, n), dv(n, n), dtau(n, n);
    const auto external = example_wrenches(s.model);
    constrained_derivatives(s.model, set, work, s.q, s.v, s.tau, external, expected);
    EXPECT_TRUE(aba_derivatives(s.model, closed, s.q, s.v, s.tau, external, a, dq, dv, dtau).ok());
    EXPECT_EQ(a, expected.a);
    EXPECT_EQ(dq, expected.da_dq);
    constrained_derivatives(s.model, set, work, s.q, s.v, s.tau, expected);
    EXPECT_TRUE(aba_derivatives(s.model, closed, s.q, s.v, s.tau, a, dq, dv, dtau).ok());
    EXPECT_EQ(dv, expected.da_dv);
    EXPECT_EQ(dtau, expected.da_dtau);
    EXPECT_TRUE(aba_derivatives(s.model, open, s.q, s.v, s.tau, a, dq, dv, dtau).ok());
    EXPECT_NE(dtau, expected.da_dtau);
  }
}

void check_impact(const Sample& s, ConstraintCase which, Comparison& worst) {
  SCOPED_TRACE(s.name);
  const Model<Dual> model = s.model.cast<Dual>();
  const ConstraintSet<double> set = constraints(s.model, which);
  const ConstraintSet<Dual> dual_set = constraints(model, which);
  const int n = s.model.nv(), rows = set.rows();
  Vector restitution(rows);
  for (int r = 0; r < rows; ++r) restitution[r] = 0.1 * (r % 7);
  ConstraintWorkspace<Dual> dual_work(model, dual_set);
  const ByDuals expected(model, s.q, s.v, s.v, n + rows,
                         [&](const VectorX<Dual>& q, const VectorX<Dual>& v, const VectorX<Dual>&) {
                           VectorX<Dual> after(n), impulse(rows);
                           const VectorX<Dual> e = restitution.cast<Dual>();
                           impact<Dual>(model, dual_set, dual_work, q, v, e, after, impulse);
                           return stacked(after, impulse);
                         });
  ConstrainedDerivativeWorkspace<double> work(s.model, set);
  ImpactDerivatives<double> found(s.model, set);
  worst.count(impact_derivatives(s.model, set, work, s.q, s.v, restitution, found));
  worst.compare(found.dv_dq, expected.dq.topRows(n), "dv_dq");
  worst.compare(found.dv_dv, expected.dv.topRows(n), "dv_dv");
  worst.compare(found.dimpulse_dq, expected.dq.bottomRows(rows), "dimpulse_dq");
  worst.compare(found.dimpulse_dv, expected.dv.bottomRows(rows), "dimpulse_dv");
}

TEST(ImpactDerivatives, AgreeWithDualNumbers) {
  for (const ConstraintCase which :
       {ConstraintCase::points, ConstraintCase::surface, ConstraintCase::redundant}) {
    SCOPED_TRACE(static_cast<int>(which));
    Comparison worst(kTolerance);
    for (const Sample& s : testing::samples(2)) check_impact(s, which, worst);
  }
  Comparison worst(kTolerance);
  for (const Sample& s : testing::samples_with_loops(2))
    check_impact(s, ConstraintCase::loops, worst);
}

/// By p: dual numbers in the model itself, one parameter of one body at a time.
TEST(ParameterDerivatives, AgreeWithDualNumbers) {
  Comparison worst(kTolerance);
  for (const Sample& s : {testing::samples(1, 6)[3], testing::samples_with_loops(1)[0]}) {
    SCOPED_TRACE(s.name);
    const ConstraintCase which =
        s.model.loops().empty() ? ConstraintCase::redundant : ConstraintCase::loops;
    const ConstraintSet<double> set = constraints(s.model, which);
    const int n = s.model.nv(), count = parameter_count(s.model), rows = set.rows();
    const auto external = example_wrenches(s.model);
    ConstrainedDerivativeWorkspace<double> work(s.model, set);
    Vector a(n), f(rows);
    Matrix da(n, count), df(rows, count), expected_a(n, count), expected_f(rows, count);
    constrained_parameter_derivatives(s.model, set, work, s.q, s.v, s.tau, external, a, f, da, df);
    const Model<Dual> model = s.model.cast<Dual>();
    std::vector<FrameWrench<Dual>> dual_external;
    for (const auto& w : external) dual_external.push_back({w.frame, w.F_F.cast<Dual>()});
    const VectorX<Dual> q = s.q.cast<Dual>(), v = s.v.cast<Dual>(), tau = s.tau.cast<Dual>();
    for (int p = 0; p < count; ++p) {
      Dual d[kBodyParameters] = {};
      d[p % kBodyParameters].tangent[0] = 1;
      Matrix3<Dual> tensor;
      tensor << d[4], d[5], d[7], d[5], d[6], d[8], d[7], d[8], d[9];
      const Model<Dual> heavier = model.with_added_inertia(
          BodyId(p / kBodyParameters + 1), Inertia<Dual>(d[0], {d[1], d[2], d[3]}, tensor));
      const ConstraintSet<Dual> dual_set = constraints(heavier, which);
      ConstraintWorkspace<Dual> dual_work(heavier, dual_set);
      VectorX<Dual> dual_a(n), dual_f(rows);
      constrained_forward_dynamics<Dual>(heavier, dual_set, dual_work, q, v, tau, dual_external,
                                         dual_a, dual_f);
      expected_a.col(p) = testing::derivative(dual_a);
      expected_f.col(p) = testing::derivative(dual_f);
    }
    worst.compare(da, expected_a, "da_dp");
    worst.compare(df, expected_f, "df_dp");
  }
}

// Rows of the active constraints come first; the remaining rows are zero.
TEST(ConstrainedDerivatives, OfASetWithInactiveConstraints) {
  const Sample s = testing::samples(1)[1];
  ConstraintSet<double> set = constraints(s.model, ConstraintCase::points);
  ConstrainedDerivativeWorkspace<double> work(s.model, set);
  ConstrainedDerivatives<double> some(s.model, set);
  set.set_active(0, false);
  constrained_derivatives(s.model, set, work, s.q, s.v, s.tau, some);
  const ConstraintSet<double> second(s.model, {set.contacts()[1]});
  ConstrainedDerivativeWorkspace<double> its_work(s.model, second);
  ConstrainedDerivatives<double> alone(s.model, second);
  constrained_derivatives(s.model, second, its_work, s.q, s.v, s.tau, alone);
  EXPECT_LT(testing::relative(some.da_dq, alone.da_dq), kTolerance);
  EXPECT_LT(testing::relative(some.df_dq.topRows(3), alone.df_dq), kTolerance);
  EXPECT_EQ(some.df_dq.bottomRows(3).norm(), 0);
  EXPECT_EQ(some.f.tail(3).norm(), 0);
}

}  // namespace
}  // namespace limb
