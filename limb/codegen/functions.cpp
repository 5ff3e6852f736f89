#include "limb/codegen/functions.hpp"

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

}  // namespace

const char* name(Function function) {
  return kNames[static_cast<int>(function)];
}

Function function_named(std::string_view text) {
  for (int k = 0; k < kFunctionCount; ++k) {
    if (text == kNames[k]) return static_cast<Function>(k);
  }
  const std::vector<std::string> known(std::begin(kNames), std::end(kNames));
  const std::string close = nearest(text, known);
  throw Error("compile: no function is named '" + std::string(text) + "'" +
              (close.empty() ? "" : " (closest: '" + close + "')"));
}

namespace codegen {
namespace {

bool uses_frames(Function f) {
  return f == Function::frame_poses || f == Function::frame_jacobians ||
         f == Function::operational_space;
}

}  // namespace

Signature signature(const Model<double>& model, Function function, const FunctionOptions& options) {
  for (const auto* bodies :
       {&options.added_inertias, &options.shifted_joints, &options.turned_joints}) {
    for (const BodyId body : *bodies) {
      if (body.value() >= 1 && body.value() < model.body_count()) continue;
      fail(name(function), "body of a parameter", std::to_string(body.value()),
           "1 to " + std::to_string(model.body_count() - 1));
    }
  }
  return signature(model.position_size(), model.velocity_size(), function, options);
}

Signature signature(int nq, int n, Function function, const FunctionOptions& options) {
  const int k = static_cast<int>(options.frames.size());
  if (uses_frames(function) && k == 0) {
    fail(name(function), "frames", "none", "at least one", "set FunctionOptions::frames");
  }
  const Array q{"q", nq}, v{"v", n}, a{"a", n}, tau{"tau", n};
  Signature s;
  switch (function) {
    case Function::rnea:
      s = {{q, v, a}, {tau}};
      break;
    case Function::bias:
      s = {{q, v}, {tau}};
      break;
    case Function::gravity:
      s = {{q}, {tau}};
      break;
    case Function::crba:
      s = {{q}, {{"M", n, n, true}}};
      break;
    case Function::crba_packed:
      s = {{q}, {{"M", n * (n + 1) / 2}}};
      break;
    case Function::aba:
      s = {{q, v, tau}, {a}};
      break;
    case Function::mass_inverse:
      s = {{q}, {{"M_inverse", n, n, true}}};
      break;
    case Function::frame_poses:
      s = {{q}, {{"R", 3, 3 * k}, {"p", 3, k}}};
      break;
    case Function::frame_jacobians:
      s = {{q}, {{"J", 6, n * k}}};
      break;
    case Function::centroidal:
      s = {{q}, {{"A_G", 6, n}, {"com", 3}}};
      break;
    case Function::operational_space:
      s = {{q}, {{"Lambda", 6 * k, 6 * k, true}, {"J_bar", n, 6 * k}}};
      break;
    case Function::rnea_derivatives:
      s = {{q, v, a}, {{"dtau_dq", n, n}, {"dtau_dv", n, n}}};
      break;
    case Function::aba_derivatives:
      s = {{q, v, tau}, {{"da_dq", n, n}, {"da_dv", n, n}, {"M_inverse", n, n, true}}};
      break;
  }
  const auto add = [&](const char* parameter, int rows, const std::vector<BodyId>& of) {
    if (of.empty()) return;
    s.inputs.push_back({parameter, rows, static_cast<int>(of.size())});
    ++s.parameters;
  };
  add("added", 10, options.added_inertias);
  add("shifted", 3, options.shifted_joints);
  add("turned", 3, options.turned_joints);
  return s;
}

std::string why_not_straight(std::size_t loops, Function function) {
  if (loops == 0 || (function != Function::aba && function != Function::aba_derivatives)) return "";
  return std::to_string(loops) + (loops == 1 ? " closed loop" : " closed loops") +
         ", whose rank only numbers tell";
}

std::vector<Pattern> whole_patterns(Function function, const std::vector<Array>& results,
                                    Entries entries) {
  std::vector<Pattern> patterns;
  for (const Array& x : results) {
    int rows = x.rows, cols = x.cols;
    bool upper = x.symmetric && entries == Entries::nonzeros;
    if (function == Function::crba_packed) {
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

Trace trace(const Model<double>& model, Function function, const FunctionOptions& options) {
  return FunctionTracer(model, options).trace(function);
}

}  // namespace codegen
}  // namespace limb
