#pragma once

#include <cmath>
#include <string>

#include "limb/base/testing/worst.hpp"
#include "limb/math/inertia.hpp"

namespace limb::testing {

/// The text of the Error that the call throws, followed by " [computation failed]" if it is of that
/// kind; "no error" if it throws none.
template <typename Call>
std::string message(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    const bool failed = error.kind() == Error::Kind::computation_failed;
    return error.what() + std::string(failed ? " [computation failed]" : "");
  }
  return "no error";
}

/// Largest error of mass, first moment and tensor, each relative to its size in a.
template <typename T>
double relative_error(const Inertia<T>& a, const Inertia<T>& b) {
  const auto part = [](double difference, double size) {
    return size > 0 ? difference / size : difference;
  };
  const double mass = part(std::abs(double(a.mass() - b.mass())), std::abs(double(a.mass())));
  const double first =
      part(double((a.first_moment() - b.first_moment()).norm()), double(a.first_moment().norm()));
  const double tensor = part(double((a.tensor() - b.tensor()).norm()), double(a.tensor().norm()));
  Worst worst;
  worst.add(mass, first, tensor);
  return worst.value();
}

}  // namespace limb::testing
