#include "limb/symbolic/derive/traced.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <numbers>

namespace limb::symbolic {
namespace {

using Op = TapeNode::Op;
thread_local Tape* recording = nullptr;

std::uint64_t hash_of(const TapeNode& n) {
  std::uint64_t h = static_cast<std::uint64_t>(n.op) * 0x9e3779b97f4a7c15u;
  h = (h ^ static_cast<std::uint32_t>(n.a)) * 0x9e3779b97f4a7c15u;
  h = (h ^ static_cast<std::uint32_t>(n.b)) * 0x9e3779b97f4a7c15u;
  return h ^ std::bit_cast<std::uint64_t>(n.value);
}

}  // namespace

int Tape::intern(const TapeNode& n) {
  const std::uint64_t hash = hash_of(n);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const TapeNode& m = nodes_[static_cast<std::size_t>(it->second)];
    if (m.op == n.op && m.a == n.a && m.b == n.b && m.value == n.value) return it->second;
  }
  if (nodes_.size() >= kMaxNodes) {
    fail_computation("symbolic", fmt::format("the recursive form has more than {} assignments, "
                                             "which is the limit",
                                             kMaxNodes));
  }
  nodes_.push_back(n);
  const int id = static_cast<int>(nodes_.size()) - 1;
  by_hash_.emplace(hash, id);
  return id;
}

int Tape::input(const std::string& name) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
  nodes_.push_back({Op::input});
  const int id = static_cast<int>(nodes_.size()) - 1;
  names_[id] = name;
  by_name_[name] = id;
  return id;
}

int Tape::constant(double value) {
  return intern({Op::constant, -1, -1, value == 0 ? 0.0 : value});
}

bool Tape::is(int node, double value) const {
  const TapeNode& n = nodes_[static_cast<std::size_t>(node)];
  return n.op == Op::constant && n.value == value;
}

int Tape::add(Op op, int a, int b) {
  const auto operation = [&](int i) { return nodes_[static_cast<std::size_t>(i)].op; };
  const auto operand = [&](int i) { return nodes_[static_cast<std::size_t>(i)].a; };
  switch (op) {
    case Op::negate:
      if (operation(a) == Op::negate) return operand(a);
      break;
    case Op::add:
      if (is(a, 0)) return b;
      if (is(b, 0)) return a;
      if (operation(b) == Op::negate) return add(Op::subtract, a, operand(b));
      if (operation(a) == Op::negate) return add(Op::subtract, b, operand(a));
      if (a > b) std::swap(a, b);
      break;
    case Op::subtract:
      if (a == b) return constant(0);
      if (is(b, 0)) return a;
      if (is(a, 0)) return add(Op::negate, b);
      if (operation(b) == Op::negate) return add(Op::add, a, operand(b));
      break;
    case Op::multiply:
      if (is(a, 0) || is(b, 0)) return constant(0);
      if (is(a, 1)) return b;
      if (is(b, 1)) return a;
      if (is(a, -1)) return add(Op::negate, b);
      if (is(b, -1)) return add(Op::negate, a);
      // Signs are moved out of products, so that sums can absorb them.
      if (operation(a) == Op::negate) return add(Op::negate, add(Op::multiply, operand(a), b));
      if (operation(b) == Op::negate) return add(Op::negate, add(Op::multiply, a, operand(b)));
      if (a > b) std::swap(a, b);
      break;
    case Op::divide:
      if (is(a, 0) || is(b, 1)) return a;
      break;
    default:
      break;
  }
  return intern({op, a, b});
}

Recording::Recording(Tape& tape) : outer_(recording) {
  recording = &tape;
}
Recording::~Recording() {
  recording = outer_;
}
Tape& Recording::tape() {
  if (recording == nullptr) throw Error("symbolic: no tape to record on, expected a Recording");
  return *recording;
}

Traced::Traced(const Polynomial& x) {
  if (x.is_constant()) {
    value_ = x.constant().to_double();
    return;
  }
  const Ring& ring = *x.ring();
  const auto symbol = [&](SymbolId id) {
    const Symbol& s = ring.symbol(id);
    return s.kind == Symbol::Kind::number ? Traced(*s.value) : input(s.name);
  };
  Traced sum;
  for (const Term& term : x.terms()) {
    Traced product(term.coefficient.to_double());
    for (const Factor& f : ring.monomial(term.monomial())) {
      for (int k = 0; k < std::abs(f.power); ++k) {
        product = f.power < 0 ? product / symbol(f.symbol) : product * symbol(f.symbol);
      }
    }
    if (term.trig() != 0) {
      Traced angle;
      for (const AnglePart& part : ring.angle(term.trig())) {
        const Traced unit = part.symbol == AnglePart::kHalfTurn ? Traced(std::numbers::pi)
                            : part.symbol == AnglePart::kRadian ? Traced(1)
                                                                : symbol(part.symbol);
        angle += Traced(part.factor.to_double()) * unit;
      }
      product *= Ring::is_sine(term.trig()) ? sin(angle) : cos(angle);
    }
    sum += product;
  }
  *this = sum;
}

namespace {

template <typename Fold>
Traced binary(Op op, const Traced& a, const Traced& b, const Fold& fold) {
  if (a.is_constant() && b.is_constant()) return fold(a.constant(), b.constant());
  Tape& tape = Recording::tape();
  const int node = tape.add(op, a.node(), b.node());
  const TapeNode& n = tape.nodes()[static_cast<std::size_t>(node)];
  return n.op == Op::constant ? Traced(n.value) : Traced::of_node(node);
}

template <typename Fold>
Traced unary(Op op, const Traced& a, const Fold& fold) {
  if (a.is_constant()) return fold(a.constant());
  return Traced::of_node(Recording::tape().add(op, a.node()));
}

}  // namespace

Traced Traced::operator-() const {
  return unary(Op::negate, *this, [](double x) { return -x; });
}
Traced operator+(const Traced& a, const Traced& b) {
  return binary(Op::add, a, b, [](double x, double y) { return x + y; });
}
Traced operator-(const Traced& a, const Traced& b) {
  return binary(Op::subtract, a, b, [](double x, double y) { return x - y; });
}
Traced operator*(const Traced& a, const Traced& b) {
  return binary(Op::multiply, a, b, [](double x, double y) { return x * y; });
}
Traced operator/(const Traced& a, const Traced& b) {
  return binary(Op::divide, a, b, [](double x, double y) { return x / y; });
}
Traced sin(const Traced& a) {
  return unary(Op::sin, a, [](double x) { return std::sin(x); });
}
Traced cos(const Traced& a) {
  return unary(Op::cos, a, [](double x) { return std::cos(x); });
}
Traced sqrt(const Traced& a) {
  return unary(Op::sqrt, a, [](double x) { return std::sqrt(x); });
}

Traced sign(const Traced& a) {
  return unary(Op::sign, a, [](double x) { return (x > 0) - (x < 0); });
}

Traced select(TracedComparison, const Traced&, const Traced&) {
  fail_computation("symbolic", "a branch on a value has no recursive form");
}

}  // namespace limb::symbolic
