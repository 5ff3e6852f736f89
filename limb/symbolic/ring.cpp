#include "limb/symbolic/ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
    throw Error(fmt::format("Ring::add_symbol: the name '{}' is taken already", symbol.name));
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
  constexpr std::size_t kMostProducts = 1u << 21;
  if (products_.size() > kMostProducts) {
    products_.clear();
    product_factors_.clear();
  }
  const MonomialId id = multiply_anew(a, b, factor);
  std::uint64_t value = id;
  if (!factor.is_one()) {
    product_factors_.push_back(factor);
    value |= std::uint64_t(product_factors_.size()) << 32;
  }
  products_.insert(key, value);
  return id;
}

MonomialId Ring::multiply_anew(MonomialId a, MonomialId b, Rational& factor) {
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
      int power = x[i].power + y[j].power;
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

void Ring::count(std::size_t terms) {
  if (terms > limits_.terms) {
    fail_computation("symbolic",
                     fmt::format("a closed form has {} terms, more than the limit of {} "
                                 "(Ring::Limits::terms)",
                                 terms, limits_.terms));
  }
  if (alive_ + terms > limits_.terms_in_all) {
    fail_computation("symbolic",
                     fmt::format("the closed forms have more than {} terms together, which is the "
                                 "limit (Ring::Limits::terms_in_all)",
                                 limits_.terms_in_all));
  }
  alive_ += terms;
  most_alive_ = std::max(most_alive_, alive_);
}

void Ring::work(std::size_t products) {
  worked_ += products;
  if (worked_ <= limits_.products) return;
  fail_computation("symbolic", fmt::format("the closed forms need more than {} products of terms, "
                                           "which is the limit (Ring::Limits::products)",
                                           limits_.products));
}

std::size_t Ring::peak_bytes() const {
  constexpr std::size_t kTerm = 24, kMonomial = 120, kProduct = 40;
  return most_alive_ * kTerm + monomials_.size() * kMonomial + products_.size() * kProduct;
}

}  // namespace limb::symbolic
