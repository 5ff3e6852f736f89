#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/state_file.hpp"
#include "limb/dynamics/derivatives/derivative_workspace.hpp"
#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/identify/regressor.hpp"
#include "limb/dynamics/kinematics/center_of_mass.hpp"
#include "limb/dynamics/lagrange/christoffel.hpp"
#include "limb/dynamics/recursive/external.hpp"
#include "limb/dynamics/recursive/workspace.hpp"
#include "limb/model/convert/convert.hpp"

/// All quantities that `limb eval` writes, at one state, in the convention of a library.
namespace limb::cli {

/// Short names of the quantities of a state and of a frame: those of Pinocchio and of the golden
/// files.
const std::vector<std::string>& state_fields();
const std::vector<std::string>& frame_fields();
/// Further quantities of a state and of a frame, which are computed only if they are named, and
/// only in the convention of limb.
const std::vector<std::string>& named_fields();

/// A name of the library's vocabulary, which Python has too, and the fields it selects.
struct QuantityName {
  std::string name;
  std::vector<std::string> fields;
};
const std::vector<QuantityName>& quantity_names();

class StateQuantities {
 public:
  /// A null `convention` is that of limb; an empty `requested` means all quantities.
  /// @param short_names  fields whose keys are their short names; those of all others are the names
  ///                     of the library: {"mass_matrix": [[]], "frames": {"tool":
  ///                     {"frame_jacobian":
  ///                     {"local": [[]]}}}} for M and J_local.
  StateQuantities(Model<double> model, std::unique_ptr<Convention> convention,
                  const JointEffects& effects, std::set<std::string> requested,
                  std::set<std::string> short_names, std::vector<int> task_rows);

  /// Sizes of q and v in this convention.
  int nq() const;
  int nv() const;
  /// The quantities under their short names.
  /// @throws Error if a size, a name or a quaternion is wrong, or the mass matrix is singular.
  nlohmann::json evaluate(const StateInput& input, const std::vector<std::string>& frames);
  /// The same values under the keys of the output.
  nlohmann::json with_names(const nlohmann::json& fields) const;

 private:
  using Vector = VectorX<double>;
  struct State {
    Vector q, v, a, tau;
    Vector a_zero;  ///< limb's acceleration if that of the convention is zero
  };

  bool is_requested(const std::string& field) const {
    return requested_.empty() || requested_.count(field) > 0;
  }
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
  void add_named(const State& s, const StateInput& input, nlohmann::json& result);
  FrameWrench<double> wrench_of(const StateInput::External& input) const;
  nlohmann::json external(const State& s, const StateInput::External& input);
  nlohmann::json frame(const State& s, const std::string& name);
  nlohmann::json operational(const State& s, FrameId id);

  Model<double> model_;
  std::unique_ptr<Convention> convention_;
  JointEffects effects_;
  std::set<std::string> requested_, short_names_;
  std::vector<int> task_rows_;  ///< of operational_space
  Workspace<double> work_;
  Kinematics<double> kinematics_;         ///< at q, v, a
  Kinematics<double> zero_acceleration_;  ///< at q, v, a_zero
  SubtreeScratch<double> subtree_;
  LagrangeScratch<double> lagrange_;
  MassFactor<double> factor_;
  DerivativeWorkspace<double> derivatives_;
  RegressorScratch<double> regressor_;
};

}  // namespace limb::cli
