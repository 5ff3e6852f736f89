#pragma once

#include <algorithm>

#include "limb/base/testing/worst.hpp"
#include "limb/control/whole_body/whole_body.hpp"

namespace limb::testing {

/// Largest residuals and violations over all steps of a run.
struct WorstStep {
  QpResiduals residuals;
  double outside_cone = 0, over_limit = 0;
  int iterations = 0, fall_backs = 0, steps = 0, unsolved = 0;

  void add(const WholeBodyReport& r) {
    residuals.stationarity = worse(residuals.stationarity, r.residuals.stationarity);
    residuals.primal = worse(residuals.primal, r.residuals.primal);
    residuals.dual = worse(residuals.dual, r.residuals.dual);
    residuals.complementarity = worse(residuals.complementarity, r.residuals.complementarity);
    outside_cone = worse(outside_cone, r.outside_cone);
    over_limit = worse(over_limit, r.over_limit);
    iterations = std::max<int>(iterations, r.iterations);
    fall_backs += r.fell_back ? 1 : 0;
    unsolved += r.status == Status::ok ? 0 : 1;
    ++steps;
  }
};

}  // namespace limb::testing
