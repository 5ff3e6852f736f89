#pragma once

#include <random>

#include "limb/symbolic/closed_form.hpp"

/// Robots with their closed forms, and symbols by name, for the tests of this room.
namespace limb::testing {

struct Forms {
  explicit Forms(symbolic::Robot r)
      : robot(std::move(r)),
        scope(robot.ring),
        lagrange(derive_lagrange(robot)),
        newton_euler(derive_newton_euler(robot)) {}
  explicit Forms(const std::string& path, const symbolic::RobotOptions& options = {})
      : Forms(symbolic::load_robot(path, options)) {}

  symbolic::Polynomial operator[](const std::string& name) const {
    const auto id = robot.ring->find_symbol(name);
    if (!id) throw Error("Forms: no symbol is named '" + name + "'");
    return symbolic::Polynomial::symbol(robot.ring, *id);
  }

  symbolic::Robot robot;
  symbolic::RingScope scope;
  symbolic::ClosedForm lagrange;
  symbolic::Vector newton_euler;
};

/// Random numbers for all symbols but pi and the roots.
inline std::vector<double> random_values(const symbolic::Ring& ring, std::mt19937_64& engine) {
  std::vector<double> values = known_values(ring);
  std::uniform_real_distribution<double> number(-1.5, 1.5);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (ring.symbols()[i].kind != symbolic::Symbol::Kind::number) values[i] = number(engine);
  }
  return values;
}

}  // namespace limb::testing
