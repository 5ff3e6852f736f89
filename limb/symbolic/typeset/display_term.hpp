#pragma once

#include <deque>
#include <vector>

#include "limb/symbolic/typeset/formula.hpp"

/// Terms between the canonical form of a value and its printed form: products of powers of symbols,
/// sines and cosines, in printing order.
namespace limb::symbolic {

/// A symbol, a sine or a cosine. Each exists once in its table and is identified by its address.
struct Atom {
  /// The order in a product: roots, masses, other parameters, coordinates, sines and cosines,
  /// velocities, accelerations.
  enum class Rank { root, mass, parameter, coordinate, function, velocity, acceleration };
  Rank rank = Rank::parameter;
  Formula formula;
  int cost = 0;           ///< print_cost(formula)
  std::size_t index = 0;  ///< in the order of products, from 0
  bool is_rate() const { return rank >= Rank::velocity; }
};

class AtomTable {
 public:
  explicit AtomTable(const Ring& ring) : ring_(ring), symbols_(ring.symbols().size(), nullptr) {}

  const Atom* symbol(SymbolId id);
  const Atom* function(const Angle& angle, bool sine);
  const Atom* of(const Formula& leaf);
  /// Sets the index of all atoms; atoms that are added later have none.
  void sort();
  std::size_t size() const { return atoms_.size(); }

 private:
  const Ring& ring_;
  std::deque<Atom> atoms_;
  std::vector<Atom*> symbols_;    ///< by SymbolId
  std::vector<Atom*> functions_;  ///< in order of creation
};

struct AtomPower {
  const Atom* atom;
  int power;
  friend bool operator==(const AtomPower&, const AtomPower&) = default;
};

struct DisplayTerm {
  Rational coefficient;
  std::vector<AtomPower> factors;  ///< by index

  /// @pre the atoms are sorted.
  void multiply(const Atom* atom, int power);
  Formula formula() const;
};
/// The order within sums: accelerations, velocities, then the rest; ignores coefficients.
int compare(const DisplayTerm& a, const DisplayTerm& b);

/// In order, without two terms that differ only in their coefficients.
using DisplaySum = std::vector<DisplayTerm>;

/// Different ways to write a value: with products of sines and cosines, cos(a + b) + cos(a - b) as
/// 2 cos a cos b, angle by angle or the shortest products first, with remaining double angles as
/// squares; and, last, the canonical form. Without duplicates.
std::vector<DisplaySum> display_sums(const Polynomial& x, AtomTable& table);

}  // namespace limb::symbolic
