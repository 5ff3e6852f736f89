#pragma once

#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cli/robot_options.hpp"
#include "cli/table.hpp"
#include "limb/batch/compiled.hpp"

/// The arguments of the verbs about compiled functions: the robot, which functions, which frames.
namespace limb::cli {

/// For Verb::notes.
#define LIMB_FUNCTION_NOTES                                                        \
  "Functions: rnea bias gravity crba crba_packed (the upper triangle) aba\n"       \
  "mass_inverse centroidal rnea_derivatives aba_derivatives; with --frames:\n"     \
  "frame_poses frame_jacobians operational_space. Forms: straight-line code, a\n"  \
  "recursion over the tree, or (aba_derivatives, batches) split into a straight\n" \
  "line and products in loops; automatic measures them for derivatives.\n"

class CompiledOptions {
 public:
  explicit CompiledOptions(std::string verb) : verb_(std::move(verb)) {}
  void add(CLI::App& app);

  const RobotOptions& robot() const { return robot_; }
  Model<double> model() const;
  std::vector<Function> functions() const;
  /// @throws Error with the nearest frame.
  CompileOptions options(const Model<double>& model) const;

 private:
  std::string verb_;
  RobotOptions robot_;
  std::vector<std::string> functions_ = {"rnea", "crba", "aba"}, frames_;
  std::string form_ = "automatic";
  bool rigid_ = false, nonzeros_ = false;
};

/// Which form each function has, and why: a table and JSON.
struct Forms {
  Forms(const Compiled& compiled, const std::vector<Function>& functions);
  Table table;
  nlohmann::json json;
};

/// Entries of an argument named so: numbers between -1 and 1, positions that far from the neutral
/// one, so that quaternions are unit.
void fill_argument(const Model<double>& model, const std::string& name, std::mt19937_64& engine,
                   std::span<double> entries);

}  // namespace limb::cli
