#pragma once

#include <random>

#include "limb/symbolic/derive/closed_form.hpp"

/// A robot with its closed forms and access to symbols by name, for tests.
namespace limb::testing {

struct ClosedForms {
  explicit ClosedForms(symbolic::Robot r)
      : robot(std::move(r)),
        scope(robot.ring),
        lagrange(derive_lagrange(robot)),
        newton_euler(derive_newton_euler(robot)) {}
  explicit ClosedForms(const std::string& path, const symbolic::RobotOptions& options = {})
      : ClosedForms(symbolic::load_robot(path, options)) {}

  symbolic::Polynomial operator[](const std::string& name) const {
    const auto id = robot.ring->find_symbol(name);
    if (!id) throw Error("ClosedForms: no symbol is named '" + name + "'");
    return symbolic::Polynomial::symbol(robot.ring, *id);
  }

  symbolic::Robot robot;
  symbolic::RingScope scope;
  symbolic::ClosedForm lagrange;
  symbolic::Vector newton_euler;
};

/// Random values for all symbols except pi and square roots.
inline std::vector<double> random_values(const symbolic::Ring& ring, std::mt19937_64& engine) {
  std::vector<double> values = known_values(ring);
  std::uniform_real_distribution<double> number(-1.5, 1.5);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (ring.symbols()[i].kind != symbolic::Symbol::Kind::number) values[i] = number(engine);
  }
  return values;
}

}  // namespace limb::testing
