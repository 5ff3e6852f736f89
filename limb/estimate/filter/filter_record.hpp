#pragma once

#include <utility>
#include <vector>

#include "limb/math/scalar.hpp"

namespace limb {

/// The operations of a filter on its errors, in order: what a backward pass over them needs. For
/// offline use: it allocates.
struct FilterRecord {
  enum class Kind {
    transition,  ///< e <- F e + noise; the number of errors may change
    update,      ///< e <- e - K (H e + noise), with the residual of the measurement
    restart,     ///< the state was set: errors before and after are independent
  };
  struct Step {
    Kind kind{};
    MatrixX<double> F;
    MatrixX<double> H, K, PHt;  ///< rows x n; n x rows; P H^T before the update
    MatrixX<double> noise;      ///< covariance of the measurement
    VectorX<double> residual;
  };
  std::vector<Step> steps;

  void add_transition(MatrixX<double> F) {
    steps.emplace_back();
    steps.back().kind = Kind::transition;
    steps.back().F = std::move(F);
  }
  /// A step with zero H, noise and residual.
  Step& add_update(int errors, int rows) {
    steps.emplace_back();
    Step& step = steps.back();
    step.kind = Kind::update;
    step.H.setZero(rows, errors);
    step.noise.setZero(rows, rows);
    step.residual.setZero(rows);
    return step;
  }
  void add_restart() {
    steps.emplace_back();
    steps.back().kind = Kind::restart;
  }
};

}  // namespace limb
