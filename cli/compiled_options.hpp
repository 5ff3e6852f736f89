#pragma once

#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cli/robot_options.hpp"
#include "cli/table.hpp"
#include "limb/batch/compiled.hpp"

/// Arguments of the verbs about compiled functions: robot, functions, frames, strategy.
namespace limb::cli {

/// For Verb::notes.
#define LIMB_FUNCTION_NOTES                                                          \
  "Functions: rnea bias gravity crba crba_packed (the upper triangle) aba\n"         \
  "mass_inverse centroidal rnea_derivatives aba_derivatives; with --frames:\n"       \
  "frame_poses frame_jacobians operational_space. Execution strategies:\n"           \
  "straight-line code, a recursion over the tree, or (batches of aba_derivatives)\n" \
  "split: straight-line code and matrix products in loops. automatic measures the\n" \
  "strategies for derivatives and uses the fastest.\n"

class CompiledOptions {
 public:
  explicit CompiledOptions(std::string verb) : verb_(std::move(verb)) {}
  void add(CLI::App& app);

  const RobotOptions& robot() const { return robot_; }
  Model<double> model() const;
  std::vector<DynamicsFunction> functions() const;
  /// @throws Error that names the nearest frame if one is unknown.
  CompileOptions options(const Model<double>& model) const;

 private:
  std::string verb_;
  RobotOptions robot_;
  std::vector<std::string> functions_ = {"rnea", "crba", "aba"}, frames_;
  std::string strategy_ = "automatic";
  bool rigid_ = false, nonzeros_ = false;
};

/// The strategy of each function and the reason, as a table and as JSON.
struct StrategyTable {
  StrategyTable(const Compiled& compiled, const std::vector<DynamicsFunction>& functions);
  Table table;
  nlohmann::json json;
};

/// Fills the entries of the argument `name` with random numbers between -1 and 1; q is integrated
/// from the neutral configuration with such velocities, so that quaternions are unit.
void fill_argument(const Model<double>& model, const std::string& name, std::mt19937_64& engine,
                   std::span<double> entries);

}  // namespace limb::cli
