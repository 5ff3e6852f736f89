#include "limb/symbolic/typeset/display_term.hpp"

#include <algorithm>

namespace limb::symbolic {
namespace {

/// "m", "m1", "m_arm": usual names of masses.
bool is_mass_name(const std::string& name) {
  return name == "m" || name == "M" ||
         (name.size() > 1 && (name[0] == 'm' || name[0] == 'M') &&
          (name[1] == '_' || (name[1] >= '0' && name[1] <= '9')));
}

template <typename X>
int compare_plain(const X& a, const X& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int compare_angles(const Angle& a, const Angle& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].symbol != b[i].symbol) return compare_plain(a[i].symbol, b[i].symbol);
    if (const int c = compare(a[i].factor, b[i].factor)) return c;
  }
  return compare_plain(a.size(), b.size());
}

bool precedes(const Atom& a, const Atom& b) {
  if (a.rank != b.rank) return a.rank < b.rank;
  if (a.rank != Atom::Rank::function) return a.formula.symbol < b.formula.symbol;
  if (const int c = compare_angles(a.formula.angle, b.formula.angle)) return c < 0;
  return a.formula.kind < b.formula.kind;  // cosines first
}

Atom::Rank rank_of(const Symbol& symbol) {
  switch (symbol.kind) {
    case Symbol::Kind::coordinate:
      return Atom::Rank::coordinate;
    case Symbol::Kind::velocity:
      return Atom::Rank::velocity;
    case Symbol::Kind::acceleration:
      return Atom::Rank::acceleration;
    case Symbol::Kind::number:
      return Atom::Rank::root;
    default:
      return is_mass_name(symbol.name) ? Atom::Rank::mass : Atom::Rank::parameter;
  }
}

}  // namespace

const Atom* AtomTable::symbol(SymbolId id) {
  if (symbols_[id] == nullptr) {
    const Formula formula = Formula::of_symbol(id);
    atoms_.push_back({rank_of(ring_.symbol(id)), formula, print_cost(formula), 0});
    symbols_[id] = &atoms_.back();
  }
  return symbols_[id];
}

const Atom* AtomTable::function(const Angle& angle, bool sine) {
  Formula formula;
  formula.kind = sine ? Formula::Kind::sine : Formula::Kind::cosine;
  for (const Atom* atom : functions_) {
    if (atom->formula.kind == formula.kind && atom->formula.angle == angle) return atom;
  }
  formula.angle = angle;
  atoms_.push_back({Atom::Rank::function, formula, print_cost(formula), 0});
  functions_.push_back(&atoms_.back());
  return functions_.back();
}

const Atom* AtomTable::of(const Formula& leaf) {
  if (leaf.kind == Formula::Kind::symbol) return symbol(leaf.symbol);
  return function(leaf.angle, leaf.kind == Formula::Kind::sine);
}

void AtomTable::sort() {
  std::vector<Atom*> order;
  for (Atom& atom : atoms_) order.push_back(&atom);
  std::sort(order.begin(), order.end(),
            [](const Atom* a, const Atom* b) { return precedes(*a, *b); });
  for (std::size_t i = 0; i < order.size(); ++i) order[i]->index = i;
}

void DisplayTerm::multiply(const Atom* atom, int power) {
  auto at = std::find_if(factors.begin(), factors.end(),
                         [&](const AtomPower& f) { return f.atom->index >= atom->index; });
  if (at != factors.end() && at->atom == atom) {
    at->power += power;
    if (at->power == 0) factors.erase(at);
  } else {
    factors.insert(at, {atom, power});
  }
}

Formula DisplayTerm::formula() const {
  std::vector<Formula> parts;
  parts.reserve(factors.size() + 1);
  parts.push_back(Formula::of_number(coefficient));
  for (const AtomPower& f : factors) {
    parts.push_back(Formula::power_of(f.atom->formula, f.power));
  }
  return Formula::product_of(std::move(parts));
}

int compare(const DisplayTerm& a, const DisplayTerm& b) {
  using Iterator = std::vector<AtomPower>::const_iterator;
  const auto lexical = [](Iterator x, Iterator x_end, Iterator y, Iterator y_end) {
    for (; x != x_end && y != y_end; ++x, ++y) {
      if (x->atom != y->atom) return compare_plain(x->atom->index, y->atom->index);
      if (x->power != y->power) return compare_plain(y->power, x->power);
    }
    return (x == x_end ? 0 : 1) - (y == y_end ? 0 : 1);
  };
  // Factors are in the order of ranks, and most terms have no rates: search from the end.
  const auto first = [](Iterator begin, Iterator end, Atom::Rank rank) {
    while (end != begin && (end - 1)->atom->rank >= rank) --end;
    return end;
  };
  // Terms with accelerations first, then terms with velocities.
  Iterator a_end = a.factors.end(), b_end = b.factors.end();
  for (const Atom::Rank rank : {Atom::Rank::acceleration, Atom::Rank::velocity}) {
    const Iterator x = first(a.factors.begin(), a_end, rank),
                   y = first(b.factors.begin(), b_end, rank);
    if ((x == a_end) != (y == b_end)) return x == a_end ? 1 : -1;
    if (const int c = lexical(x, a_end, y, b_end)) return c;
    a_end = x;
    b_end = y;
  }
  return lexical(a.factors.begin(), a_end, b.factors.begin(), b_end);
}

}  // namespace limb::symbolic
