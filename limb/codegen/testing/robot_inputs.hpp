#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "limb/codegen/record/function_tracer.hpp"
#include "limb/codegen/testing/run.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/model/core/load.hpp"

/// Functions of robots and states for them, for tests.
namespace limb::testing {

/// q on the manifold; everything else between -1 and 1.
inline Batch<double> random_inputs(const Model<double>& model, const codegen::Trace& trace,
                                   std::int64_t states, unsigned seed) {
  Random random(seed);
  Batch<double> in = batch_of(trace.inputs, states, 0.0);
  for (std::size_t k = 0; k < trace.inputs.size(); ++k) {
    for (double& x : in.data[k]) x = random.uniform(-1, 1);
    if (trace.inputs[k].name != "q") continue;
    const std::size_t nq = static_cast<std::size_t>(model.nq());
    const VectorX<double> neutral = neutral_configuration(model);
    for (std::size_t i = 0; i < static_cast<std::size_t>(states); ++i) {
      const VectorX<double> step = 1.5 * random_numbers(random, model.nv());
      const VectorX<double> q = integrate_configuration<double>(model, neutral, step);
      std::copy(q.begin(), q.end(), in.data[k].begin() + static_cast<std::ptrdiff_t>(i * nq));
    }
  }
  return in;
}

/// The last frame of the model; also the first and the middle one, unless they must be independent.
inline FunctionOptions options_for(const Model<double>& model, DynamicsFunction function) {
  FunctionOptions options;
  const int n = static_cast<int>(model.frames().size());
  options.frames.push_back(FrameId(n - 1));
  if (function == DynamicsFunction::operational_space) return options;
  for (const int f : {0, n / 2}) options.frames.push_back(FrameId(f));
  return options;
}

/// Whether a robot has a function: straight-line code cannot close loops, and a frame that cannot
/// move in six directions has no task inertia.
inline bool has_function(const Model<double>& model, DynamicsFunction function) {
  const bool solves =
      function == DynamicsFunction::aba || function == DynamicsFunction::aba_derivatives;
  if (solves && !model.loops().empty()) return false;
  if (function != DynamicsFunction::operational_space) return true;
  // A robot whose base is a chain of prismatic joints moves in a plane.
  return model.body_count() > 1 &&
         (model.body(BodyId(1)).joint.type() == JointType::free ||
          (model.nv() >= 7 && model.body(BodyId(1)).joint.type() != JointType::prismatic));
}

struct NamedModel {
  std::string name;
  Model<double> model;
};

/// All robots of the folder of reference robots, on a fixed and on a free base, in order of names.
inline std::vector<NamedModel> shared_robots(const std::filesystem::path& shared) {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::recursive_directory_iterator(shared / "robots")) {
    const auto extension = file.path().extension();
    if (extension == ".urdf" || extension == ".xml") files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<NamedModel> robots;
  for (const auto& file : files) {
    const std::string name = file.filename().string();
    if (file.extension() == ".xml") {  // the file defines its base
      robots.push_back({name, load_model(file.string())});
      continue;
    }
    robots.push_back({name + ", fixed base", load_model(file.string(), Base::fixed)});
    robots.push_back({name + ", free base", load_model(file.string(), Base::free)});
  }
  return robots;
}

}  // namespace limb::testing
