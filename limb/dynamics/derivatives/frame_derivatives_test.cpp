// Derivatives of frames, centre of mass and centroidal momentum on random trees of all joint types,
// with and without couplings, against dual numbers in the functions themselves (exact to rounding),
// and identities between them.
#include "limb/dynamics/derivatives/frame_derivatives.hpp"

#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/derivatives/centroidal_derivatives.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum_impl.hpp"
#include "limb/dynamics/kinematics/frames_impl.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::Dual;
using testing::Sample;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr FrameAxes kAxes[] = {FrameAxes::local, FrameAxes::local_world_aligned, FrameAxes::world};
constexpr AccelerationKind kKinds[] = {AccelerationKind::spatial, AccelerationKind::classical};
// Chains of a dozen joints, summed in another order. Worst seen: 27 eps.
constexpr double kTolerance = 256 * kEps;

/// Derivatives of f(kinematics of order acceleration) by q, v and a, column by column.
struct ByDuals {
  template <typename F>
  ByDuals(const Sample& s, const Model<Dual>& model, int rows, const F& f)
      : dq(rows, s.v.size()), dv(dq), da(dq) {
    const int n = static_cast<int>(s.v.size());
    const Vector zero = Vector::Zero(n);
    Kinematics<Dual> k(model);
    const auto column = [&](const Vector& q, const Vector& v, const Vector& a, Matrix& out, int i) {
      forward_kinematics<Dual>(model, testing::dual_position(model, s.q, q),
                               testing::dual_vector(s.v, v), testing::dual_vector(s.a, a), k);
      out.col(i) = testing::derivative(f(k));
    };
    for (int i = 0; i < n; ++i) {
      const Vector unit = Vector::Unit(n, i);
      column(unit, zero, zero, dq, i);
      column(zero, unit, zero, dv, i);
      column(zero, zero, unit, da, i);
    }
  }
  Matrix dq, dv, da;
};

Kinematics<double> kinematics_of(const Sample& s) {
  return testing::kinematics_at(s.model, {s.q, s.v, s.a});
}

struct Found {
  explicit Found(int rows, Eigen::Index n) : dq(Matrix::Constant(rows, n, 7)), dv(dq), da(dq) {}
  Matrix dq, dv, da;
};

/// Compares matrices and prints the largest error at the end.
class Comparison {
 public:
  ~Comparison() { std::printf("worst %.0f eps\n", worst_.value() / kEps); }
  void operator()(const Matrix& found, const Matrix& expected) {
    const double error = testing::relative(found, expected);
    EXPECT_LT(error, kTolerance);
    worst_.add(error);
  }

 private:
  Worst worst_;
};

TEST(FrameDerivatives, AgreeWithDualNumbers) {
  Comparison compare;
  for (const Sample& s : testing::samples(4)) {
    SCOPED_TRACE(s.name);
    const Model<Dual> model = s.model.cast<Dual>();
    const Kinematics<double> k = kinematics_of(s);
    Matrix6X<double> dq(6, s.v.size()), dv(dq), da(dq), J(dq);
    for (const int body : {s.model.body_count() - 1, s.model.body_count() / 2}) {
      const Pose<double> X_BF{axis_rotation(1, 0.4) * axis_rotation(0, 0.7), {0.3, -0.2, 0.5}};
      const AnyFrame<double> frame(BodyId(body), X_BF);
      const AnyFrame<Dual> dual_frame(BodyId(body), X_BF.cast<Dual>());
      for (const FrameAxes axes : kAxes) {
        const ByDuals V(s, model, 6, [&](const Kinematics<Dual>& moving) {
          return frame_velocity<Dual>(model, moving, dual_frame, axes).vector();
        });
        frame_velocity_derivatives(s.model, k, frame, axes, dq, dv);
        compare(dq, V.dq);
        compare(dv, V.dv);
        frame_jacobian(s.model, k, frame, axes, J);
        compare(dv, J);
        for (const AccelerationKind kind : kKinds) {
          const ByDuals A(s, model, 6, [&](const Kinematics<Dual>& moving) {
            return frame_acceleration<Dual>(model, moving, dual_frame, axes, kind).vector();
          });
          frame_acceleration_derivatives(s.model, k, frame, axes, kind, dq, dv, da);
          compare(dq, A.dq);
          compare(dv, A.dv);
          compare(da, A.da);
        }
      }
    }
  }
}

TEST(CentroidalDerivatives, AgreeWithDualNumbers) {
  Comparison compare;
  for (const Sample& s : testing::samples(4)) {
    SCOPED_TRACE(s.name);
    const Model<Dual> model = s.model.cast<Dual>();
    const Kinematics<double> k = kinematics_of(s);
    SubtreeScratch<double> scratch(s.model);
    Found v(3, s.v.size()), a(v), h(6, s.v.size()), f(h);
    center_of_mass_velocity_derivatives(s.model, k, scratch, v.dq, v.dv);
    center_of_mass_acceleration_derivatives(s.model, k, scratch, a.dq, a.dv, a.da);
    centroidal_momentum_derivatives(s.model, k, scratch, h.dq, h.dv);
    centroidal_momentum_rate_derivatives(s.model, k, scratch, f.dq, f.dv, f.da);

    const ByDuals dv(s, model, 3, [&](const Kinematics<Dual>& moving) {
      return center_of_mass_velocity(model, moving);
    });
    const ByDuals da(s, model, 3, [&](const Kinematics<Dual>& moving) {
      return center_of_mass_acceleration(model, moving);
    });
    const ByDuals dh(s, model, 6, [&](const Kinematics<Dual>& moving) {
      return centroidal_momentum(model, moving).vector();
    });
    const ByDuals df(s, model, 6, [&](const Kinematics<Dual>& moving) {
      return centroidal_momentum_rate(model, moving).vector();
    });
    compare(v.dq, dv.dq);
    compare(v.dv, dv.dv);
    compare(a.dq, da.dq);
    compare(a.dv, da.dv);
    compare(a.da, da.da);
    compare(h.dq, dh.dq);
    compare(h.dv, dh.dv);
    compare(f.dq, df.dq);
    compare(f.dv, df.dv);
    compare(f.da, df.da);

    // Identities: h = m v_C, hence also the derivatives; dh/dv = A_G; dh/dt = dh/dq v + dh/dv a.
    const double m = s.model.total_mass();
    Matrix6X<double> A_G(6, s.v.size());
    centroidal_matrix(s.model, k, scratch, A_G);
    compare(h.dq.topRows(3), m * v.dq);
    compare(f.dq.topRows(3), m * a.dq);
    compare(f.dv.topRows(3), m * a.dv);
    compare(h.dv, A_G);
    compare(f.da, A_G);
    compare(h.dq * s.v + h.dv * s.a, centroidal_momentum_rate(s.model, k).vector());
    compare(v.dq * s.v + v.dv * s.a, center_of_mass_acceleration(s.model, k));
  }
}

// Far from the world's origin no digits are lost, except in quantities about that origin.
TEST(FrameDerivatives, AreAccurateFarFromTheOrigin) {
  const Model<double> model = load_model("builtin:quadruped");
  Sample near = testing::sample_of("near", model, 3), far = near;
  for (int i = 0; i < 3; ++i) near.q[i] = 0;
  for (int i = 0; i < 3; ++i) far.q[i] = 1e6;
  const FrameId tip(static_cast<int>(model.frames().size()) - 1);
  const Kinematics<double> here = kinematics_of(near), there = kinematics_of(far);
  Found x(6, near.v.size()), y(x);
  for (const FrameAxes axes : {FrameAxes::local, FrameAxes::local_world_aligned}) {
    const auto kind = AccelerationKind::classical;
    frame_acceleration_derivatives(model, here, tip, axes, kind, x.dq, x.dv, x.da);
    frame_acceleration_derivatives(model, there, tip, axes, kind, y.dq, y.dv, y.da);
    EXPECT_LT(testing::relative(y.dq, x.dq), kTolerance);
    EXPECT_LT(testing::relative(y.dv, x.dv), kTolerance);
  }
  SubtreeScratch<double> scratch(model);
  centroidal_momentum_rate_derivatives(model, here, scratch, x.dq, x.dv, x.da);
  centroidal_momentum_rate_derivatives(model, there, scratch, y.dq, y.dv, y.da);
  EXPECT_LT(testing::relative(y.dq, x.dq), kTolerance);
  EXPECT_LT(testing::relative(y.dv, x.dv), kTolerance);
}

TEST(FrameDerivatives, BadInput) {
  const Model<double> model = load_model("builtin:2r");
  Kinematics<double> k(model);
  SubtreeScratch<double> scratch(model);
  const Vector x = Vector::Zero(2);
  Matrix6X<double> good(6, 2), bad(6, 3);
  Matrix3X<double> good3(3, 2), bad3(3, 1);
  const auto axes = FrameAxes::local;
  const auto kind = AccelerationKind::spatial;
  forward_kinematics(model, x, k);
  EXPECT_EQ(
      testing::message([&] { frame_velocity_derivatives(model, k, FrameId(0), axes, good, good); }),
      "frame_velocity_derivatives: these kinematics are incomplete; call "
      "forward_kinematics with q and v first");
  forward_kinematics(model, x, x, k);
  EXPECT_EQ(testing::message(
                [&] { centroidal_momentum_rate_derivatives(model, k, scratch, good, good, good); }),
            "centroidal_momentum_rate_derivatives: these kinematics are incomplete; call "
            "forward_kinematics with q, v and a first");
  forward_kinematics(model, x, x, x, k);
  EXPECT_EQ(testing::message([&] {
              frame_acceleration_derivatives(model, k, FrameId(0), axes, kind, good, bad, good);
            }),
            "frame_acceleration_derivatives: dA_dv is 6 x 3, expected 6 x 2 (a column for each "
            "velocity of the robot)");
  EXPECT_EQ(testing::message(
                [&] { frame_velocity_derivatives(model, k, FrameId(99), axes, good, good); }),
            "frame_velocity_derivatives: frame is 99, expected 0 to " +
                std::to_string(model.frames().size() - 1));
  EXPECT_EQ(testing::message(
                [&] { center_of_mass_velocity_derivatives(model, k, scratch, good3, bad3); }),
            "center_of_mass_velocity_derivatives: dv_dv is 3 x 1, expected 3 x 2 (a column for "
            "each velocity of the robot)");
  const Model<double> other = load_model("builtin:quadruped");
  SubtreeScratch<double> wrong(other);
  EXPECT_EQ(testing::message([&] { centroidal_momentum_derivatives(model, k, wrong, good, good); }),
            "centroidal_momentum_derivatives: scratch is for " +
                std::to_string(other.body_count()) +
                " bodies, expected 3 (make it from the same "
                "model)");
}

}  // namespace
}  // namespace limb
