#pragma once

#include <algorithm>

#include "limb/control/whole_body/whole_body.hpp"

namespace limb::testing {

/// Largest residuals and violations over all steps of a run.
struct WorstStep {
  QpResiduals residuals;
  double outside_cone = 0, over_limit = 0;
  int iterations = 0, fall_backs = 0, steps = 0, unsolved = 0;

  void add(const WholeBodyReport& r) {
    residuals.stationarity = std::max(residuals.stationarity, r.residuals.stationarity);
    residuals.primal = std::max(residuals.primal, r.residuals.primal);
    residuals.dual = std::max(residuals.dual, r.residuals.dual);
    residuals.complementarity = std::max(residuals.complementarity, r.residuals.complementarity);
    outside_cone = std::max(outside_cone, r.outside_cone);
    over_limit = std::max(over_limit, r.over_limit);
    iterations = std::max(iterations, r.iterations);
    fall_backs += r.fell_back ? 1 : 0;
    unsolved += r.status == Status::ok ? 0 : 1;
    ++steps;
  }
};

}  // namespace limb::testing
