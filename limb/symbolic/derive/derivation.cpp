#include "limb/symbolic/derive/derivation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/base/nearest.hpp"
#include "limb/symbolic/derive/modern_robotics_steps.hpp"

namespace limb::symbolic {

const std::vector<std::string>& quantity_names() {
  static const std::vector<std::string> names = {
      "M", "C", "B", "christoffel", "V", "G", "K", "P", "tau", "J", "Jdot", "Lambda", "mu", "rho"};
  return names;
}

const char* to_text(Quantity quantity) {
  return quantity_names()[static_cast<std::size_t>(quantity)].c_str();
}

Quantity quantity_from_text(const std::string& name) {
  const auto& names = quantity_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    const std::string close = nearest(name, names);
    throw Error(fmt::format("derive: quantity '{}' is not one of: {}{}", name,
                            fmt::join(names, " "),
                            close.empty() ? "" : fmt::format(" (closest: '{}')", close)));
  }
  return static_cast<Quantity>(found - names.begin());
}

namespace {

bool needs_frame(Quantity q) {
  return q >= Quantity::J;
}

std::set<Quantity> requested(const DeriveOptions& options) {
  std::set<Quantity> result = options.quantities;
  if (result.empty()) {
    for (std::size_t i = 0; i < quantity_names().size(); ++i) {
      const auto q = static_cast<Quantity>(i);
      if (!needs_frame(q)) result.insert(q);
    }
    if (!options.frames.empty()) result.insert({Quantity::J, Quantity::Jdot});
  }
  for (const Quantity q : result) {
    if (needs_frame(q) && options.frames.empty()) {
      throw Error(
          fmt::format("derive: {} needs a frame, expected its name (--frames)", to_text(q)));
    }
  }
  return result;
}

ClosedFormParts parts_of(const std::set<Quantity>& quantities) {
  const auto any = [&](std::initializer_list<Quantity> some) {
    return std::any_of(some.begin(), some.end(),
                       [&](Quantity q) { return quantities.contains(q); });
  };
  ClosedFormParts parts;
  parts.velocity = any(
      {Quantity::C, Quantity::B, Quantity::christoffel, Quantity::V, Quantity::tau, Quantity::mu});
  parts.inertia =
      parts.velocity || any({Quantity::M, Quantity::K, Quantity::Lambda, Quantity::rho});
  return parts;
}

std::size_t christoffel_terms(const ClosedForm& f) {
  std::size_t count = 0;
  for (int i = 0; i < f.gamma.size(); ++i) {
    for (int j = 0; j < f.gamma.size(); ++j) {
      for (int k = j; k < f.gamma.size(); ++k) count += f.gamma(i, j, k).size();
    }
  }
  return count;
}

/// Terms of the quantities without frames; parts that are not computed yet have none.
std::size_t form_terms(const ClosedForm& f, const std::set<Quantity>& quantities) {
  std::size_t count = 0;
  for (const Quantity q : quantities) {
    switch (q) {
      case Quantity::M:
        count += term_count(f.M);
        break;
      case Quantity::C:
        count += term_count(f.C);
        break;
      case Quantity::B:
        count += term_count(f.centrifugal) + term_count(f.coriolis);
        break;
      case Quantity::christoffel:
        count += christoffel_terms(f);
        break;
      case Quantity::V:
        count += term_count(f.V);
        break;
      case Quantity::G:
        count += term_count(f.G);
        break;
      case Quantity::K:
        count += f.K.size();
        break;
      case Quantity::P:
        count += f.P.size();
        break;
      case Quantity::tau:
        count += term_count(f.tau);
        break;
      default:
        break;
    }
  }
  return count;
}

void expect_equal(const Vector& a, const Vector& b, const char* names) {
  if (!(a == b)) fail_computation("derive", fmt::format("{} disagree on this robot", names));
}

}  // namespace

bool uses_lagrange(DerivationMethod method) {
  using enum DerivationMethod;
  return method == lagrange || method == both || method == all;
}
bool uses_newton_euler(DerivationMethod method) {
  using enum DerivationMethod;
  return method == newton_euler || method == both || method == all;
}
bool uses_modern_robotics(DerivationMethod method) {
  return method == DerivationMethod::modern_robotics || method == DerivationMethod::all;
}

Derivation derive(Robot robot, const DeriveOptions& options) {
  Derivation d;
  d.method = options.method;
  d.quantities = requested(options);
  d.robot = std::move(robot);
  if (d.method == DerivationMethod::all && !has_screw_axes(d.robot)) {
    d.method = DerivationMethod::both;
    d.robot.notes.push_back(
        "a joint has several degrees of freedom and no screw axis: the route of Modern Robotics is "
        "left out");
  }
  const bool complete = options.complete || uses_modern_robotics(d.method);
  d.parts = complete ? ClosedFormParts{} : parts_of(d.quantities);
  const auto stage = [&](const ClosedForm& form) {
    if (options.max_terms == 0) return;
    const std::size_t terms = form_terms(form, d.quantities);
    if (terms <= options.max_terms) return;
    fail_computation("symbolic", fmt::format("the closed forms have at least {} terms, more than "
                                             "the limit of {} (--max-terms)",
                                             terms, options.max_terms));
  };
  if (uses_lagrange(d.method)) d.form = derive_lagrange(d.robot, d.parts, stage);
  if (uses_newton_euler(d.method)) d.tau_newton_euler = derive_newton_euler(d.robot, d.parts);
  if (uses_modern_robotics(d.method)) {
    const auto links = uses_lagrange(d.method) ? d.form.links : derive_links(d.robot, false);
    d.tau_modern_robotics = modern_robotics_steps(d.robot, links).tau;
  }
  if (!uses_lagrange(d.method)) {
    const Vector& tau = uses_newton_euler(d.method) ? d.tau_newton_euler : d.tau_modern_robotics;
    d.form = closed_form_from_torques(d.robot, tau, d.parts, stage);
  }
  if (uses_newton_euler(d.method)) {
    expect_equal(d.form.tau, d.tau_newton_euler, "Lagrange and Newton-Euler");
  }
  if (uses_modern_robotics(d.method)) {
    expect_equal(d.form.tau, d.tau_modern_robotics, "the routes and that of Modern Robotics");
  }
  for (const std::string& name : options.frames) {
    d.frames.push_back(derive_frame(d.robot, name));
    const bool forces = d.quantities.contains(Quantity::mu) || d.quantities.contains(Quantity::rho);
    if (forces || d.quantities.contains(Quantity::Lambda)) {
      const RingScope scope(d.robot.ring);
      const Vector none = Vector::Constant(d.robot.model.nv(), Polynomial(0));
      const OperationalForces given{d.parts.velocity ? d.form.V : none, d.form.G, d.robot.v()};
      d.lambdas.push_back(
          derive_operational_space_inertia(d.form.M, d.frames.back(), forces ? &given : nullptr));
    }
  }
  return d;
}

std::size_t term_count(const Derivation& d) {
  std::size_t count = form_terms(d.form, d.quantities);
  for (const FrameForm& frame : d.frames) {
    if (d.quantities.contains(Quantity::J)) count += term_count(frame.J);
    if (d.quantities.contains(Quantity::Jdot)) count += term_count(frame.Jdot);
  }
  for (const OperationalSpaceInertia& x : d.lambdas) {
    count += term_count(x.numerator) + x.denominator.size() + term_count(x.mu) + term_count(x.rho);
  }
  return count;
}

}  // namespace limb::symbolic
