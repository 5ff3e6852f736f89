#include "limb/symbolic/written_term.hpp"

#include <algorithm>

namespace limb::symbolic {
namespace {

/// "m", "m1", "m_arm": what recipes call masses.
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

}  // namespace

Atom Atom::of_symbol(const Ring& ring, SymbolId id) {
  const Symbol& symbol = ring.symbol(id);
  Atom atom;
  atom.symbol = id;
  switch (symbol.kind) {
    case Symbol::Kind::parameter:
      atom.rank = is_mass_name(symbol.name) ? Rank::mass : Rank::parameter;
      break;
    case Symbol::Kind::coordinate:
      atom.rank = Rank::coordinate;
      break;
    case Symbol::Kind::velocity:
      atom.rank = Rank::velocity;
      break;
    case Symbol::Kind::acceleration:
      atom.rank = Rank::acceleration;
      break;
    case Symbol::Kind::number:
      atom.rank = Rank::root;
      break;
  }
  return atom;
}

Atom Atom::of_function(Angle angle, bool sine) {
  Atom atom;
  atom.rank = Rank::function;
  atom.angle = std::move(angle);
  atom.sine = sine;
  return atom;
}

Formula Atom::formula() const {
  if (rank != Rank::function) return Formula::of_symbol(symbol);
  Formula f;
  f.kind = sine ? Formula::Kind::sine : Formula::Kind::cosine;
  f.angle = angle;
  return f;
}

int compare(const Atom& a, const Atom& b) {
  if (a.rank != b.rank) return compare_plain(a.rank, b.rank);
  if (a.rank != Atom::Rank::function) return compare_plain(a.symbol, b.symbol);
  if (const int c = compare_angles(a.angle, b.angle)) return c;
  return compare_plain(a.sine, b.sine);
}

void WrittenTerm::multiply(const Atom& atom, int power) {
  auto at = std::find_if(factors.begin(), factors.end(),
                         [&](const AtomPower& f) { return compare(f.atom, atom) >= 0; });
  if (at != factors.end() && at->atom == atom) {
    at->power += power;
    if (at->power == 0) factors.erase(at);
  } else {
    factors.insert(at, {atom, power});
  }
}

Formula WrittenTerm::formula() const {
  std::vector<Formula> parts{Formula::of_number(coefficient)};
  for (const AtomPower& f : factors) {
    parts.push_back(Formula::power_of(f.atom.formula(), f.power));
  }
  return Formula::product_of(std::move(parts));
}

int compare(const WrittenTerm& a, const WrittenTerm& b) {
  using Iterator = std::vector<AtomPower>::const_iterator;
  const auto lexical = [](Iterator x, Iterator x_end, Iterator y, Iterator y_end) {
    for (; x != x_end && y != y_end; ++x, ++y) {
      if (const int c = compare(x->atom, y->atom)) return c;
      if (x->power != y->power) return compare_plain(y->power, x->power);
    }
    return (x == x_end ? 0 : 1) - (y == y_end ? 0 : 1);
  };
  const auto first = [](const WrittenTerm& t, Atom::Rank rank) {
    return std::find_if(t.factors.begin(), t.factors.end(),
                        [&](const AtomPower& f) { return f.atom.rank >= rank; });
  };
  // Terms with rates of rates stand before those without, and so on.
  Iterator a_end = a.factors.end(), b_end = b.factors.end();
  for (const Atom::Rank rank : {Atom::Rank::acceleration, Atom::Rank::velocity}) {
    const Iterator x = first(a, rank), y = first(b, rank);
    if ((x == a_end) != (y == b_end)) return x == a_end ? 1 : -1;
    if (const int c = lexical(x, a_end, y, b_end)) return c;
    a_end = x;
    b_end = y;
  }
  return lexical(a.factors.begin(), a_end, b.factors.begin(), b_end);
}

}  // namespace limb::symbolic
