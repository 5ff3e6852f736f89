#include "limb/symbolic/algebra/term_order.hpp"

#include <algorithm>

namespace limb::symbolic {
namespace {

std::string part_text(const Ring& ring, const AnglePart& part, bool first) {
  const bool negative = part.factor.is_negative();
  const Rational size = negative ? -part.factor : part.factor;
  std::string name;
  if (part.symbol == AnglePart::kHalfTurn) {
    name = "pi";
  } else if (part.symbol != AnglePart::kRadian) {
    name = ring.symbol(part.symbol).name;
  }
  std::string text = first ? (negative ? "-" : "") : negative ? " - " : " + ";
  if (name.empty()) return text + size.to_text();
  return text + (size.is_one() ? name : size.to_text() + "*" + name);
}

}  // namespace

std::string to_text(const Ring& ring, TrigId trig) {
  std::string text = Ring::is_sine(trig) ? "sin(" : "cos(";
  bool first = true;
  for (const AnglePart& part : ring.angle(trig)) {
    text += part_text(ring, part, first);
    first = false;
  }
  return text + ")";
}

std::vector<Term> ordered_terms(const Polynomial& x) {
  if (x.is_constant()) {
    if (x.is_zero()) return {};
    return {{0, x.constant()}};
  }
  const Ring& ring = *x.ring();
  std::vector<Term> terms(x.terms().begin(), x.terms().end());
  std::sort(terms.begin(), terms.end(), [&](const Term& a, const Term& b) {
    if (a.monomial() != b.monomial())
      return comes_before(ring.monomial(a.monomial()), ring.monomial(b.monomial()));
    return comes_before(ring, a.trig(), b.trig());
  });
  return terms;
}

bool comes_before(std::span<const Factor> a, std::span<const Factor> b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].symbol != b[i].symbol) return a[i].symbol < b[i].symbol;
    if (a[i].power != b[i].power) return a[i].power > b[i].power;
  }
  return a.size() > b.size();
}

bool comes_before(const Ring& ring, TrigId a, TrigId b) {
  if (a == b || a == 0 || b == 0) return a == 0 && b != 0;
  const Angle &x = ring.angle(a), &y = ring.angle(b);
  if (x == y) return !Ring::is_sine(a);
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (x[i].symbol != y[i].symbol) return x[i].symbol < y[i].symbol;
    if (const int c = compare(x[i].factor, y[i].factor); c != 0) return c < 0;
  }
  return x.size() < y.size();
}

}  // namespace limb::symbolic
