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

/// How parameters are told apart: Izz_2 by the number of the body, or Izz(forearm) by its link.
enum class ParameterNames { numbers, links };

struct BaseParameterOptions {
  int states = 0;  ///< random states to look at; 0: enough for the number of parameters
  unsigned seed = 1;
  /// What counts as zero. A parameter is unidentifiable if its column of the regressor is shorter
  /// than this part of the longest, and depends on those before it if what they leave of its column
  /// is shorter than this part of it. Rounding leaves some 1e-14, a robot that moves well 1e-4;
  /// smallest_kept and largest_dropped tell how clear the cut was.
  double tolerance = 1e-9;
  ParameterNames names = ParameterNames::numbers;  ///< in the groups' texts
};

/// The inertial parameters that joint torques of this robot depend on, by a rank-revealing
/// decomposition of the torque regressor at random states inside the joint limits [Gautier 1991,
/// base parameters]. What a body shares with its carrier is counted to the carrier. Torques are
/// those on the robot's own coordinates: couplings join what their joints feel, and a floating base
/// feels all six. Rotors and friction are no part of it. For reports: allocates, O(p^2 n states).
/// @throws Error for an option out of range.
BaseParameters base_parameters(const Model<double>& model,
                               const BaseParameterOptions& options = {});

/// Names of all parameters in the order of inertial_parameters: m_1, mcx_1, mcy_1, mcz_1, Ixx_1,
/// ...
std::vector<std::string> parameter_names(const Model<double>& model,
                                         ParameterNames names = ParameterNames::numbers);

}  // namespace limb
