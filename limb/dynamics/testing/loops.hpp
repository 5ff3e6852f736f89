#pragma once

#include <algorithm>

#include "limb/dynamics/testing/sample.hpp"

namespace limb::testing {

/// A random tree of all joint types with three loops: a pin between two links, a weld between two
/// others, and a weld to the world; and one joint that is a polynomial of another.
inline Description<double> random_tree_with_loops(unsigned seed, bool coupled) {
  RandomTreeOptions options;
  options.joints = 14;
  options.with_couplings = coupled;
  Description<double> robot = random_tree(seed, options);
  Random random(seed + 50);
  for (int i = 0; i < 3; ++i) {
    LoopDescription<double> loop;
    loop.name = std::string("loop") + std::to_string(i);
    loop.kind =
        i == 0 ? LoopDescription<double>::Kind::connect : LoopDescription<double>::Kind::weld;
    loop.link_a = robot.links[static_cast<std::size_t>(2 + 3 * i)].name;
    loop.link_b =
        i == 2 ? std::string(kWorldLink) : robot.links[static_cast<std::size_t>(9 + 2 * i)].name;
    loop.X_AL = random.pose<double>(0.2);
    loop.X_BL = random.pose<double>(0.2);
    robot.loops.push_back(loop);
  }
  std::vector<std::string> scalar;
  for (const auto& joint : robot.joints) {
    const auto follows = [&](const auto& c) { return c.joint == joint.name; };
    const auto& couplings = robot.couplings;
    if (joint_nq(joint.type) != 1) continue;
    if (std::any_of(couplings.begin(), couplings.end(), follows)) continue;
    scalar.push_back(joint.name);
  }
  CouplingDescription<double> polynomial{scalar.back(), {{scalar.front(), 0.7}}, 0.1, {}};
  polynomial.powers = {0.4, -0.3, 0.2};
  robot.couplings.push_back(std::move(polynomial));
  return robot;
}

/// Removes all loops, polynomials included.
inline void remove_loops(Description<double>& robot) {
  robot.loops.clear();
  std::erase_if(robot.couplings, [](const auto& c) { return c.is_polynomial(); });
}

/// Two such robots per seed, on a free base: one without and one with couplings.
inline std::vector<Sample> samples_with_loops(unsigned seeds) {
  std::vector<Sample> all;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    for (const bool coupled : {false, true}) {
      all.push_back(sample_of("seed " + std::to_string(seed) + (coupled ? ", coupled" : ""),
                              build_model(random_tree_with_loops(seed, coupled), Base::free),
                              seed));
    }
  }
  return all;
}

}  // namespace limb::testing
