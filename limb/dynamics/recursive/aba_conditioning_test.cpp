// Forward dynamics of robots whose mass matrix has a condition number of up to 1e12: long chains,
// a heavy end on light links, short arms, tiny links on a heavy floating base, slender rods. The
// residual in long double is that of an acceleration rounded to double, whatever the condition
// number: the error of the acceleration is at most the condition number times that.
#include <gtest/gtest.h>

#include <functional>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/testing/forward_residual.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/model/core/builder.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

/// A solid box of this mass, from the joint along x to the next one.
struct Link {
  double mass, length, width;
};
enum class Axes { parallel, alternating, rolling, general };

struct Chain {
  const char* name;
  int links;
  Axes axes;
  double base_mass;  ///< 0: fixed base
  std::function<Link(bool last)> link;
  double condition;  ///< of the worst state, at least
};

std::vector<Chain> chains() {
  const auto same = [](double mass, double length, double width) {
    return [=](bool) { return Link{mass, length, width}; };
  };
  const auto heavy_end = [](double light) {
    return [=](bool last) { return Link{last ? 1 : light, 0.2, 0.02}; };
  };
  const auto short_arms = [](bool last) { return Link{1, last ? 0.5 : 1e-3, 1e-3}; };
  return {{"40 equal links, planar", 40, Axes::parallel, 0, same(1, 0.2, 0.05), 1e5},
          {"40 equal links", 40, Axes::general, 0, same(1, 0.2, 0.05), 1e4},
          {"heavy end 1e5:1, 12 links", 12, Axes::alternating, 0, heavy_end(1e-5), 1e6},
          {"heavy end 1e5:1, 20 links", 20, Axes::general, 0, heavy_end(1e-5), 1e7},
          {"heavy end 1e9:1, 20 links", 20, Axes::general, 0, heavy_end(1e-9), 1e11},
          {"heavy end 1e5:1, floating", 20, Axes::general, 0.01, heavy_end(1e-5), 1e7},
          {"short arms", 20, Axes::general, 0, short_arms, 1e5},
          {"tiny links 1e-3 kg, floating", 12, Axes::alternating, 20, same(1e-3, 0.02, 5e-3), 1e8},
          {"tiny links 1e-5 kg, floating", 20, Axes::general, 20, same(1e-5, 0.02, 5e-3), 1e10},
          {"rods of 1 mm", 8, Axes::rolling, 0, same(1, 1, 1e-3), 1e8},
          {"rods of 0.1 mm, floating", 8, Axes::rolling, 1, same(1, 1, 1e-4), 1e10}};
}

Matrix3<double> box(double mass, const Vector3<double>& edges) {
  const Vector3<double> S = mass / 12 * edges.cwiseAbs2();
  return tensor_from_second_moments<double>(S.asDiagonal().toDenseMatrix());
}

Model<double> model_of(const Chain& chain, testing::Random& random) {
  RobotBuilder<double> b(chain.name);
  if (chain.base_mass > 0) {
    b.link("l0", chain.base_mass, Vector3<double>::Zero(), box(chain.base_mass, {0.4, 0.3, 0.3}));
  } else {
    b.link("l0");
  }
  double before = 0;
  for (int i = 1; i <= chain.links; ++i) {
    const Link link = chain.link(i == chain.links);
    const std::string name = std::to_string(i);
    b.link("l" + name, link.mass, {link.length / 2, 0, 0},
           box(link.mass, {link.length, link.width, link.width}));
    Pose<double> X_PJ;
    X_PJ.p = {before, 0, 0};
    if (chain.axes == Axes::general) X_PJ.R = random.rotation<double>();
    // z, y, x: roll joints are along the rods.
    const int axis = chain.axes == Axes::alternating ? 2 - i % 2
                     : chain.axes == Axes::rolling   ? 2 - i % 3
                                                     : 2;
    b.joint("j" + name, Joint<double>::revolute(Vector3<double>::Unit(axis)),
            "l" + std::to_string(i - 1), "l" + name, X_PJ);
    before = link.length;
  }
  return b.build(chain.base_mass > 0 ? Base::free : Base::fixed);
}

TEST(AbaConditioning, ResidualIsThatOfARoundedAcceleration) {
  testing::Random random(11);
  Worst largest;
  for (const Chain& chain : chains()) {
    SCOPED_TRACE(chain.name);
    const Model<double> model = model_of(chain, random);
    const JointEffects none = JointEffects::none();
    Workspace<double> work(model);
    MassFactor<double> factor(model);
    Worst condition, by_aba, by_factor, entries;
    for (unsigned seed = 1; seed <= 8; ++seed) {
      const testing::State s = testing::random_state(model, seed);
      const Vector tau = Vector::Random(model.nv());
      const testing::ForwardResidual residual(model, s.q, s.v, tau);
      Vector a(model.nv()), x(model.nv()), h(model.nv());
      ASSERT_TRUE(aba(model, work, s.q, s.v, tau, a, none).ok());
      bias(model, work, s.q, s.v, h, none);
      ASSERT_TRUE(factorize_mass(model, work, s.q, factor, none).ok());
      solve_mass(factor, tau - h, x);
      by_aba.add(residual.of(a));
      by_factor.add(residual.of(x));
      entries.add(residual.of_entries(a));
      condition.add(residual.condition());
    }
    EXPECT_GT(condition.value(), chain.condition);
    // Worst seen over random chains: 1.5 eps for aba, 2 eps for the factored mass matrix.
    EXPECT_LT(by_aba.value(), 4 * kEps);
    EXPECT_LT(by_factor.value(), 4 * kEps);
    EXPECT_LT(entries.value(), 16 * kEps);  // worst seen 1.6 eps
    std::printf("%-30s condition %.0e: aba %.2f eps (entries %.1f), crba and factor %.2f eps\n",
                chain.name, condition.value(), by_aba.value() / kEps, entries.value() / kEps,
                by_factor.value() / kEps);
    largest.add(condition.value());
  }
  EXPECT_GT(largest.value(), 1e11);
}

}  // namespace
}  // namespace limb
