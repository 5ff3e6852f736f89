// The templates with other scalars: derivatives along a motion by dual numbers against finite
// differences, and lanes of a pack against one robot at a time.
#include <gtest/gtest.h>

#include "limb/dynamics/constraints/actuation_impl.hpp"
#include "limb/dynamics/constraints/constrained_dynamics_impl.hpp"
#include "limb/dynamics/recursive/crba_impl.hpp"
#include "limb/dynamics/recursive/rnea_impl.hpp"
#include "limb/dynamics/testing/state.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();
// Condition number of J M^-1 J^T 1e3, with a margin.
constexpr double kSolved = 1e5 * kEps;
// Central differences of step h have an error of h^2 times a third derivative, which is large here.
constexpr double kStep = 1e-5;
constexpr double kDifference = 1e4 * kStep * kStep;
using testing::Dual;
using testing::Pack;

template <typename T>
std::vector<Contact<T>> contacts_of(int bodies) {
  std::vector<Contact<T>> contacts;
  for (const int body : {bodies - 1, bodies - 3}) {
    Contact<T> contact{BodyId(body)};
    contact.X_FC.p = {T(0.1), T(-0.2), T(0.3)};
    contact.stabilization = {T(10), T(3)};
    contacts.push_back(contact);
  }
  contacts[1].axes = ContactAxes::world;
  return contacts;
}

/// a and f stacked, at a state of any scalar.
template <typename T>
VectorX<T> solve(const Model<T>& model, const VectorX<T>& q, const VectorX<T>& v) {
  // Compliance keeps rows of bodies with few joints independent: no pivot is near the tolerance.
  ConstrainedOptions options;
  options.compliance = 0.1;
  const ConstraintSet<T> set(model, contacts_of<T>(model.body_count()));
  ConstraintWorkspace<T> work(model, set);
  const int n = model.nv();
  VectorX<T> a(n), f(set.rows()), both(n + set.rows());
  const VectorX<T> tau = VectorX<T>::Constant(n, T(0.5));
  constrained_forward_dynamics<T>(model, set, work, q, v, tau, a, f, options);
  for (int i = 0; i < n; ++i) both[i] = a[i];
  for (int i = 0; i < set.rows(); ++i) both[n + i] = f[i];
  return both;
}

TEST(ConstrainedScalars, DualNumbersDifferentiate) {
  for (const Model<double>& model : testing::random_robots(2)) {
    const testing::State s = testing::random_state(model, 3);
    const Model<Dual> dual_model = model.cast<Dual>();
    const VectorX<Dual> x = solve<Dual>(dual_model, testing::dual_position(dual_model, s.q, s.v),
                                        testing::dual_vector(s.v, s.a));
    const auto at = [&](double t) {
      Vector q(model.nq());
      integrate(model, s.q, t * s.v, q);
      return solve<double>(model, q, s.v + t * s.a);
    };
    EXPECT_LT(testing::relative(testing::value(x), at(0)), kSolved);
    EXPECT_LT(testing::relative(testing::derivative(x), (at(kStep) - at(-kStep)) / (2 * kStep)),
              kDifference);
  }
}

TEST(ConstrainedScalars, LanesOfAPackAreIndependentRobots) {
  const Model<double> model = testing::random_robots(4)[1];
  const Model<Pack> pack_model = model.cast<Pack>();
  VectorX<Pack> q(model.nq()), v(model.nv());
  std::vector<testing::State> states;
  for (int lane = 0; lane < testing::kLanes; ++lane) {
    states.push_back(testing::random_state(model, static_cast<unsigned>(lane) + 1));
    for (Eigen::Index i = 0; i < q.size(); ++i) {
      q[i].lane[static_cast<std::size_t>(lane)] = states.back().q[i];
    }
    for (Eigen::Index i = 0; i < v.size(); ++i) {
      v[i].lane[static_cast<std::size_t>(lane)] = states.back().v[i];
    }
  }
  const VectorX<Pack> x = solve<Pack>(pack_model, q, v);
  for (std::size_t lane = 0; lane < testing::kLanes; ++lane) {
    const Vector expected = solve<double>(model, states[lane].q, states[lane].v);
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(x[i].lane[lane], expected[i], kSolved * (1 + expected.norm()))
          << lane << ' ' << i;
    }
  }
}

TEST(ConstrainedScalars, WrenchesOfDualNumbers) {
  const Model<double> model = testing::random_robots(5)[1];
  const testing::State s = testing::random_state(model, 5);
  const Model<Dual> dual_model = model.cast<Dual>();
  const auto k = testing::kinematics_in_time(dual_model, s);
  const BodyId tip(model.body_count() - 1);
  const Vector6<double> ones = Vector6<double>::Ones();
  const auto F = transfer_wrench<Dual>(dual_model, k, tip,
                                       Force<Dual>::from_vector(ones.cast<Dual>()), BodyId(1));
  const auto at = [&](double t) {
    testing::State moved = s;
    integrate(model, s.q, t * s.v, moved.q);
    return transfer_wrench<double>(model, testing::kinematics_at(model, moved), tip,
                                   Force<double>::from_vector(ones), BodyId(1))
        .vector();
  };
  EXPECT_LT(testing::relative(testing::derivative(F), (at(kStep) - at(-kStep)) / (2 * kStep)),
            kDifference);
}

}  // namespace
}  // namespace limb
