#pragma once

#include <string>
#include <vector>

#include "limb/dynamics/regressor.hpp"

namespace limb {

/// A combination of parameters that motion can tell from the others: the leading one with factor 1,
/// and others that only ever appear together with it.
struct ParameterGroup {
  struct Term {
    int parameter;  ///< index in the vector of inertial_parameters
    double factor;
  };
  std::vector<Term> terms;  ///< the leading one first
  std::string text;         ///< for people: "Izz_2 + 0.25 m_3"
};

struct BaseParameters {
  std::vector<ParameterGroup> groups;  ///< as many as can be identified
  std::vector<int> unidentifiable;     ///< parameters that no torque depends on
  /// Groups from parameters: p_base = K p, and torques from groups: tau = Y(:, leading) p_base.
  MatrixX<double> K;
  std::vector<int> leading;
  double smallest_kept = 0, largest_dropped = 0;  ///< pivots, relative to the largest
};

struct BaseParameterOptions {
  int states = 0;  ///< random states to look at; 0: enough for the number of parameters
  unsigned seed = 1;
  double tolerance = 1e-9;  ///< pivots below this part of the largest count as none
};

/// The inertial parameters that joint torques of this robot depend on, by a rank-revealing
/// decomposition of the torque regressor at random states [Gautier 1991, base parameters]. What
/// a body shares with its carrier is counted to the carrier. For reports: allocates, O(p^2 n
/// states).
/// @throws Error for an option out of range.
BaseParameters base_parameters(const Model<double>& model,
                               const BaseParameterOptions& options = {});

/// Names of all parameters: m_1, mcx_1, mcy_1, mcz_1, Ixx_1, ... with the number of the body.
std::vector<std::string> parameter_names(const Model<double>& model);

}  // namespace limb
