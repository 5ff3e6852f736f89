// Rigid-body inertia as two robotics courses teach it, with their errors corrected: signs of the
// products of inertia, the factor of the hollow cylinder, the effect of moving to the mass centre.
#include <gtest/gtest.h>

#include <limits>

#include "limb/math/inertia_solids.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using namespace testing;
using I = Inertia<double>;
using V3 = Vector3<double>;
using M3 = Matrix3<double>;
using M6 = Matrix6<double>;

constexpr double eps = std::numeric_limits<double>::epsilon();
// Closed forms of a few operations on numbers of similar size: at most ten roundings each.
constexpr double few = 16 * eps;

// A box of width w along x, length l along y, height h along z.
struct Box {
  double m = 2.4, w = 0.5, l = 0.3, h = 0.2;
  I about_com() const { return box_inertia(Mass{m}, {w, l, h}); }
  // About the corner A, from which the box extends along positive x, y, z.
  I about_corner() const { return about_com().transformed({M3::Identity(), V3(w, l, h) / 2}); }
};

TEST(LectureBox, AboutTheMassCentre) {
  const Box box;
  const M3 expected = V3(0.026, 0.058, 0.068).asDiagonal();
  EXPECT_LT((box.about_com().tensor() - expected).norm(), few * expected.norm());
  const double k = box.m / 12;
  EXPECT_NEAR(box.about_com().tensor()(0, 0), k * (box.l * box.l + box.h * box.h), few);
  EXPECT_NEAR(box.about_com().tensor()(1, 1), k * (box.w * box.w + box.h * box.h), few);
  EXPECT_NEAR(box.about_com().tensor()(2, 2), k * (box.l * box.l + box.w * box.w), few);
}

TEST(LectureBox, AboutACornerTheOffDiagonalsAreNegative) {
  const Box box;
  M3 expected;
  expected << 0.104, -0.09, -0.06,  //
      -0.09, 0.232, -0.036,         //
      -0.06, -0.036, 0.272;
  EXPECT_LT((box.about_corner().tensor() - expected).norm(), few * expected.norm());
}

TEST(LectureBox, CornerFormulasHoldForEveryBox) {
  Random random(31);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 100; ++k) {
    const Box box{random.uniform(0.1, 5), random.uniform(0.1, 2), random.uniform(0.1, 2),
                  random.uniform(0.1, 2)};
    const auto [m, w, l, h] = box;
    const M3 expected = tensor_from_entries(m / 3 * (l * l + h * h), m / 3 * (w * w + h * h),
                                            m / 3 * (l * l + w * w), -m / 4 * w * l, -m / 4 * h * w,
                                            -m / 4 * h * l);
    EXPECT_LT((box.about_corner().tensor() - expected).norm(), few * expected.norm());
    // The convention with products as integrals: I_xy = +m/4 w l, and its entry is -I_xy.
    EXPECT_LT((box.about_corner().tensor() -
               tensor_from_products<double>(expected(0, 0), expected(1, 1), expected(2, 2),
                                            m / 4 * w * l, m / 4 * h * w, m / 4 * h * l))
                  .norm(),
              few * expected.norm());
  }
}

TEST(LectureBox, UnitCubeAboutItsCorner) {
  const Box cube{1, 1, 1, 1};
  const auto [moments, R] = principal_axes(cube.about_corner().tensor());
  // 1/6 along the diagonal of the cube, 11/12 across it.
  EXPECT_NEAR(moments[0], 1.0 / 6, few);
  EXPECT_NEAR(moments[1], 11.0 / 12, few);
  EXPECT_NEAR(moments[2], 11.0 / 12, few);
  EXPECT_NEAR(std::abs(R.col(0).sum()), std::sqrt(3.0), few);
}

TEST(LectureParallelAxis, BothDirectionsMomentsAndProducts) {
  const Box box;
  const V3 c = V3(box.w, box.l, box.h) / 2;
  const M3 I_C = box.about_com().tensor(), I_A = box.about_corner().tensor();
  EXPECT_LT((parallel_axis_from_com<double>(I_C, box.m, c) - I_A).norm(), few * I_A.norm());
  EXPECT_LT((parallel_axis_from_com<double>(I_C, box.m, -c) - I_A).norm(), few * I_A.norm());
  EXPECT_LT((parallel_axis_to_com<double>(I_A, box.m, c) - I_C).norm(), few * I_A.norm());
  // Written out: A_Izz = C_Izz + m (x^2 + y^2); the matrix entry A_Ixy = C_Ixy - m x y.
  EXPECT_NEAR(I_A(2, 2), I_C(2, 2) + box.m * (c.x() * c.x() + c.y() * c.y()), few);
  EXPECT_NEAR(I_A(0, 1), I_C(0, 1) - box.m * c.x() * c.y(), few);
}

TEST(LecturePrincipalAxes, MovingToTheMassCentreDiagonalisesOnlyPrincipalAxes) {
  const Box box;
  const M3 R = so3::exp<double>(V3(0.3, -0.4, 0.5));
  const M3 rotated = box.about_com().transformed({R, V3::Zero()}).tensor();
  // About the mass centre, but far from diagonal.
  EXPECT_GT(std::abs(rotated(0, 1)), 0.005);
  const auto [moments, axes] = principal_axes(rotated);
  const V3 expected(0.026, 0.058, 0.068);
  EXPECT_LT((moments - expected).norm(), few * expected.norm());
  // The axes are those of the box, up to their signs.
  EXPECT_LT(((R.transpose() * axes).cwiseAbs() - M3::Identity()).norm(), 64 * eps);
  EXPECT_LT((rotate_tensor<double>(axes.transpose(), rotated) - M3(expected.asDiagonal())).norm(),
            few * expected.norm());
}

TEST(LectureHollowCylinder, HalfTheSumOfSquares) {
  const I tube = hollow_cylinder_inertia(Mass{3.0}, 0.05, 0.08, 0.4);
  EXPECT_NEAR(tube.tensor()(2, 2), 0.01335, few * 0.01335);
  // dI = rho 2 pi r h r^2 dr, summed by the midpoint rule: error (dr)^2, here 1e-8 relative.
  const int n = 10000;
  const double r1 = 0.05, r2 = 0.08, dr = (r2 - r1) / n;
  double inertia = 0, mass = 0;
  for (int k = 0; k < n; ++k) {
    const double r = r1 + (k + 0.5) * dr;
    mass += r * dr;
    inertia += r * r * r * dr;
  }
  EXPECT_NEAR(3 * inertia / mass, 0.01335, 1e-8 * 0.01335);
}

TEST(LectureMassCentre, WeightedMeanOfPoints) {
  const std::vector<PointMass<double>> points = {{1, {1, 0, 0}}, {2, {0, 2, 0}}, {5, {0, 0, -4}}};
  const I body = I::from_point_masses(points);
  EXPECT_EQ(body.mass(), 8);
  EXPECT_EQ(body.com(), V3(0.125, 0.5, -2.5));
}

TEST(LecturePointMasses, MomentsAndProductsAreSums) {
  const std::vector<PointMass<double>> points = {{2, {1, 2, 3}}, {0.5, {-1, 4, 2}}};
  const M3 tensor = I::from_point_masses(points).tensor();
  EXPECT_EQ(tensor(0, 0), 2 * (4 + 9) + 0.5 * (16 + 4));
  EXPECT_EQ(tensor(1, 1), 2 * (1 + 9) + 0.5 * (1 + 4));
  EXPECT_EQ(tensor(2, 2), 2 * (1 + 4) + 0.5 * (1 + 16));
  EXPECT_EQ(tensor(0, 1), -(2 * 1 * 2 + 0.5 * -1 * 4));
  EXPECT_EQ(tensor(0, 2), -(2 * 1 * 3 + 0.5 * -1 * 2));
  EXPECT_EQ(tensor(1, 2), -(2 * 2 * 3 + 0.5 * 4 * 2));
}

TEST(LectureDensity, IntegralOverABoxIsTheSolid) {
  const Box box;
  const double rho = box.m / (box.w * box.l * box.h);
  const int n = 40;
  std::vector<PointMass<double>> cells;
  const V3 cell(box.w / n, box.l / n, box.h / n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) {
        cells.push_back({rho * cell.prod(), V3(i + 0.5, j + 0.5, k + 0.5).cwiseProduct(cell)});
      }
    }
  }
  const I grid = I::from_point_masses(cells);
  // A cell as a point mass omits its m (dy^2 + dz^2) / 12, which is 1/n^2 of the total.
  const M3 missing = box.about_com().tensor() / (n * n);
  const M3 expected = box.about_corner().tensor();
  // 64000 additions; rounding grows like their square root, 250; 32 is a margin.
  EXPECT_LT((grid.tensor() + missing - expected).norm(), 250 * 32 * eps * expected.norm());
}

// Angular before linear, as Modern Robotics writes twists and wrenches.
M6 angular_first(const M6& linear_first) {
  M6 swap = M6::Zero();
  swap.topRightCorner<3, 3>().setIdentity();
  swap.bottomLeftCorner<3, 3>().setIdentity();
  return swap * linear_first * swap;
}

TEST(LectureSpatialInertia, IsBlockDiagonalAtTheMassCentre) {
  const Box box;
  M6 G = M6::Zero();
  G.topLeftCorner<3, 3>() = box.about_com().tensor();
  G.bottomRightCorner<3, 3>() = box.m * M3::Identity();
  EXPECT_EQ(angular_first(box.about_com().matrix()), G);
}

TEST(LectureSpatialInertia, ChangesFrameByTheAdjoint) {
  Random random(32);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 100; ++k) {
    const I I_B = random.body();
    const Pose<double> X_AB = random.pose<double>(2), X_BA = X_AB.inverse();
    // G_a = [Ad_Tba]^T G_b [Ad_Tba], in the order (angular, linear) of the lecture.
    M6 Ad = M6::Zero();
    Ad.topLeftCorner<3, 3>() = Ad.bottomRightCorner<3, 3>() = X_BA.R;
    Ad.bottomLeftCorner<3, 3>() = skew(X_BA.p) * X_BA.R;
    const M6 G_a = Ad.transpose() * angular_first(I_B.matrix()) * Ad;
    const M6 found = angular_first(I_B.transformed(X_AB).matrix());
    EXPECT_LT((found - G_a).norm(), 64 * eps * G_a.norm());
  }
}

TEST(LectureMomentum, IsInertiaTimesTwistAndItsRateIsTheWrench) {
  const Box box;
  const I body = box.about_com();
  const Motion<double> V{{0.4, -0.7, 0.2}, {1.1, 0.3, -0.8}}, A{{0.5, 0.1, -0.9}, {-0.2, 0.6, 1.3}};
  const Force<double> P = body * V;
  EXPECT_LT((P.f - box.m * V.v).norm(), few);
  EXPECT_LT((P.n - body.tensor() * V.w).norm(), few);

  // F = G Vdot - ad_V^T P: Newton and Euler in body axes, m (vdot + w x v) and I wdot + w x I w.
  const Vector6<double> F = body.matrix() * A.vector() - ad(V).transpose() * P.vector();
  EXPECT_LT((F.head<3>() - box.m * (A.v + V.w.cross(V.v))).norm(), few);
  EXPECT_LT((F.tail<3>() - (body.tensor() * A.w + V.w.cross(body.tensor() * V.w))).norm(), few);
  EXPECT_LT((F - (body * A + cross(V, P)).vector()).norm(), few);
}

TEST(LectureMomentum, NeedsTheTensorInTheAxesOfTheVelocity) {
  // Kinetic energy with w in world axes needs R I R^T; the body tensor gives a wrong value.
  const Box box;
  const M3 R = so3::exp<double>(V3(0.6, 0.2, -0.9)), I_B = box.about_com().tensor();
  const V3 w_W(0.3, 1.2, -0.5), w_B = R.transpose() * w_W;
  const double energy = 0.5 * w_B.dot(I_B * w_B);
  EXPECT_NEAR(0.5 * w_W.dot(rotate_tensor(R, I_B) * w_W), energy, few);
  EXPECT_GT(std::abs(0.5 * w_W.dot(I_B * w_W) - energy), 0.05 * energy);
}

}  // namespace
}  // namespace limb
