#include "limb/codegen/record/functions.hpp"

#include <cmath>

#include "limb/base/nearest.hpp"

namespace limb {
namespace {

constexpr const char* kNames[kFunctionCount] = {"rnea",
                                                "bias",
                                                "gravity",
                                                "crba",
                                                "crba_packed",
                                                "aba",
                                                "mass_inverse",
                                                "frame_poses",
                                                "frame_jacobians",
                                                "centroidal",
                                                "operational_space",
                                                "rnea_derivatives",
                                                "aba_derivatives"};

struct Alias {
  const char* name;
  DynamicsFunction function;
};
constexpr Alias kAliases[] = {{"inverse_dynamics", DynamicsFunction::rnea},
                              {"forward_dynamics", DynamicsFunction::aba},
                              {"mass_matrix", DynamicsFunction::crba},
                              {"inverse_dynamics_derivatives", DynamicsFunction::rnea_derivatives},
                              {"forward_dynamics_derivatives", DynamicsFunction::aba_derivatives}};

}  // namespace

const char* to_text(DynamicsFunction function) {
  return kNames[static_cast<int>(function)];
}

DynamicsFunction dynamics_function_named(std::string_view text) {
  for (int k = 0; k < kFunctionCount; ++k) {
    if (text == kNames[k]) return static_cast<DynamicsFunction>(k);
  }
  std::vector<std::string> known(std::begin(kNames), std::end(kNames));
  for (const Alias& alias : kAliases) {
    if (text == alias.name) return alias.function;
    known.emplace_back(alias.name);
  }
  const std::string close = nearest(text, known);
  throw Error("compile: no function is named '" + std::string(text) + "'" +
              (close.empty() ? "" : " (closest: '" + close + "')"));
}

namespace codegen {
namespace {

bool uses_frames(DynamicsFunction f) {
  return f == DynamicsFunction::frame_poses || f == DynamicsFunction::frame_jacobians ||
         f == DynamicsFunction::operational_space;
}

}  // namespace

Signature signature(const Model<double>& model, DynamicsFunction function,
                    const FunctionOptions& options) {
  for (const auto* bodies :
       {&options.added_inertias, &options.shifted_joints, &options.rotated_joints}) {
    for (const BodyId body : *bodies) {
      if (body.value() >= 1 && body.value() < model.body_count()) continue;
      fail(to_text(function), "body of a parameter", std::to_string(body.value()),
           "1 to " + std::to_string(model.body_count() - 1));
    }
  }
  return signature(model.nq(), model.nv(), function, options);
}

Signature signature(int nq, int n, DynamicsFunction function, const FunctionOptions& options) {
  const int k = static_cast<int>(options.frames.size());
  if (uses_frames(function) && k == 0) {
    fail(to_text(function), "frames", "empty", "at least one", "set FunctionOptions::frames");
  }
  const Array q{"q", nq}, v{"v", n}, a{"a", n}, tau{"tau", n};
  Signature s;
  switch (function) {
    case DynamicsFunction::rnea:
      s = {{q, v, a}, {tau}};
      break;
    case DynamicsFunction::bias:
      s = {{q, v}, {tau}};
      break;
    case DynamicsFunction::gravity:
      s = {{q}, {tau}};
      break;
    case DynamicsFunction::crba:
      s = {{q}, {{"M", n, n, true}}};
      break;
    case DynamicsFunction::crba_packed:
      s = {{q}, {{"M", n * (n + 1) / 2}}};
      break;
    case DynamicsFunction::aba:
      s = {{q, v, tau}, {a}};
      break;
    case DynamicsFunction::mass_inverse:
      s = {{q}, {{"M_inverse", n, n, true}}};
      break;
    case DynamicsFunction::frame_poses:
      s = {{q}, {{"R", 3, 3 * k}, {"p", 3, k}}};
      break;
    case DynamicsFunction::frame_jacobians:
      s = {{q}, {{"J", 6, n * k}}};
      break;
    case DynamicsFunction::centroidal:
      s = {{q}, {{"A_G", 6, n}, {"com", 3}}};
      break;
    case DynamicsFunction::operational_space:
      s = {{q}, {{"Lambda", 6 * k, 6 * k, true}, {"J_bar", n, 6 * k}}};
      break;
    case DynamicsFunction::rnea_derivatives:
      s = {{q, v, a}, {{"dtau_dq", n, n}, {"dtau_dv", n, n}}};
      break;
    case DynamicsFunction::aba_derivatives:
      s = {{q, v, tau}, {{"da_dq", n, n}, {"da_dv", n, n}, {"da_dtau", n, n, true}}};
      break;
  }
  const auto add = [&](const char* parameter, int rows, const std::vector<BodyId>& of) {
    if (of.empty()) return;
    s.inputs.push_back({parameter, rows, static_cast<int>(of.size())});
    ++s.parameters;
  };
  add("added", 10, options.added_inertias);
  add("shifted", 3, options.shifted_joints);
  add("rotated", 3, options.rotated_joints);
  return s;
}

std::string why_not_straight(std::size_t loops, DynamicsFunction function) {
  if (loops == 0 ||
      (function != DynamicsFunction::aba && function != DynamicsFunction::aba_derivatives))
    return "";
  return std::to_string(loops) + (loops == 1 ? " closed loop" : " closed loops") +
         ", whose rank depends on the state";
}

std::vector<Pattern> whole_patterns(DynamicsFunction function, const std::vector<Array>& results,
                                    MatrixEntries entries) {
  std::vector<Pattern> patterns;
  for (const Array& x : results) {
    int rows = x.rows, cols = x.cols;
    bool upper = x.symmetric && entries == MatrixEntries::nonzeros;
    if (function == DynamicsFunction::crba_packed) {
      upper = true;
      rows = cols = static_cast<int>(std::sqrt(2 * x.rows));  // n (n + 1) < (n + 1)^2
    }
    Pattern& p = patterns.emplace_back(rows, cols, upper);
    for (int c = 0; c < cols; ++c) {
      for (int r = 0; r < (upper ? c + 1 : rows); ++r) p.add(r, c);
    }
  }
  return patterns;
}

bool can_split(DynamicsFunction function) {
  return function == DynamicsFunction::aba_derivatives;
}

}  // namespace codegen
}  // namespace limb
