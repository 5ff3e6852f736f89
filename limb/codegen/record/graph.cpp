#include "limb/codegen/record/graph.hpp"

#include <bit>
#include <cmath>
#include <utility>

namespace limb::codegen {
namespace {

std::uint64_t hash(const Node& n) {
  const auto word = [](std::int32_t x) { return static_cast<std::uint64_t>(std::uint32_t(x)); };
  std::uint64_t h = word(n.a) | word(n.b) << 32;
  h = (h ^ h >> 31) * 0x9e3779b97f4a7c15u;
  h ^= word(static_cast<std::int32_t>(n.op)) << 40 | word(n.c);
  h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
  return h ^ h >> 32;
}

bool same(const Node& x, const Node& y) {
  return x.op == y.op && x.a == y.a && x.b == y.b && x.c == y.c;
}

}  // namespace

Graph::Graph() : table_(8192, -1) {
  nodes_.reserve(4096);
}

void Graph::grow() {
  table_.assign(table_.size() * 4, -1);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    std::size_t at = hash(nodes_[i]) & mask;
    while (table_[at] >= 0) at = (at + 1) & mask;
    table_[at] = static_cast<std::int32_t>(i);
  }
}

int Graph::make(Op op, std::int32_t a, std::int32_t b, std::int32_t c) {
  const Node node{op, a, b, c};
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash(node) & mask;
  for (; table_[at] >= 0; at = (at + 1) & mask) {
    if (same(nodes_[static_cast<std::size_t>(table_[at])], node)) return table_[at];
  }
  const int id = size();
  table_[at] = id;
  nodes_.push_back(node);
  if (nodes_.size() * 2 > table_.size()) grow();
  return id;
}

int Graph::constant(double value) {
  if (value == 0) value = 0;  // -0 becomes 0
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return make(Op::constant, static_cast<std::int32_t>(bits), static_cast<std::int32_t>(bits >> 32));
}

double Graph::constant_value(int id) const {
  const Node& n = (*this)[id];
  return std::bit_cast<double>(std::uint64_t{std::uint32_t(n.a)} | std::uint64_t{std::uint32_t(n.b)}
                                                                       << 32);
}

int Graph::input(int number) {
  return make(Op::input, number);
}

int Graph::scaled(double factor, int a) {
  if (is_constant(a)) return constant(factor * constant_value(a));
  if (factor == 0) return constant(0);
  if (factor == 1) return a;
  if (factor == -1) return neg(a);
  const Node n = (*this)[a];
  if (n.op == Op::neg) return scaled(-factor, n.a);
  if (n.op == Op::mul && is_constant(n.a)) return scaled(factor * constant_value(n.a), n.b);
  return make(Op::mul, constant(factor), a);
}

int Graph::neg(int a) {
  if (is_constant(a)) return constant(-constant_value(a));
  const Node n = (*this)[a];
  if (n.op == Op::neg) return n.a;
  if (n.op == Op::mul && is_constant(n.a)) return scaled(-constant_value(n.a), n.b);
  return make(Op::neg, a);
}

/// Removes a minus sign from the value.
void Graph::strip_sign(int& a, bool& minus) {
  const Node n = (*this)[a];
  if (n.op == Op::neg) {
    minus = !minus;
    a = n.a;
  } else if (n.op == Op::mul && is_constant(n.a) && constant_value(n.a) < 0) {
    minus = !minus;
    a = scaled(-constant_value(n.a), n.b);
  }
}

/// a = factor * rest; returns the factor.
double Graph::split_factor(int& a) const {
  const Node& n = (*this)[a];
  if (n.op != Op::mul || !is_constant(n.a)) return 1;
  a = n.b;
  return constant_value(n.a);
}

/// a + k x (or minus), where a = r + k y: r + k (y + x); -1 where a has no such term. `term` is k
/// x. Saves one product, unless a is also used elsewhere.
int Graph::join(int a, int term, bool minus, int depth) {
  const Node sum = (*this)[a], kx = (*this)[term];
  if (sum.op != Op::add && sum.op != Op::sub) return -1;
  for (const bool second : {true, false}) {
    const int part = second ? sum.b : sum.a, rest = second ? sum.a : sum.b;
    const bool minus_part = second && sum.op == Op::sub;
    const bool minus_rest = !second && sum.op == Op::sub;
    const Node n = (*this)[part];
    if (n.op == Op::mul && n.a == kx.a) {
      const int both = this->sum(n.b, false, kx.b, minus != minus_part);
      return this->sum(rest, minus_rest, scaled(constant_value(kx.a), both), minus_part);
    }
    if (depth == 0) continue;
    const int joined = join(part, term, minus != minus_part, depth - 1);
    if (joined >= 0) return this->sum(rest, minus_rest, joined, minus_part);
  }
  return -1;
}

/// The same where the term is k x, or k x + l y and a has terms with k and with l.
int Graph::join_parts(int a, int term, bool minus) {
  constexpr int kSumsBetween = 4;  // as many as the limbs of a body add
  const Node n = (*this)[term];
  const auto is_scaled = [&](int x) {
    return (*this)[x].op == Op::mul && is_constant((*this)[x].a);
  };
  if (is_scaled(term)) return join(a, term, minus, kSumsBetween);
  if ((n.op != Op::add && n.op != Op::sub) || !is_scaled(n.a) || !is_scaled(n.b)) return -1;
  const int first = join(a, n.a, minus, kSumsBetween);
  return first < 0 ? -1 : join(first, n.b, minus != (n.op == Op::sub), kSumsBetween);
}

int Graph::sum(int a, bool minus_a, int b, bool minus_b) {
  if (is_constant(a) && is_constant(b)) {
    const double x = constant_value(a), y = constant_value(b);
    return constant((minus_a ? -x : x) + (minus_b ? -y : y));
  }
  if (is_constant(a, 0)) return minus_b ? neg(b) : b;
  if (is_constant(b, 0)) return minus_a ? neg(a) : a;
  strip_sign(a, minus_a);
  strip_sign(b, minus_b);
  int rest_a = a, rest_b = b;
  const double factor_a = split_factor(rest_a), factor_b = split_factor(rest_b);
  if (rest_a == rest_b) {
    return scaled((minus_a ? -factor_a : factor_a) + (minus_b ? -factor_b : factor_b), rest_a);
  }
  if (factor_a == factor_b && factor_a != 1) {
    const int both = sum(rest_a, minus_a, rest_b, minus_b);
    return scaled(factor_a, both);
  }
  for (const bool second : {true, false}) {
    const int term = second ? b : a, to = second ? a : b;
    const bool minus_term = second ? minus_b : minus_a, minus_to = second ? minus_a : minus_b;
    const int joined = join_parts(to, term, minus_term != minus_to);
    if (joined >= 0) return minus_to ? neg(joined) : joined;
  }
  if (minus_a == minus_b) {
    const int both = make(Op::add, std::min(a, b), std::max(a, b));
    return minus_a ? neg(both) : both;
  }
  if (minus_a) std::swap(a, b);
  // Only one of a - b and b - a exists; the other is its negative, whose sign moves on to its
  // users.
  return a < b ? make(Op::sub, a, b) : make(Op::neg, make(Op::sub, b, a));
}

int Graph::mul(int a, int b) {
  if (is_constant(a)) return scaled(constant_value(a), b);
  if (is_constant(b)) return scaled(constant_value(b), a);
  bool minus = false;
  if ((*this)[a].op == Op::neg) {
    minus = !minus;
    a = (*this)[a].a;
  }
  if ((*this)[b].op == Op::neg) {
    minus = !minus;
    b = (*this)[b].a;
  }
  const int product = make(Op::mul, std::min(a, b), std::max(a, b));
  return minus ? neg(product) : product;
}

int Graph::div(int a, int b) {
  if (is_constant(b)) {
    const double divisor = constant_value(b);
    if (is_constant(a)) return constant(constant_value(a) / divisor);
    int exponent = 0;
    if (std::abs(std::frexp(divisor, &exponent)) == 0.5) return scaled(1 / divisor, a);  // exact
  }
  if (is_constant(a, 0)) return a;
  if ((*this)[a].op == Op::neg) return neg(div((*this)[a].a, b));
  if ((*this)[b].op == Op::neg) return neg(div(a, (*this)[b].a));
  return make(Op::div, a, b);
}

int Graph::abs(int a) {
  if (is_constant(a)) return constant(std::abs(constant_value(a)));
  if ((*this)[a].op == Op::neg) return abs((*this)[a].a);
  return make(Op::abs, a);
}

int Graph::sqrt(int a) {
  return is_constant(a) ? constant(std::sqrt(constant_value(a))) : make(Op::sqrt, a);
}

int Graph::sine(int a) {
  if (is_constant(a)) return constant(std::sin(constant_value(a)));
  bool minus = false;
  strip_sign(a, minus);
  return minus ? neg(make(Op::sine, a)) : make(Op::sine, a);
}

int Graph::cosine(int a) {
  if (is_constant(a)) return constant(std::cos(constant_value(a)));
  bool minus = false;
  strip_sign(a, minus);
  return make(Op::cosine, a);
}

int Graph::atan2(int y, int x) {
  if (is_constant(y) && is_constant(x)) {
    return constant(std::atan2(constant_value(y), constant_value(x)));
  }
  return make(Op::atan2, y, x);
}

// Constant masks are the constants 0 and 1.
int Graph::less(int a, int b) {
  if (is_constant(a) && is_constant(b)) return constant(constant_value(a) < constant_value(b));
  return make(Op::less, a, b);
}

int Graph::less_equal(int a, int b) {
  if (is_constant(a) && is_constant(b)) return constant(constant_value(a) <= constant_value(b));
  return make(Op::less_equal, a, b);
}

int Graph::both(int a, int b) {
  if (is_constant(a)) return constant_value(a) != 0 ? b : a;
  if (is_constant(b)) return constant_value(b) != 0 ? a : b;
  return make(Op::both, std::min(a, b), std::max(a, b));
}

int Graph::either(int a, int b) {
  if (is_constant(a)) return constant_value(a) != 0 ? a : b;
  if (is_constant(b)) return constant_value(b) != 0 ? b : a;
  return make(Op::either, std::min(a, b), std::max(a, b));
}

int Graph::complement(int a) {
  if (is_constant(a)) return constant(constant_value(a) == 0);
  if ((*this)[a].op == Op::complement) return (*this)[a].a;
  return make(Op::complement, a);
}

int Graph::select(int mask, int a, int b) {
  if (is_constant(mask)) return constant_value(mask) != 0 ? a : b;
  if (a == b) return a;
  return make(Op::select, mask, a, b);
}

std::vector<char> Graph::needed_by(const std::vector<int>& roots) const {
  std::vector<char> needed(nodes_.size(), 0);
  for (const int root : roots) needed[static_cast<std::size_t>(root)] = 1;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (needed[i] == 0) continue;
    const Node& n = nodes_[i];
    const std::int32_t operands[] = {n.a, n.b, n.c};
    for (int k = 0; k < operand_count(n.op); ++k) {
      needed[static_cast<std::size_t>(operands[k])] = 1;
    }
  }
  return needed;
}

}  // namespace limb::codegen
