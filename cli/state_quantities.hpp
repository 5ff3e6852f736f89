#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/state_file.hpp"
#include "limb/dynamics/center_of_mass.hpp"
#include "limb/dynamics/derivative_workspace.hpp"
#include "limb/dynamics/external.hpp"
#include "limb/dynamics/lagrange.hpp"
#include "limb/dynamics/mass_factor.hpp"
#include "limb/dynamics/regressor.hpp"
#include "limb/dynamics/workspace.hpp"
#include "limb/model/convert.hpp"

/// Every quantity that `limb eval` writes, at one state, in the customs of a library.
namespace limb::cli {

/// Names of the quantities of a state, and of each frame.
const std::vector<std::string>& state_fields();
const std::vector<std::string>& frame_fields();

class StateQuantities {
 public:
  /// `convention` null: limb's own. `wanted` empty: everything.
  StateQuantities(Model<double> model, std::unique_ptr<Convention> convention,
                  const JointEffects& effects, std::set<std::string> wanted);

  /// Sizes of q and v in this convention.
  int nq() const;
  int nv() const;
  /// @throws Error if a size, a name or a quaternion is wrong, or the mass matrix is singular.
  nlohmann::json evaluate(const StateInput& input, const std::vector<std::string>& frames);

 private:
  using Vector = VectorX<double>;
  struct State {
    Vector q, v, a, tau;
    Vector a_rest;  ///< limb's acceleration where the convention's is zero
  };

  bool wants(const std::string& field) const { return wanted_.empty() || wanted_.count(field) > 0; }
  State read(const StateInput& input) const;
  Vector to_tau(const State& s, const Vector& tau) const;
  Vector to_a(const State& s, const Vector& a) const;
  MatrixX<double> to_matrix(const State& s, const MatrixX<double>& M) const;
  MatrixX<double> to_jacobian(const State& s, const MatrixX<double>& J) const;
  Vector to_spatial(const Vector6<double>& x) const;
  Vector forward(const State& s, std::span<const FrameWrench<double>> external);
  [[noreturn]] void fail_singular(int velocity) const;

  void add_dynamics(const State& s, nlohmann::json& result);
  void add_matrices(const State& s, nlohmann::json& result);
  void add_derivatives(const State& s, nlohmann::json& result);
  std::vector<int> bodies_in_order() const;
  void add_totals(const State& s, nlohmann::json& result);
  void add_manifold(const State& s, nlohmann::json& result);
  nlohmann::json external(const State& s, const StateInput::External& input);
  nlohmann::json frame(const State& s, const std::string& name);

  Model<double> model_;
  std::unique_ptr<Convention> convention_;
  JointEffects effects_;
  std::set<std::string> wanted_;
  Workspace<double> work_;
  Kinematics<double> kinematics_;  ///< at q, v, a
  Kinematics<double> rest_;        ///< at q, v, a_rest
  SubtreeScratch<double> subtree_;
  LagrangeScratch<double> lagrange_;
  MassFactor<double> factor_;
  DerivativeWorkspace<double> derivatives_;
  RegressorScratch<double> regressor_;
};

}  // namespace limb::cli
