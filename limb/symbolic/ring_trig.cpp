#include <fmt/format.h>

#include "limb/base/error.hpp"
#include "limb/symbolic/ring.hpp"

/// How sines and cosines fold. docs/derivations/trigonometric_polynomials.md
namespace limb::symbolic {
namespace {

std::uint64_t angle_hash(const Angle& angle) {
  std::uint64_t h = 1469598103934665603u;
  for (const AnglePart& part : angle) {
    const std::size_t n = part.factor.is_small()
                              ? static_cast<std::size_t>(part.factor.small_numerator()) * 31 +
                                    static_cast<std::size_t>(part.factor.small_denominator())
                              : part.factor.numerator().bits();
    h = (h ^ part.symbol) * 1099511628211u;
    h = (h ^ n) * 1099511628211u;
    h ^= h >> 31;
  }
  return h;
}

/// x - 2 floor(x / 2): an angle in half turns, between 0 and 2.
Rational modulo_two(const Rational& x) {
  return x - Rational(2) * (x / Rational(2)).floor();
}

}  // namespace

TrigId Ring::intern_trig(const Angle& angle, bool sine) {
  std::uint64_t hash = angle_hash(angle);
  const std::uint64_t* known =
      angle_by_hash_.find_by_hash(hash, [&](std::uint64_t id) { return angles_[id] == angle; });
  if (known != nullptr) return static_cast<TrigId>(2 * *known + (sine ? 1 : 0));
  if (angles_.size() >= limits_.monomials) {
    fail_computation("symbolic", fmt::format("more than {} different angles, which is the limit "
                                             "(Ring::Limits::monomials)",
                                             limits_.monomials));
  }
  const auto id = static_cast<std::uint32_t>(angles_.size());
  angles_.push_back(angle);
  angle_by_hash_.insert(hash, id);
  return 2 * id + (sine ? 1 : 0);
}

/// cos or sin of `turns` half turns.
void Ring::fold_constant(Rational turns, bool sine, std::vector<FoldedTerm>& out) {
  if (sine) turns -= Rational(1, 2);  // sin x = cos(x - pi/2)
  turns = modulo_two(turns);
  if (Rational(1) < turns) turns = Rational(2) - turns;
  const bool negative = Rational(1, 2) < turns;
  if (negative) turns = Rational(1) - turns;
  const Rational sign(negative ? -1 : 1), steps = turns * Rational(12);  // of 15 degrees
  if (!steps.is_integer()) {
    out.push_back({sign, 0, intern_trig({{AnglePart::kHalfTurn, turns}}, false)});
    return;
  }
  const auto root = [this](std::int64_t n) {
    if (n == 6) {
      Rational factor;
      const MonomialId two = intern({{root_of_prime(2), 1}});
      return multiply(two, intern({{root_of_prime(3), 1}}), factor);
    }
    return intern({{root_of_prime(n), 1}});
  };
  switch (steps.small_numerator()) {
    case 0:
      out.push_back({sign, 0, 0});
      break;
    case 1:  // (sqrt 6 + sqrt 2) / 4
    case 5:  // (sqrt 6 - sqrt 2) / 4
      out.push_back({sign * Rational(1, 4), root(6), 0});
      out.push_back({sign * Rational(steps.is_one() ? 1 : -1, 4), root(2), 0});
      break;
    case 2:
      out.push_back({sign * Rational(1, 2), root(3), 0});
      break;
    case 3:
      out.push_back({sign * Rational(1, 2), root(2), 0});
      break;
    case 4:
      out.push_back({sign * Rational(1, 2), 0, 0});
      break;
    default:  // cos of a quarter turn
      break;
  }
}

std::vector<FoldedTerm> Ring::fold(Angle angle, bool sine) {
  std::vector<FoldedTerm> out;
  Rational turns;  // the part in half turns
  for (std::size_t i = 0; i < angle.size(); ++i) {
    if (angle[i].symbol != AnglePart::kHalfTurn) continue;
    turns = angle[i].factor;
    angle.erase(angle.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  if (angle.empty()) {
    fold_constant(turns, sine, out);
    return out;
  }
  Rational sign(1);
  if (angle[0].factor.is_negative()) {
    for (AnglePart& part : angle) part.factor = -part.factor;
    turns = -turns;
    if (sine) sign = -1;
  }
  turns = modulo_two(turns);
  while (!(turns < Rational(1, 2))) {  // cos(x + pi/2) = -sin x, sin(x + pi/2) = cos x
    turns -= Rational(1, 2);
    if (!sine) sign = -sign;
    sine = !sine;
  }
  const bool exact = (turns * Rational(12)).is_integer();
  if (!exact) {
    // Kept in the angle; the half turns stand before the radians, as the symbols are ordered.
    const bool radians = angle.back().symbol == AnglePart::kRadian;
    angle.insert(angle.end() - (radians ? 1 : 0), {AnglePart::kHalfTurn, turns});
  }
  if (!exact || turns.is_zero()) {
    out.push_back({sign, 0, intern_trig(angle, sine)});
    return out;
  }
  // cos(x + r) = cos x cos r - sin x sin r,  sin(x + r) = sin x cos r + cos x sin r
  for (const bool other : {false, true}) {
    std::vector<FoldedTerm> constant;
    fold_constant(turns, other, constant);
    const TrigId trig = intern_trig(angle, other != sine);
    for (FoldedTerm& term : constant) {
      const Rational s = !sine && other ? -sign : sign;
      out.push_back({s * term.coefficient, term.monomial, trig});
    }
  }
  return out;
}

const std::vector<FoldedTerm>& Ring::multiply(TrigId a, TrigId b) {
  if (a > b) std::swap(a, b);
  const std::uint64_t key = (std::uint64_t(a) << 32) | b;
  if (const std::uint64_t* known = trig_products_.find(key)) {
    return trig_sums_[static_cast<std::size_t>(*known)];
  }
  constexpr std::size_t kFolding = 10;  // costs about as much as this many products of terms
  work(kFolding);
  const bool sine_a = is_sine(a), sine_b = is_sine(b), sine = sine_a != sine_b;
  const Angle sum = add(angle(a), angle(b), Rational(1));
  const Angle difference = add(angle(a), angle(b), Rational(-1));
  // cos a cos b = (cos(a-b) + cos(a+b))/2     sin a sin b = (cos(a-b) - cos(a+b))/2
  // sin a cos b = (sin(a-b) + sin(a+b))/2     cos a sin b = (sin(a+b) - sin(a-b))/2
  const Rational half(1, 2);
  std::vector<FoldedTerm> result;
  const auto append = [&](const Angle& x, bool negative) {
    for (FoldedTerm& term : fold(x, sine)) {
      term.coefficient *= negative ? -half : half;
      if (!term.coefficient.is_zero()) result.push_back(std::move(term));
    }
  };
  constexpr std::size_t kMostProducts = 1u << 20;
  if (trig_products_.size() > kMostProducts) {
    trig_products_.clear();
    trig_sums_.clear();
  }
  append(difference, sine && sine_b);
  append(sum, sine_a && sine_b);
  trig_products_.insert(key, trig_sums_.size());
  trig_sums_.push_back(std::move(result));
  return trig_sums_.back();
}

}  // namespace limb::symbolic
