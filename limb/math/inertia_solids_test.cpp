#include "limb/math/inertia_solids.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "limb/base/testing/worst.hpp"
#include "limb/math/inertia_sympy_data.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/math/testing/scalars.hpp"

namespace limb {
namespace {

using namespace testing;
using testing::Dual;
using V3 = Vector3<double>;
using M3 = Matrix3<double>;

constexpr double eps = std::numeric_limits<double>::epsilon();

template <typename T>
constexpr double tolerance() {
  // Closed forms of about ten operations, and the dimensions are rounded; worst measured 2 eps. 8
  // leaves a margin for other compilers.
  return 8 * double(std::numeric_limits<T>::epsilon());
}

template <typename T>
Inertia<T> of_table(const sympy::Solid& solid) {
  const auto& h = solid.first_moment;
  const auto& t = solid.tensor;
  return Inertia<double>(solid.mass, V3(h[0], h[1], h[2]),
                         tensor_from_entries(t[0], t[1], t[2], t[3], t[4], t[5]))
      .template cast<T>();
}

const sympy::Solid& table(std::string_view name) {
  for (const auto& solid : sympy::solids) {
    if (solid.name == name) return solid;
  }
  throw Error("no solid of that name in the table");
}

// Every solid of the table by name, with the dimensions of the table.
template <typename T, typename A>
std::map<std::string, Inertia<T>> all_solids(const A& amount) {
  const T r(0.35), r1(0.25), l(0.9);
  const Vector3<T> size(T(0.5), T(0.3), T(0.2));
  std::map<std::string, Inertia<T>> all = {
      {"box", box_inertia(amount, size)},
      {"cylinder", cylinder_inertia(amount, r, l)},
      {"hollow_cylinder", hollow_cylinder_inertia(amount, r1, r, l)},
      {"sphere", sphere_inertia(amount, r)},
      {"hollow_sphere", hollow_sphere_inertia(amount, r1, r)},
      {"capsule", capsule_inertia(amount, r, l)},
      {"cone", cone_inertia(amount, r, l)},
      {"ellipsoid", ellipsoid_inertia(amount, size)}};
  if constexpr (std::same_as<A, Density<T>>) {
    all["spherical_shell"] = spherical_shell_inertia(amount, r, T(0.01));
  } else {
    all["spherical_shell"] = spherical_shell_inertia(amount, r);
  }
  return all;
}

template <typename T>
class Solids : public ::testing::Test {};
using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Solids, Scalars);

TYPED_TEST(Solids, MatchSymbolicIntegrals) {
  Worst worst;
  for (const auto& [name, solid] : all_solids<TypeParam>(Density<TypeParam>{TypeParam(2.7)})) {
    const double error = relative_error(of_table<TypeParam>(table(name)), solid);
    EXPECT_LT(error, tolerance<TypeParam>()) << name;
    worst.add(error);
  }
  this->RecordProperty("worst_in_eps", std::to_string(8 * worst.value() / tolerance<TypeParam>()));
}

TYPED_TEST(Solids, MassAndDensityAgree) {
  using T = TypeParam;
  const auto dense = all_solids<T>(Density<T>{T(2.7)});
  for (const auto& [name, unit] : all_solids<T>(Mass<T>{T(1)})) {
    const Inertia<T>& expected = dense.at(name);
    const T m = expected.mass();
    const Inertia<T> solid(m * unit.mass(), m * unit.first_moment(), m * unit.tensor());
    EXPECT_LT(relative_error(expected, solid), tolerance<T>()) << name;
  }
}

TEST(SolidsFrame, BoxAboutItsCornerMatchesSymbolicIntegral) {
  const auto corner =
      box_inertia(Density{2.7}, {0.5, 0.3, 0.2}).transformed({M3::Identity(), V3(0.25, 0.15, 0.1)});
  EXPECT_LT(relative_error(of_table<double>(table("box_at_corner")), corner), tolerance<double>());
}

TEST(SolidsFrame, ConeHasItsOriginAtTheBase) {
  const double m = 2, r = 0.35, h = 0.9;
  const auto cone = cone_inertia(Mass{m}, r, h);
  EXPECT_EQ(cone.com().head<2>(), Vector2<double>::Zero());
  EXPECT_NEAR(cone.com().z(), h / 4, eps);
  const M3 expected =
      V3(3 * m / 80 * (4 * r * r + h * h), 3 * m / 80 * (4 * r * r + h * h), 3 * m / 10 * r * r)
          .asDiagonal();
  EXPECT_LT((cone.tensor_about_com() - expected).norm(), 8 * eps * cone.tensor().norm());
}

// Gauss-Legendre points of order five on [a, b], exact to degree nine: enough for every integrand
// below, which in these coordinates is a polynomial.
std::vector<std::pair<double, double>> gauss(double a, double b) {
  const double s = std::sqrt(10.0 / 7), x1 = std::sqrt(5 - 2 * s) / 3,
               x2 = std::sqrt(5 + 2 * s) / 3;
  const double w1 = (322 + 13 * std::sqrt(70.0)) / 900, w2 = (322 - 13 * std::sqrt(70.0)) / 900;
  std::vector<std::pair<double, double>> result;
  for (const auto& [x, w] :
       {std::pair{-x2, w2}, {-x1, w1}, {0.0, 128.0 / 225}, {x1, w1}, {x2, w2}}) {
    result.emplace_back((a + b) / 2 + (b - a) / 2 * x, (b - a) / 2 * w);
  }
  return result;
}

using Profile = std::function<double(double)>;

// A body of revolution between two radii given over z, as point masses of density rho.
void revolve(double rho, double z1, double z2, const Profile& inner, const Profile& outer,
             std::vector<PointMass<double>>& points) {
  constexpr int steps = 8;  // equal steps integrate the harmonics 0 to 7 exactly
  for (const auto& [z, wz] : gauss(z1, z2)) {
    for (const auto& [r, wr] : gauss(inner(z), outer(z))) {
      for (int k = 0; k < steps; ++k) {
        const double phi = 2 * std::numbers::pi * k / steps;
        points.push_back({rho * wz * wr * r * 2 * std::numbers::pi / steps,
                          V3(r * std::cos(phi), r * std::sin(phi), z)});
      }
    }
  }
}

// Radius of a ball around (0, 0, centre).
Profile round(double radius, double centre = 0) {
  return [=](double z) { return std::sqrt(radius * radius - (z - centre) * (z - centre)); };
}

TEST(SolidsQuadrature, EverySolidEqualsItsIntegral) {
  const double rho = 2.7, r = 0.35, r1 = 0.25, l = 0.9;
  const Profile none = [](double) { return 0.0; };
  const auto constant = [](double radius) { return [=](double) { return radius; }; };
  std::map<std::string, std::vector<PointMass<double>>> points;
  revolve(rho, -l / 2, l / 2, none, constant(r), points["cylinder"]);
  revolve(rho, -l / 2, l / 2, constant(r1), constant(r), points["hollow_cylinder"]);
  revolve(rho, -r, r, none, round(r), points["sphere"]);
  revolve(rho, -r, -r1, none, round(r), points["hollow_sphere"]);
  revolve(rho, -r1, r1, round(r1), round(r), points["hollow_sphere"]);
  revolve(rho, r1, r, none, round(r), points["hollow_sphere"]);
  revolve(rho, -l / 2 - r, -l / 2, none, round(r, -l / 2), points["capsule"]);
  revolve(rho, -l / 2, l / 2, none, constant(r), points["capsule"]);
  revolve(rho, l / 2, l / 2 + r, none, round(r, l / 2), points["capsule"]);
  revolve(
      rho, 0, l, none, [=](double z) { return r * (1 - z / l); }, points["cone"]);
  for (const auto& [x, wx] : gauss(-0.25, 0.25)) {
    for (const auto& [y, wy] : gauss(-0.15, 0.15)) {
      for (const auto& [z, wz] : gauss(-0.1, 0.1)) {
        points["box"].push_back({rho * wx * wy * wz, V3(x, y, z)});
      }
    }
  }
  revolve(rho * 0.5 * 0.3 * 0.2, -1, 1, none, round(1), points["ellipsoid"]);
  for (auto& point : points["ellipsoid"]) {
    point.position = point.position.cwiseProduct(V3(0.5, 0.3, 0.2));
  }
  // The shell: area elements of a sphere are equal over equal steps of z.
  for (const auto& [z, wz] : gauss(-r, r)) {
    for (int k = 0; k < 8; ++k) {
      const double phi = 2 * std::numbers::pi * k / 8, across = std::sqrt(r * r - z * z);
      points["spherical_shell"].push_back({rho * 0.01 * r * wz * 2 * std::numbers::pi / 8,
                                           V3(across * std::cos(phi), across * std::sin(phi), z)});
    }
  }
  const auto solids = all_solids<double>(Density{rho});
  ASSERT_EQ(points.size(), solids.size());
  for (const auto& [name, solid] : solids) {
    const auto integral = Inertia<double>::from_point_masses(points[name]);
    // Hundreds of additions, and the products and first moments cancel to 0.
    const double tol = 64 * eps;
    EXPECT_NEAR(solid.mass(), integral.mass(), tol * solid.mass()) << name;
    EXPECT_LT((solid.first_moment() - integral.first_moment()).norm(), tol * solid.mass()) << name;
    EXPECT_LT((solid.tensor() - integral.tensor()).norm(), tol * solid.tensor().norm()) << name;
  }
}

TEST(SolidsIdentity, HollowIsTheSolidMinusItsCavity) {
  Random random(41);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 100; ++k) {
    const double r = random.uniform(0.1, 1), r1 = r * random.uniform(0.1, 0.9),
                 l = random.uniform(0.1, 2);
    const Density rho{random.uniform(1, 1000)};
    // The outer body is at most 1 / (1 - 0.9^2) = 5 times the wall: some digits cancel.
    EXPECT_LT(relative_error(hollow_cylinder_inertia(rho, r1, r, l),
                             cylinder_inertia(rho, r, l) - cylinder_inertia(rho, r1, l)),
              64 * eps);
    EXPECT_LT(relative_error(hollow_sphere_inertia(rho, r1, r),
                             sphere_inertia(rho, r) - sphere_inertia(rho, r1)),
              64 * eps);
  }
}

TEST(SolidsIdentity, LimitsEqualTheSimplerSolid) {
  const Mass m{1.7};
  EXPECT_LT(relative_error(cylinder_inertia(m, 0.3, 0.8), hollow_cylinder_inertia(m, 0, 0.3, 0.8)),
            4 * eps);
  EXPECT_LT(relative_error(sphere_inertia(m, 0.3), hollow_sphere_inertia(m, 0, 0.3)), 4 * eps);
  EXPECT_LT(relative_error(sphere_inertia(m, 0.3), ellipsoid_inertia(m, {0.3, 0.3, 0.3})), 4 * eps);
  EXPECT_LT(relative_error(sphere_inertia(m, 0.3), capsule_inertia(m, 0.3, 0)), 4 * eps);
}

TEST(SolidsIdentity, ThinWallsAreAccurate) {
  // A wall of 1e-12 of the radius: the shell to 1e-12, where subtracting balls has 4 digits left.
  const double t = 0x1p-40;
  const auto wall = hollow_sphere_inertia(Density{2.0}, 1 - t / 2, 1 + t / 2);
  const auto shell = spherical_shell_inertia(Density{2.0}, 1.0, t);
  EXPECT_LT(relative_error(shell, wall), 4 * eps);
  const auto tube = hollow_cylinder_inertia(Density{2.0}, 1 - t / 2, 1 + t / 2, 3.0);
  EXPECT_NEAR(tube.mass(), 2 * 2 * std::numbers::pi * t * 3, 4 * eps * tube.mass());
  EXPECT_NEAR(tube.tensor()(2, 2), tube.mass(), 4 * eps * tube.mass());
}

TEST(SolidsScalar, Differentiate) {
  // d/dr of 2/5 rho 4/3 pi r^5 = 8/3 pi rho r^4.
  const Dual rho(2.0), r(0.3, 1.0);
  const double d = sphere_inertia(Density<Dual>{rho}, r).tensor()(0, 0).tangent[0];
  EXPECT_NEAR(d, 8.0 / 3 * std::numbers::pi * 2 * 0.3 * 0.3 * 0.3 * 0.3, 8 * eps);
  // d/dl of m (3 r^2 + l^2) / 12 = m l / 6.
  const Mass<Dual> m{Dual(3.0)};
  EXPECT_NEAR(cylinder_inertia(m, Dual(0.3), Dual(0.8, 1)).tensor()(0, 0).tangent[0], 3 * 0.8 / 6,
              8 * eps);
  EXPECT_NEAR(box_inertia(m, {Dual(1), Dual(2, 1), Dual(3)}).tensor()(0, 0).tangent[0], 1, 8 * eps);
  EXPECT_NEAR(cone_inertia(m, Dual(0.3), Dual(0.8, 1)).first_moment().z().tangent[0], 0.75,
              8 * eps);
}

TEST(SolidsErrors, NameCallArgumentFoundAndExpected) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Mass m{1.0};
  EXPECT_EQ(message([&] {
              box_inertia(m, {1, -2, 3});
            }),
            "box_inertia: size.y is -2, expected > 0 and finite");
  EXPECT_EQ(message([&] {
              box_inertia(m, {nan, 2, 3});
            }),
            "box_inertia: size.x is nan, expected > 0 and finite");
  EXPECT_EQ(message([&] {
              box_inertia(Mass{-1}, {1, 2, 3});
            }),
            "box_inertia: mass is -1, expected >= 0 and finite");
  EXPECT_EQ(message([&] {
              box_inertia(Density{nan}, {1, 2, 3});
            }),
            "box_inertia: density is nan, expected >= 0 and finite");
  EXPECT_EQ(message([&] { cylinder_inertia(m, 0, 1); }),
            "cylinder_inertia: radius is 0, expected > 0 and finite");
  EXPECT_EQ(message([&] { cylinder_inertia(m, 1, -1); }),
            "cylinder_inertia: length is -1, expected > 0 and finite");
  EXPECT_EQ(message([&] { hollow_cylinder_inertia(m, 0.5, 0.4, 1); }),
            "hollow_cylinder_inertia: inner_radius is 0.5, expected less than outer_radius = 0.4");
  EXPECT_EQ(message([&] { hollow_cylinder_inertia(m, -0.5, 0.4, 1); }),
            "hollow_cylinder_inertia: inner_radius is -0.5, expected >= 0 and finite");
  EXPECT_EQ(message([&] { hollow_cylinder_inertia(m, 0.1, 0.4, 0); }),
            "hollow_cylinder_inertia: length is 0, expected > 0 and finite");
  EXPECT_EQ(message([&] { hollow_sphere_inertia(m, 0.5, 0.5); }),
            "hollow_sphere_inertia: inner_radius is 0.5, expected less than outer_radius = 0.5");
  EXPECT_EQ(message([&] { sphere_inertia(m, 0.0); }),
            "sphere_inertia: radius is 0, expected > 0 and finite");
  EXPECT_EQ(message([&] { spherical_shell_inertia(Density{1.0}, 1.0, 0.0); }),
            "spherical_shell_inertia: thickness is 0, expected > 0 and finite");
  EXPECT_EQ(message([&] { spherical_shell_inertia(m, -1.0); }),
            "spherical_shell_inertia: radius is -1, expected > 0 and finite");
  EXPECT_EQ(message([&] { capsule_inertia(m, 1, -0.1); }),
            "capsule_inertia: length is -0.1, expected >= 0 and finite");
  EXPECT_EQ(message([&] { cone_inertia(m, 1, 0); }),
            "cone_inertia: height is 0, expected > 0 and finite");
  EXPECT_EQ(message([&] {
              ellipsoid_inertia(m, {1, 1, 0});
            }),
            "ellipsoid_inertia: half_axes.z is 0, expected > 0 and finite");
}

}  // namespace
}  // namespace limb
