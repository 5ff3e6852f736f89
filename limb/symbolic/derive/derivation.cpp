#include "limb/symbolic/derive/derivation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/base/nearest.hpp"

namespace limb::symbolic {

const std::vector<std::string>& quantity_names() {
  static const std::vector<std::string> names = {"M", "C", "B",   "christoffel", "V",    "G",
                                                 "K", "P", "tau", "J",           "Jdot", "Lambda"};
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
  return q == Quantity::J || q == Quantity::Jdot || q == Quantity::Lambda;
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

}  // namespace

Derivation derive(Robot robot, const DeriveOptions& options) {
  Derivation d;
  d.method = options.method;
  d.quantities = requested(options);
  d.robot = std::move(robot);
  if (options.method != DerivationMethod::lagrange)
    d.tau_newton_euler = derive_newton_euler(d.robot);
  if (options.method == DerivationMethod::newton_euler) {
    d.form = closed_form_from_torques(d.robot, d.tau_newton_euler);
  } else {
    d.form = derive_lagrange(d.robot);
  }
  if (options.method == DerivationMethod::both && !(d.form.tau == d.tau_newton_euler)) {
    fail_computation("derive", "Lagrange and Newton-Euler disagree on this robot");
  }
  for (const std::string& name : options.frames) {
    d.frames.push_back(derive_frame(d.robot, name));
    if (d.quantities.count(Quantity::Lambda) != 0) {
      d.lambdas.push_back(derive_operational_space_inertia(d.form.M, d.frames.back()));
    }
  }
  return d;
}

std::size_t term_count(const Derivation& d) {
  const ClosedForm& f = d.form;
  std::size_t count = 0;
  for (const Quantity q : d.quantities) {
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
        for (int i = 0; i < f.gamma.size(); ++i) {
          for (int j = 0; j < f.gamma.size(); ++j) {
            for (int k = j; k < f.gamma.size(); ++k) count += f.gamma(i, j, k).size();
          }
        }
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
      case Quantity::J:
        for (const FrameForm& frame : d.frames) count += term_count(frame.J);
        break;
      case Quantity::Jdot:
        for (const FrameForm& frame : d.frames) count += term_count(frame.Jdot);
        break;
      case Quantity::Lambda:
        for (const OperationalSpaceInertia& x : d.lambdas)
          count += term_count(x.numerator) + x.denominator.size();
        break;
    }
  }
  return count;
}

}  // namespace limb::symbolic
