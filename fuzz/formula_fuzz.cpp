// Any bytes as a formula of a recipe: evaluate it with numbers, and exactly with symbols.
#include <cmath>

#include "fuzz/target.hpp"
#include "limb/base/error.hpp"
#include "limb/symbolic/algebra/scalar.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace limb;
  using symbolic::Polynomial;
  const std::string_view text = fuzz::as_text(data, size);
  RecipeExpression::Problem problem;
  const auto formula = RecipeExpression::parse(text, problem);
  if (!formula) {
    fuzz::require(!problem.message.empty());
    fuzz::require(problem.column >= 1 && problem.column <= text.size() + 1);
    return 0;
  }
  const double value = evaluate<double>(*formula, [](const std::string&) { return 0.5; });

  // Small limits: the time grows with them.
  symbolic::RingLimits limits;
  limits.terms = limits.monomials = 40;
  limits.total_terms = limits.products = 400;
  const auto ring = symbolic::Ring::make(limits);
  const symbolic::RingScope scope(ring);
  try {
    const Polynomial exact = evaluate<Polynomial>(*formula, [&](const std::string& name) {
      const auto known = ring->find_symbol(name);
      return Polynomial::symbol(
          ring,
          known ? *known : ring->add_symbol({name, symbolic::Symbol::Kind::parameter, 0.5, {}, 0}));
    });
    fuzz::require(!to_text(exact).empty());
    // Rounding and cancellation can make any difference, but a plain number is read exactly.
    if (formula->instructions().size() == 1 && exact.is_constant() && std::isfinite(value)) {
      fuzz::require(exact.constant().to_double() == value);
    }
  } catch (const Error&) {  // division by zero or by a sum, or a limit
  }
  return 0;
}
