#pragma once

#include <gtest/gtest.h>

#include "limb/base/testing/sanitized.hpp"
#include "limb/codegen/record/evaluate_impl.hpp"
#include "limb/codegen/testing/back_ends.hpp"
#include "limb/codegen/testing/robot_inputs.hpp"

namespace limb::testing {

inline Batch<double> by_template(const Model<double>& model, DynamicsFunction function,
                                 const FunctionOptions& options, const codegen::Trace& p,
                                 const Batch<double>& in, std::int64_t states) {
  codegen::EvaluateScratch<double> scratch(model);
  Batch<double> out = batch_of(p.outputs, states, 0.0);
  for (std::int64_t i = 0; i < states; ++i) {
    codegen::evaluate<double>(model, function, options, scratch, in.pointers(i, p.inputs).data(),
                              out.pointers(i, p.outputs).data());
  }
  return out;
}

/// Checks that all back ends have the same bits for a function, and the values of its template.
inline void check_back_ends(const Model<double>& model, DynamicsFunction function,
                            std::int64_t states, unsigned seed) {
  SCOPED_TRACE(to_text(function));
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const FunctionOptions options = options_for(model, function);
  const codegen::Trace trace = codegen::trace(model, function, options);
  const Batch<double> in = random_inputs(model, trace, states, seed);
  const Interpreted expected = interpreted(trace, in, states);
  if (codegen::detect_isa() != codegen::Isa::none) {
    EXPECT_EQ(disagreement(trace, in, states, expected), "");
  }

  if (!codegen::is_by_template(function)) return;
  const Batch<double> reference = by_template(model, function, options, trace, in, states);
  // Other rounding order, amplified by the mass matrix's condition where it is inverted (up to 1e4
  // for these robots); worst seen 40 eps, and 3e4 eps with an inverse.
  const bool inverts =
      function == DynamicsFunction::aba || function == DynamicsFunction::mass_inverse;
  for (std::size_t k = 0; k < reference.data.size(); ++k) {
    const double tolerance = (inverts ? 1e6 : 512) * eps;
    EXPECT_LT(relative(expected.f64.data[k], reference.data[k], states), tolerance);
    // Float loses 29 bits.
    EXPECT_LT(relative(expected.f32.data[k], reference.data[k], states), tolerance * 0x1p29);
  }
}

/// Checks all functions of a robot on about a thousand random states, a number that is not a
/// multiple of the lanes. Fewer where one state has more than 1500 results (derivatives of robots
/// with 23 or more degrees of freedom), whose code takes every path in a few blocks. With
/// sanitizers 35 states: blocks of every width, and a remainder.
inline void check_all_functions(const std::string& robot, const Model<double>& model,
                                unsigned seed) {
  SCOPED_TRACE(robot);
  for (int k = 0; k < kFunctionCount; ++k) {
    const auto function = static_cast<DynamicsFunction>(k);
    if (!has_function(model, function)) continue;
    int results = 0;
    for (const codegen::Array& a :
         codegen::signature(model, function, options_for(model, function)).outputs) {
      results += a.size();
    }
    const std::int64_t states = kSanitized ? 35 : results > 1500 ? 103 : 1003;
    check_back_ends(model, function, states, seed);
  }
}

}  // namespace limb::testing
