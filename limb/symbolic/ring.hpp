#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "limb/symbolic/flat_map.hpp"
#include "limb/symbolic/rational.hpp"

/// Where closed forms are computed: the symbols, and every product of powers and every angle that
/// has occurred, each kept once and named by a number. A term is then a coefficient and two such
/// numbers, and equal terms are found by comparing integers.
namespace limb::symbolic {

/// Index of a symbol in its ring, in the order in which they were made.
using SymbolId = std::uint32_t;

struct Symbol {
  enum class Kind {
    parameter,     ///< mass, length, inertia, angle of a placement, g
    coordinate,    ///< angle or length of a joint
    velocity,      ///< its rate
    acceleration,  ///< the rate of that
    number,        ///< pi and the square roots of primes
  };
  std::string name;
  Kind kind = Kind::parameter;
  std::optional<double> value;   ///< where the file gives one
  std::optional<SymbolId> rate;  ///< its time derivative; none: a constant
  std::int64_t radicand = 0;     ///< of a square root: the prime below it
};

/// symbol^power
struct Factor {
  SymbolId symbol;
  int power;
  friend bool operator==(const Factor&, const Factor&) = default;
};

/// factor * symbol in an angle. kRadian stands for the number 1, kHalfTurn for pi.
struct AnglePart {
  static constexpr SymbolId kHalfTurn = 0xfffffffe, kRadian = 0xffffffff;
  SymbolId symbol;
  Rational factor;
  friend bool operator==(const AnglePart&, const AnglePart&) = default;
};
using Angle = std::vector<AnglePart>;  ///< by symbol, no zeros

using MonomialId = std::uint32_t;  ///< 0: no symbols
using TrigId = std::uint32_t;      ///< 0: the number 1; 2 a: cos(angle a); 2 a + 1: sin(angle a)

/// coefficient * monomial * trig: what a sine, a cosine or a product of two of them folds to.
struct FoldedTerm {
  Rational coefficient;
  MonomialId monomial = 0;
  TrigId trig = 0;
};

struct RingLimits {
  std::size_t terms = 1'000'000;          ///< of one value
  std::size_t terms_in_all = 10'000'000;  ///< of all values alive, 24 bytes each and more
  /// Products of two terms, in all, with sums and foldings counted by their cost: a bound of time,
  /// some millions a second.
  std::size_t products = 50'000'000;
  std::size_t monomials = 4'000'000;  ///< different products of powers; also of angles
};

/// Not for several threads at a time: make one ring for each.
class Ring : public std::enable_shared_from_this<Ring> {
 public:
  using Limits = RingLimits;
  static std::shared_ptr<Ring> make(const Limits& limits = {});

  const Limits& limits() const { return limits_; }

  /// A new symbol. @throws Error if the name is taken or is no name.
  SymbolId add_symbol(Symbol symbol);
  /// Coordinate `name` with velocity and acceleration, e.g. q1, qd1, qdd1.
  SymbolId add_coordinate(const std::string& name, const std::string& velocity,
                          const std::string& acceleration);
  std::optional<SymbolId> find_symbol(std::string_view name) const;
  const std::vector<Symbol>& symbols() const { return symbols_; }
  const Symbol& symbol(SymbolId id) const { return symbols_[id]; }
  /// pi and the square root of a prime; made when first asked for.
  SymbolId pi();
  SymbolId root_of_prime(std::int64_t prime);

  const std::vector<Factor>& monomial(MonomialId id) const { return monomials_[id]; }
  MonomialId intern(std::vector<Factor> factors);
  /// Product of two monomials; where a square root meets itself, its prime goes into `factor`.
  MonomialId multiply(MonomialId a, MonomialId b, Rational& factor);
  /// monomial^-1
  MonomialId invert(MonomialId id, Rational& factor);

  const Angle& angle(TrigId id) const { return angles_[id / 2]; }
  static bool is_sine(TrigId id) { return id % 2 == 1; }
  /// cos or sin of an angle: exact at multiples of 15 degrees, quarter turns folded away, the
  /// angle's first factor positive.
  std::vector<FoldedTerm> fold(Angle angle, bool sine);
  /// Product of two sines or cosines as a sum of them; good until the next call.
  const std::vector<FoldedTerm>& multiply(TrigId a, TrigId b);

  // Book-keeping of the values alive.
  void count(std::size_t terms);
  /// @throws Error when this many more products of terms go beyond the limit.
  void work(std::size_t products);
  void uncount(std::size_t terms) { alive_ -= terms; }
  std::size_t terms_alive() const { return alive_; }
  std::size_t most_terms_alive() const { return most_alive_; }
  /// Bytes at the worst moment: terms, monomials, tables.
  std::size_t peak_bytes() const;

 private:
  explicit Ring(const Limits& limits);
  TrigId intern_trig(const Angle& angle, bool sine);
  MonomialId multiply_anew(MonomialId a, MonomialId b, Rational& factor);
  void fold_constant(Rational turns, bool sine, std::vector<FoldedTerm>& out);

  Limits limits_;
  std::vector<Symbol> symbols_;
  std::unordered_map<std::string, SymbolId> symbol_by_name_;
  std::vector<std::vector<Factor>> monomials_;
  FlatMap monomial_by_hash_;
  FlatMap products_;  ///< pair of monomials -> monomial, and one more than the index of its factor
  std::vector<Rational> product_factors_;
  std::vector<Angle> angles_;
  FlatMap angle_by_hash_;
  FlatMap trig_products_;  ///< pair of trigs -> index
  std::deque<std::vector<FoldedTerm>> trig_sums_;
  std::size_t alive_ = 0, most_alive_ = 0, worked_ = 0;
};

/// The ring in which this thread's pi, square roots and sines of bare numbers are made, from here
/// to the end of the block. Scopes nest.
class RingScope {
 public:
  explicit RingScope(std::shared_ptr<Ring> ring);
  ~RingScope();
  RingScope(const RingScope&) = delete;
  RingScope& operator=(const RingScope&) = delete;

  /// @throws Error outside of any scope; `what` needs a ring.
  static const std::shared_ptr<Ring>& current(const char* what);

 private:
  std::shared_ptr<Ring> ring_;
  RingScope* outer_;
};

/// a + scale b
Angle add(const Angle& a, const Angle& b, const Rational& scale);

}  // namespace limb::symbolic
