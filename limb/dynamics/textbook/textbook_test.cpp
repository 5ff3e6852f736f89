// The textbook algorithms agree with each other, and with mechanics from first principles.
#include <gtest/gtest.h>

#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/textbook/craig_impl.hpp"
#include "limb/dynamics/textbook/featherstone_impl.hpp"
#include "limb/dynamics/textbook/lagrange_impl.hpp"
#include "limb/dynamics/textbook/modern_robotics_impl.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/scalars.hpp"
#include "limb/model/core/build_model_impl.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/testing/reference_dynamics.hpp"

namespace limb::textbook {
namespace {

using limb::testing::Dual;
using limb::testing::message;
using limb::testing::Pack;
using limb::testing::Sample;
using limb::testing::samples;
using Vector = VectorX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

double relative(const MatrixX<double>& found, const MatrixX<double>& expected) {
  return (found - expected).norm() / (1 + expected.norm()) / kEps;
}

/// Wrenches on three frames of the robot.
std::vector<FrameWrench<double>> wrenches(const Model<double>& model, unsigned seed) {
  limb::testing::Random random(seed);
  std::vector<FrameWrench<double>> external;
  const int frames = static_cast<int>(model.frames().size());
  for (const int id : {0, frames / 2, frames - 1}) {
    external.push_back({FrameId(id), random.force<double>(5)});
  }
  return external;
}

// Sums of up to some 13 bodies with arms of up to 4 m: worst seen 7 eps of the whole result.
constexpr double kTrees = 64;

TEST(Textbook, InverseDynamicsByAllBooks) {
  Worst worst;
  for (const auto& [name, model, q, v, a, tau] : samples(12)) {
    SCOPED_TRACE(name);
    const Coupling<double>& G = model.coupling();
    const Vector expected = G.reduce_force(limb::testing::inverse_dynamics<double>(
        model, G.expand_position(q), G.expand_velocity(v), G.expand_velocity(a)));
    const double errors[] = {relative(featherstone::rnea(model, q, v, a), expected),
                             relative(modern_robotics::inverse_dynamics(model, q, v, a), expected),
                             relative(craig::inverse_dynamics(model, q, v, a), expected)};
    for (const double error : errors) {
      EXPECT_LT(error, kTrees);
      worst.add(error);
    }
  }
  RecordProperty("worst_in_eps", std::to_string(worst.value()));
}

TEST(Textbook, ExternalWrenchesByAllBooks) {
  Worst worst;
  for (const auto& [name, model, q, v, a, tau] : samples(6)) {
    SCOPED_TRACE(name);
    const auto external = wrenches(model, 3);
    const Coupling<double>& G = model.coupling();
    const Vector q_joint = G.expand_position(q);
    Vector expected = featherstone::rnea(model, q, v, a);
    for (const auto& [id, F_F] : external) {
      const Frame<double>& frame = model.frame(id);
      const auto J = limb::testing::body_jacobian<double>(
          model, q_joint, static_cast<std::size_t>(frame.body.value()));
      const Vector joint_force = J.transpose() * frame.X_BF.act(F_F).vector();
      expected -= G.reduce_force(joint_force);
    }
    const double errors[] = {
        relative(featherstone::rnea(model, q, v, a, external), expected),
        relative(modern_robotics::inverse_dynamics(model, q, v, a, external), expected),
        relative(craig::inverse_dynamics(model, q, v, a, external), expected)};
    for (const double error : errors) {
      EXPECT_LT(error, kTrees);
      worst.add(error);
    }
  }
  RecordProperty("worst_in_eps", std::to_string(worst.value()));
}

TEST(Textbook, MassMatrixFromCompositeBodiesAndFromJacobians) {
  Worst worst;
  for (const auto& [name, model, q, v, a, tau] : samples(12)) {
    SCOPED_TRACE(name);
    const MatrixX<double> M = featherstone::crba(model, q);
    EXPECT_LT(relative(M, M.transpose()), kTrees);
    const MatrixX<double> G = model.coupling().matrix();
    const MatrixX<double> expected =
        G.transpose() *
        limb::testing::mass_matrix<double>(model, model.coupling().expand_position(q)) * G;
    for (const double error :
         {relative(M, expected), relative(lagrange::mass_matrix(model, q), expected)}) {
      EXPECT_LT(error, kTrees);
      worst.add(error);
    }
  }
  RecordProperty("worst_in_eps", std::to_string(worst.value()));
}

TEST(Textbook, GravityFromMassCentres) {
  for (const auto& [name, model, q, v, a, tau] : samples(12)) {
    SCOPED_TRACE(name);
    const Vector rest = Vector::Zero(model.nv());
    const Vector expected = featherstone::rnea(model, q, rest, rest);
    EXPECT_LT(relative(lagrange::gravity(model, q), expected), kTrees);
  }
}

// Residual of tau, relative to the largest terms in M a: worst seen 0.1 eps.
TEST(Textbook, ForwardDynamicsUndoesInverseDynamics) {
  Worst worst;
  for (const auto& [name, model, q, v, a, tau] : samples(12)) {
    SCOPED_TRACE(name);
    const auto external = wrenches(model, 5);
    const Vector a_tau = featherstone::aba(model, q, v, tau, external);
    const double terms = featherstone::crba(model, q).norm() * a_tau.norm() + tau.norm();
    const double error =
        (featherstone::rnea(model, q, v, a_tau, external) - tau).norm() / terms / kEps;
    EXPECT_LT(error, 4);
    worst.add(error);
  }
  RecordProperty("worst_in_eps", std::to_string(worst.value()));
}

TEST(Textbook, PosesByProductsOfExponentials) {
  Worst worst;
  for (const auto& [name, model, q, v, a, tau] : samples(12)) {
    SCOPED_TRACE(name);
    const auto found = modern_robotics::forward_kinematics(model, q);
    const auto expected =
        limb::testing::body_poses<double>(model, model.coupling().expand_position(q));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double error = relative(found[i].matrix(), expected[i].matrix());
      EXPECT_LT(error, kTrees);
      worst.add(error);
    }
  }
  RecordProperty("worst_in_eps", std::to_string(worst.value()));
}

// One chain of the book: link frames at the joints, screw axes at home.
TEST(Textbook, ScrewAxesOfAnArmAtHome) {
  const double l1 = 0.7;
  RobotBuilder<double> arm("arm");
  arm.link("base").link("upper", 1, {0.1, 0, 0}, Matrix3<double>::Identity());
  arm.link("slider", 1, {0, 0, 0}, Matrix3<double>::Identity());
  arm.joint("turn", Joint<double>::revolute(Vector3<double>::UnitZ()), "base", "upper",
            {Matrix3<double>::Identity(), {l1, 0, 0}});
  arm.joint("slide", Joint<double>::prismatic(Vector3<double>::UnitY()), "upper", "slider",
            {axis_rotation(2, std::numbers::pi / 2), {0, 0, 1}});
  const auto links = modern_robotics::screw_links(arm.build());
  ASSERT_EQ(links.size(), 2u);
  Vector6<double> S1, S2;
  S1 << 0, 0, 1, 0, -l1, 0;  // v = -w x p
  S2 << 0, 0, 0, -1, 0, 0;   // y of a frame rotated by a quarter turn about z
  EXPECT_LT((links[0].S - S1).norm(), 4 * kEps);
  EXPECT_LT((links[1].S - S2).norm(), 4 * kEps);
  EXPECT_NEAR(links[0].G(1, 1), 1.01, 4 * kEps);  // I + m c_x^2
  EXPECT_NEAR(links[0].G(5, 1), -0.1, 4 * kEps);  // f_z = -m c_x wd_y
}

// d(tau)/dt along the motion by dual numbers, against a central difference: error of order
// step^2 = 1e-10 and of rounding over the step, eps/1e-5.
TEST(Textbook, DualNumbersPassThrough) {
  for (const auto& [name, model, q, v, a, tau] : samples(2)) {
    SCOPED_TRACE(name);
    const Model<Dual> dual_model = model.cast<Dual>();
    const VectorX<Dual> q_dual = limb::testing::integrate_configuration<Dual>(
        dual_model, q.cast<Dual>(), limb::testing::dual<-1, 1>(Vector::Zero(v.size()), v));
    const VectorX<Dual> v_dual = limb::testing::dual<-1, 1>(v, a), a_dual = a.cast<Dual>();
    const double step = 1e-5;
    const auto at = [&, &model = model, &q = q, &v = v, &a = a](double t) {
      return featherstone::rnea(
          model, limb::testing::integrate_configuration<double>(model, q, t * v), v + t * a, a);
    };
    const Vector expected = (at(step) - at(-step)) / (2 * step);
    const VectorX<Dual> results[] = {
        featherstone::rnea(dual_model, q_dual, v_dual, a_dual),
        modern_robotics::inverse_dynamics(dual_model, q_dual, v_dual, a_dual),
        craig::inverse_dynamics(dual_model, q_dual, v_dual, a_dual)};
    for (const VectorX<Dual>& found : results) {
      const Vector rate = limb::testing::derivative<-1, 1>(found);
      EXPECT_LT((rate - expected).norm(), 1e-8 * (1 + expected.norm()));
    }
    const VectorX<Dual> gravity = lagrange::gravity(dual_model, q_dual);
    const Dual energy = lagrange::potential_energy(dual_model, q_dual);
    const double power = limb::testing::value<-1, 1>(gravity).dot(v);  // dP/dt = G v
    EXPECT_NEAR(energy.tangent[0], power, kTrees * kEps * (1 + std::abs(power)));
  }
}

// Four states at once, one per lane: equal to the states one by one.
TEST(Textbook, PacksPassThrough) {
  const Sample s = samples(1)[3];
  const Model<Pack> packs = s.model.cast<Pack>();
  VectorX<Pack> q(s.q.size()), v(s.v.size()), a(s.v.size());
  std::vector<Sample> lanes;
  for (int lane = 0; lane < limb::testing::kLanes; ++lane) {
    lanes.push_back(limb::testing::sample_of("", s.model, static_cast<unsigned>(lane) + 10));
    for (Eigen::Index i = 0; i < q.size(); ++i) q[i].lane[lane] = lanes.back().q[i];
    for (Eigen::Index i = 0; i < v.size(); ++i) v[i].lane[lane] = lanes.back().v[i];
    for (Eigen::Index i = 0; i < a.size(); ++i) a[i].lane[lane] = lanes.back().a[i];
  }
  const VectorX<Pack> tau[] = {featherstone::rnea(packs, q, v, a),
                               modern_robotics::inverse_dynamics(packs, q, v, a),
                               craig::inverse_dynamics(packs, q, v, a)};
  const VectorX<Pack> back = featherstone::aba(packs, q, v, tau[0]);
  const MatrixX<Pack> M = lagrange::mass_matrix(packs, q);
  for (int lane = 0; lane < limb::testing::kLanes; ++lane) {
    const Sample& one = lanes[static_cast<std::size_t>(lane)];
    const Vector expected = featherstone::rnea(one.model, one.q, one.v, one.a);
    const MatrixX<double> M_one = featherstone::crba(one.model, one.q);
    for (Eigen::Index i = 0; i < a.size(); ++i) {
      for (const auto& t : tau) {
        EXPECT_NEAR(t[i].lane[lane], expected[i], kTrees * kEps * (1 + expected.norm()));
      }
      EXPECT_NEAR(M(i, 0).lane[lane], M_one(i, 0), kTrees * kEps * M_one.norm());
      // Two linear solutions with condition numbers of some 1e3.
      EXPECT_NEAR(back[i].lane[lane], one.a[i], 1e3 * kTrees * kEps);
    }
  }
}

TEST(Textbook, ErrorsNameTheCall) {
  const Sample s = samples(1)[2];  // free base
  const Vector shorter = Vector::Zero(s.q.size() - 1);
  const std::string n = std::to_string(s.q.size());
  EXPECT_EQ(message([&] { craig::inverse_dynamics(s.model, shorter, s.v, s.a); }),
            "craig::inverse_dynamics: q has " + std::to_string(s.q.size() - 1) +
                " entries, expected " + n + " (a free joint needs 7 numbers in q but 6 in v)");
  const FrameWrench<double> nowhere[] = {{FrameId(1000), {}}};
  EXPECT_EQ(message([&] { featherstone::rnea(s.model, s.q, s.v, s.a, nowhere); }),
            "featherstone::rnea: frame of external wrench 0 is 1000, expected one of the " +
                std::to_string(s.model.frames().size()) + " frames of the model");

  RobotBuilder<double> empty("empty");
  empty.link("base").link("nothing");
  empty.joint("joint", Joint<double>::revolute(Vector3<double>::UnitZ()), "base", "nothing");
  const Vector one = Vector::Ones(1);
  EXPECT_EQ(message([&] { featherstone::aba(empty.build(), one, one, one); }),
            "featherstone::aba: the mass matrix is singular: no inertia opposes some joint "
            "[computation failed]");
}

}  // namespace
}  // namespace limb::textbook
