#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "limb/symbolic/algebra/flat_map.hpp"
#include "limb/symbolic/algebra/rational.hpp"

/// The ring in which closed forms are computed: its symbols, and every product of powers and every
/// angle that has occurred, each stored once and identified by an index. A term is a coefficient
/// and two such indices, and equal terms are found by comparing integers.
namespace limb::symbolic {

/// Index of a symbol in its ring, in order of creation.
using SymbolId = std::uint32_t;

struct Symbol {
  enum class Kind {
    parameter,     ///< mass, length, inertia, constant angle, g
    coordinate,    ///< angle or displacement of a joint
    velocity,      ///< time derivative of a coordinate
    acceleration,  ///< second time derivative of a coordinate
    number,        ///< pi and the square roots of primes
  };
  std::string name;
  Kind kind = Kind::parameter;
  std::optional<double> value;   ///< if the file gives one
  std::optional<SymbolId> rate;  ///< its time derivative; empty for a constant
  std::int64_t radicand = 0;     ///< the prime, for a square root
};

/// symbol^power
struct Factor {
  SymbolId symbol;
  int power;
  friend bool operator==(const Factor&, const Factor&) = default;
};

/// factor * symbol in an angle. kRadian denotes the number 1, kHalfTurn denotes pi.
struct AnglePart {
  static constexpr SymbolId kHalfTurn = 0xfffffffe, kRadian = 0xffffffff;
  SymbolId symbol;
  Rational factor;
  friend bool operator==(const AnglePart&, const AnglePart&) = default;
};
using Angle = std::vector<AnglePart>;  ///< sorted by symbol, without zeros

using MonomialId = std::uint32_t;  ///< 0: no symbols
using TrigId = std::uint32_t;      ///< 0: the number 1; 2 a: cos(angle a); 2 a + 1: sin(angle a)

/// coefficient * monomial * trig: one term of a sine, a cosine or a product of two of them after
/// reduction to the canonical form.
struct FoldedTerm {
  Rational coefficient;
  MonomialId monomial = 0;
  TrigId trig = 0;
};

struct RingLimits {
  std::size_t terms = 1'000'000;         ///< of one value
  std::size_t total_terms = 10'000'000;  ///< of all live values, at least 24 bytes each
  /// Products of two terms in total, with sums and reductions counted by their cost: a bound on the
  /// run time, at several million per second.
  std::size_t products = 50'000'000;
  std::size_t monomials = 4'000'000;  ///< different products of powers; also different angles
};

/// Not thread-safe: use one ring per thread.
class Ring : public std::enable_shared_from_this<Ring> {
 public:
  using Limits = RingLimits;
  static std::shared_ptr<Ring> make(const Limits& limits = {});

  const Limits& limits() const { return limits_; }

  /// Called about every 100 000 products of terms with their number so far, and by
  /// report_progress(); it may throw to end the computation.
  using Progress = std::function<void(std::size_t products)>;
  void set_progress(Progress progress) { progress_ = std::move(progress); }
  /// For long computations without products, such as typesetting.
  void report_progress() const {
    if (progress_) progress_(product_count_);
  }

  /// Adds a symbol. @throws Error if the name is empty or already used.
  SymbolId add_symbol(Symbol symbol);
  /// Coordinate `name` with velocity and acceleration, e.g. q1, qd1, qdd1.
  SymbolId add_coordinate(const std::string& name, const std::string& velocity,
                          const std::string& acceleration);
  std::optional<SymbolId> find_symbol(std::string_view name) const;
  const std::vector<Symbol>& symbols() const { return symbols_; }
  const Symbol& symbol(SymbolId id) const { return symbols_[id]; }
  /// pi and the square root of a prime; created on first use.
  SymbolId pi();
  SymbolId root_of_prime(std::int64_t prime);

  const std::vector<Factor>& monomial(MonomialId id) const { return monomials_[id]; }
  MonomialId intern(std::vector<Factor> factors);
  /// Product of two monomials; the prime of a squared square root is returned in `factor`.
  MonomialId multiply(MonomialId a, MonomialId b, Rational& factor);
  /// monomial^-1
  MonomialId invert(MonomialId id, Rational& factor);

  const Angle& angle(TrigId id) const { return angles_[id / 2]; }
  static bool is_sine(TrigId id) { return id % 2 == 1; }
  /// cos or sin of an angle in canonical form: exact at multiples of 15 degrees, quarter turns
  /// removed, the first factor of the angle positive.
  std::vector<FoldedTerm> fold(Angle angle, bool sine);
  /// Product of two sines or cosines as a sum of them; valid until the next call.
  const std::vector<FoldedTerm>& multiply(TrigId a, TrigId b);

  /// Counts the terms of live values. @throws Error beyond the limits.
  void count_terms(std::size_t terms);
  void release_terms(std::size_t terms) { alive_ -= terms; }
  /// Counts products of terms. @throws Error beyond the limit.
  void count_products(std::size_t products);
  std::size_t terms_alive() const { return alive_; }
  std::size_t peak_terms_alive() const { return peak_alive_; }
  /// Peak memory in bytes: terms, monomials, tables.
  std::size_t peak_bytes() const;

 private:
  explicit Ring(const Limits& limits);
  TrigId intern_trig(const Angle& angle, bool sine);
  MonomialId compute_product(MonomialId a, MonomialId b, Rational& factor);
  void fold_constant(Rational turns, bool sine, std::vector<FoldedTerm>& out);

  Limits limits_;
  std::vector<Symbol> symbols_;
  std::unordered_map<std::string, SymbolId> symbol_by_name_;
  std::vector<std::vector<Factor>> monomials_;
  FlatMap monomial_by_hash_;
  FlatMap products_;  ///< pair of monomials -> monomial, and 1 + index of its factor
  std::vector<Rational> product_factors_;
  std::vector<Angle> angles_;
  FlatMap angle_by_hash_;
  FlatMap trig_products_;  ///< pair of trigs -> index
  std::deque<std::vector<FoldedTerm>> trig_sums_;
  std::size_t alive_ = 0, peak_alive_ = 0, product_count_ = 0, next_report_ = 0;
  Progress progress_;
};

/// Sets the ring in which this thread creates pi, square roots and sines of plain numbers, until
/// the end of the block. Scopes nest.
class RingScope {
 public:
  explicit RingScope(std::shared_ptr<Ring> ring);
  ~RingScope();
  RingScope(const RingScope&) = delete;
  RingScope& operator=(const RingScope&) = delete;

  /// @throws Error outside any scope; `what` names the operation that needs a ring.
  static const std::shared_ptr<Ring>& current(const char* what);

 private:
  std::shared_ptr<Ring> ring_;
  RingScope* outer_;
};

/// a + scale b
Angle add(const Angle& a, const Angle& b, const Rational& scale);

}  // namespace limb::symbolic
