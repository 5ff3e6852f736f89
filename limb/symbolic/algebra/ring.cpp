#include "limb/symbolic/algebra/ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "limb/base/error.hpp"

namespace limb::symbolic {
namespace {

std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  seed = (seed ^ value) * 0x9e3779b97f4a7c15u;
  return seed ^ (seed >> 29);
}

std::uint64_t hash_of(const std::vector<Factor>& factors) {
  std::uint64_t h = 1;
  for (const Factor& f : factors) h = mix(mix(h, f.symbol), static_cast<std::uint64_t>(f.power));
  return h;
}

std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) {
  return (std::uint64_t(a) << 32) | b;
}

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

/// x - 2 floor(x / 2): an angle in half turns, in [0, 2).
Rational modulo_two(const Rational& x) {
  return x - Rational(2) * (x / Rational(2)).floor();
}

}  // namespace

Angle add(const Angle& a, const Angle& b, const Rational& scale) {
  Angle sum;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].symbol < b[j].symbol)) {
      sum.push_back(a[i++]);
    } else if (i == a.size() || b[j].symbol < a[i].symbol) {
      sum.push_back({b[j].symbol, scale * b[j].factor});
      ++j;
    } else {
      Rational factor = a[i].factor + scale * b[j].factor;
      if (!factor.is_zero()) sum.push_back({a[i].symbol, std::move(factor)});
      ++i;
      ++j;
    }
  }
  return sum;
}

std::shared_ptr<Ring> Ring::make(const Limits& limits) {
  return std::shared_ptr<Ring>(new Ring(limits));
}

Ring::Ring(const Limits& limits) : limits_(limits), monomials_(1), angles_(1) {}

SymbolId Ring::add_symbol(Symbol symbol) {
  if (symbol.name.empty()) fail("Ring::add_symbol", "name", "empty", "a name");
  const auto id = static_cast<SymbolId>(symbols_.size());
  if (!symbol_by_name_.emplace(symbol.name, id).second) {
    throw Error(fmt::format("Ring::add_symbol: the name '{}' is already used", symbol.name));
  }
  symbols_.push_back(std::move(symbol));
  return id;
}

SymbolId Ring::add_coordinate(const std::string& name, const std::string& velocity,
                              const std::string& acceleration) {
  using Kind = Symbol::Kind;
  const SymbolId a = add_symbol({acceleration, Kind::acceleration, {}, {}, 0});
  const SymbolId v = add_symbol({velocity, Kind::velocity, {}, a, 0});
  return add_symbol({name, Kind::coordinate, {}, v, 0});
}

std::optional<SymbolId> Ring::find_symbol(std::string_view name) const {
  const auto found = symbol_by_name_.find(std::string(name));
  return found == symbol_by_name_.end() ? std::nullopt : std::optional(found->second);
}

SymbolId Ring::pi() {
  if (const auto found = find_symbol("pi")) return *found;
  return add_symbol({"pi", Symbol::Kind::number, std::numbers::pi, {}, 0});
}

SymbolId Ring::root_of_prime(std::int64_t prime) {
  const std::string name = fmt::format("sqrt({})", prime);
  if (const auto found = find_symbol(name)) return *found;
  return add_symbol({name, Symbol::Kind::number, std::sqrt(static_cast<double>(prime)), {}, prime});
}

MonomialId Ring::intern(std::vector<Factor> factors) {
  if (factors.empty()) return 0;
  std::uint64_t hash = hash_of(factors);
  const std::uint64_t* known = monomial_by_hash_.find_by_hash(
      hash, [&](std::uint64_t id) { return monomials_[id] == factors; });
  if (known != nullptr) return static_cast<MonomialId>(*known);
  if (monomials_.size() >= limits_.monomials) {
    fail_computation("symbolic", fmt::format("more than {} different products of symbols, which "
                                             "is the limit (Ring::Limits::monomials)",
                                             limits_.monomials));
  }
  const auto id = static_cast<MonomialId>(monomials_.size());
  monomials_.push_back(std::move(factors));
  monomial_by_hash_.insert(hash, id);
  return id;
}

MonomialId Ring::multiply(MonomialId a, MonomialId b, Rational& factor) {
  factor = 1;
  if (a == 0) return b;
  if (b == 0) return a;
  const std::uint64_t key = a < b ? pair_key(a, b) : pair_key(b, a);
  if (const std::uint64_t* known = products_.find(key)) {
    if (const std::uint64_t f = *known >> 32; f != 0) factor = product_factors_[f - 1];
    return static_cast<MonomialId>(*known);
  }
  constexpr std::size_t kMaxProducts = 1u << 21;
  if (products_.size() > kMaxProducts) {
    products_.clear();
    product_factors_.clear();
  }
  const MonomialId id = compute_product(a, b, factor);
  std::uint64_t value = id;
  if (!factor.is_one()) {
    product_factors_.push_back(factor);
    value |= std::uint64_t(product_factors_.size()) << 32;
  }
  products_.insert(key, value);
  return id;
}

MonomialId Ring::compute_product(MonomialId a, MonomialId b, Rational& factor) {
  const std::vector<Factor>&x = monomials_[a], &y = monomials_[b];
  std::vector<Factor> product;
  product.reserve(x.size() + y.size());
  std::size_t i = 0, j = 0;
  while (i < x.size() || j < y.size()) {
    if (j == y.size() || (i < x.size() && x[i].symbol < y[j].symbol)) {
      product.push_back(x[i++]);
    } else if (i == x.size() || y[j].symbol < x[i].symbol) {
      product.push_back(y[j++]);
    } else {
      constexpr int kMaxPower = 1'000'000;
      int power = x[i].power + y[j].power;
      if (std::abs(power) > kMaxPower) {
        fail_computation("symbolic", fmt::format("a power of '{}' exceeds {}, which is the limit",
                                                 symbols_[x[i].symbol].name, kMaxPower));
      }
      if (const std::int64_t prime = symbols_[x[i].symbol].radicand; prime != 0 && power == 2) {
        factor *= Rational(prime);
        power = 0;
      }
      if (power != 0) product.push_back({x[i].symbol, power});
      ++i;
      ++j;
    }
  }
  return intern(std::move(product));
}

MonomialId Ring::invert(MonomialId id, Rational& factor) {
  factor = 1;
  std::vector<Factor> factors = monomials_[id];
  for (Factor& f : factors) {
    if (const std::int64_t prime = symbols_[f.symbol].radicand; prime != 0) {
      factor = factor / Rational(prime);  // 1/sqrt(p) = sqrt(p)/p
    } else {
      f.power = -f.power;
    }
  }
  return intern(std::move(factors));
}

// Sines and cosines: docs/derivations/trigonometric_polynomials.md

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
  const Rational sign(negative ? -1 : 1), steps = turns * Rational(12);  // steps of 15 degrees
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
    // Kept in the angle; half turns come before radians in the order of symbols.
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
  constexpr std::size_t kReductionCost = 10;  // costs as much as this many products of terms
  count_products(kReductionCost);
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
  constexpr std::size_t kMaxProducts = 1u << 20;
  if (trig_products_.size() > kMaxProducts) {
    trig_products_.clear();
    trig_sums_.clear();
  }
  append(difference, sine && sine_b);
  append(sum, sine_a && sine_b);
  trig_products_.insert(key, trig_sums_.size());
  trig_sums_.push_back(std::move(result));
  return trig_sums_.back();
}

namespace {
thread_local RingScope* innermost = nullptr;
}

RingScope::RingScope(std::shared_ptr<Ring> ring) : ring_(std::move(ring)), outer_(innermost) {
  innermost = this;
}
RingScope::~RingScope() {
  innermost = outer_;
}
const std::shared_ptr<Ring>& RingScope::current(const char* what) {
  if (innermost == nullptr) {
    throw Error(fmt::format("symbolic: {} needs a ring, expected a RingScope around it", what));
  }
  return innermost->ring_;
}

void Ring::count_terms(std::size_t terms) {
  if (terms > limits_.terms) {
    fail_computation("symbolic",
                     fmt::format("a closed form has {} terms, more than the limit of {} "
                                 "(Ring::Limits::terms)",
                                 terms, limits_.terms));
  }
  if (alive_ + terms > limits_.total_terms) {
    fail_computation("symbolic",
                     fmt::format("the closed forms have more than {} terms together, which is the "
                                 "limit (Ring::Limits::total_terms)",
                                 limits_.total_terms));
  }
  alive_ += terms;
  peak_alive_ = std::max(peak_alive_, alive_);
}

void Ring::count_products(std::size_t products) {
  product_count_ += products;
  if (product_count_ >= next_report_) {
    constexpr std::size_t kInterval = 100'000;
    next_report_ = product_count_ + kInterval;
    report_progress();
  }
  if (product_count_ <= limits_.products) return;
  fail_computation("symbolic", fmt::format("the closed forms need more than {} products of terms, "
                                           "which is the limit (Ring::Limits::products)",
                                           limits_.products));
}

std::size_t Ring::peak_bytes() const {
  constexpr std::size_t kTerm = 24, kMonomial = 120, kProduct = 40;
  return peak_alive_ * kTerm + monomials_.size() * kMonomial + products_.size() * kProduct;
}

}  // namespace limb::symbolic
