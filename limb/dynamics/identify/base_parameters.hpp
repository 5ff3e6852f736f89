#pragma once

#include <string>
#include <vector>

#include "limb/dynamics/identify/regressor.hpp"

namespace limb {

/// An identifiable combination of parameters: the leading one with factor 1, and others that appear
/// only together with it.
struct ParameterGroup {
  struct Term {
    int parameter;  ///< index in the vector of inertial_parameters
    double factor;
  };
  std::vector<Term> terms;  ///< the leading one first
  std::string text;         ///< readable form: "Izz_2 + 0.25 m_3"
};

struct BaseParameters {
  std::vector<ParameterGroup> groups;  ///< all identifiable combinations
  std::vector<int> unidentifiable;     ///< parameters that no torque depends on
  /// Groups from parameters: p_base = K p, and torques from groups: tau = Y(:, leading) p_base.
  MatrixX<double> K;
  std::vector<int> leading;
  double smallest_kept = 0, largest_dropped = 0;  ///< pivots, relative to the largest
};

/// How parameters are named: Izz_2 by the number of the body, or Izz(forearm) by its link.
enum class ParameterNames { numbers, links };

struct BaseParameterOptions {
  int states = 0;  ///< number of random states; 0: enough for the number of parameters
  unsigned seed = 1;
  /// Zero threshold. A parameter is unidentifiable if the norm of its regressor column is below
  /// this fraction of the largest, and dependent on those before it if the residual of projecting
  /// its column on theirs is below this fraction of the column. Rounding is some 1e-14, a well
  /// excited robot 1e-4; smallest_kept and largest_dropped show how clear the separation is.
  double tolerance = 1e-9;
  ParameterNames names = ParameterNames::numbers;  ///< in the groups' texts
};

/// Base inertial parameters: the combinations that the joint torques depend on, by a rank-revealing
/// decomposition of the torque regressor at random states inside the joint limits [Gautier 1991,
/// base parameters]. Parameters that a body shares with its parent are assigned to the parent.
/// Torques are generalized forces: those of coupled joints are summed, and a floating base has all
/// six. Armature and friction are not included. For reports: allocates, O(p^2 n states).
/// @throws Error for an option out of range.
BaseParameters base_parameters(const Model<double>& model,
                               const BaseParameterOptions& options = {});

/// Names of all parameters in the order of inertial_parameters: m_1, mcx_1, mcy_1, mcz_1, Ixx_1,
/// ...
std::vector<std::string> parameter_names(const Model<double>& model,
                                         ParameterNames names = ParameterNames::numbers);

}  // namespace limb
