#pragma once

#include <deque>
#include <vector>

#include "limb/symbolic/formula.hpp"

/// Terms on their way from the one form of a value to the form that is printed: products of
/// powers of symbols, sines and cosines, in the order in which one writes them.
namespace limb::symbolic {

/// A symbol, or a sine or cosine. Each exists once in its table and is named by its address.
struct Atom {
  /// The place in a product: roots, masses, other parameters, lengths of joints, sines and
  /// cosines, rates, rates of rates.
  enum class Rank { root, mass, parameter, coordinate, function, velocity, acceleration };
  Rank rank = Rank::parameter;
  Formula formula;
  int cost = 0;           ///< of printing it
  std::size_t place = 0;  ///< in the order of products, from 0
  bool is_rate() const { return rank >= Rank::velocity; }
};

class AtomTable {
 public:
  explicit AtomTable(const Ring& ring) : ring_(ring), symbols_(ring.symbols().size(), nullptr) {}

  const Atom* symbol(SymbolId id);
  const Atom* function(const Angle& angle, bool sine);
  const Atom* of(const Formula& leaf);
  /// Gives all atoms their places; new ones afterwards have none.
  void arrange();
  std::size_t size() const { return atoms_.size(); }

 private:
  const Ring& ring_;
  std::deque<Atom> atoms_;
  std::vector<Atom*> symbols_;    ///< by number
  std::vector<Atom*> functions_;  ///< as they came
};

struct AtomPower {
  const Atom* atom;
  int power;
  friend bool operator==(const AtomPower&, const AtomPower&) = default;
};

struct WrittenTerm {
  Rational coefficient;
  std::vector<AtomPower> factors;  ///< in the order of their places

  /// @pre the atoms have places.
  void multiply(const Atom* atom, int power);
  Formula formula() const;
};
/// The order within sums: rates of rates, rates, then the rest; coefficients do not count.
int compare(const WrittenTerm& a, const WrittenTerm& b);

/// In order, no two that differ in their coefficient only.
using WrittenSum = std::vector<WrittenTerm>;

/// Ways to write a value: with products of sines and cosines, cos(a + b) + cos(a - b) as 2 cos a
/// cos b, angle by angle or the shortest products first, and what is left of double angles as
/// squares; at last as the ring has it. Those that differ.
std::vector<WrittenSum> written_sums(const Polynomial& x, AtomTable& table);

}  // namespace limb::symbolic
