#pragma once

#include <cstdint>
#include <vector>

namespace limb::codegen {

enum class Op : std::int32_t {
  constant,
  input,
  add,
  sub,
  mul,
  div,
  neg,
  abs,
  sqrt,
  sine,
  cosine,
  atan2,
  less,        ///< a < b; a mask
  less_equal,  ///< a <= b; a mask
  both,        ///< and of two masks
  either,
  complement,
  select,  ///< mask a, then b, else c
};

/// How many operands an operation has: the first of the fields a, b, c.
constexpr int operand_count(Op op) {
  switch (op) {
    case Op::constant:
    case Op::input:
      return 0;
    case Op::neg:
    case Op::abs:
    case Op::sqrt:
    case Op::sine:
    case Op::cosine:
    case Op::complement:
      return 1;
    case Op::select:
      return 3;
    default:
      return 2;
  }
}

struct Node {
  Op op;
  std::int32_t a = 0, b = 0, c = 0;  ///< operands; the number of an input; the bits of a constant
};

/// A computation: nodes whose operands come before them, without duplicates. Every operation is
/// simplified when it is added, for finite numbers: constants are folded, x*0, x*1, x+0 and x-x are
/// eliminated, constant factors and signs are moved to one place, so that equal values share a
/// node.
///
/// The simplifications that change rounding: k1 (k2 x) is (k1 k2) x, and
/// k1 x + k2 x is (k1 + k2) x; and r + k x + k y is r + k (x + y), with up to four sums between.
class Graph {
 public:
  Graph();

  int constant(double value);
  int input(int number);
  int add(int a, int b) { return sum(a, false, b, false); }
  int sub(int a, int b) { return sum(a, false, b, true); }
  int mul(int a, int b);
  int div(int a, int b);
  int neg(int a);
  int abs(int a);
  int sqrt(int a);
  int sine(int a);
  int cosine(int a);
  int atan2(int y, int x);
  int less(int a, int b);
  int less_equal(int a, int b);
  int both(int a, int b);
  int either(int a, int b);
  int complement(int a);
  int select(int mask, int a, int b);

  int size() const { return static_cast<int>(nodes_.size()); }
  const Node& operator[](int id) const { return nodes_[static_cast<std::size_t>(id)]; }
  bool is_constant(int id) const { return (*this)[id].op == Op::constant; }
  bool is_constant(int id, double value) const {
    return is_constant(id) && constant_value(id) == value;
  }
  double constant_value(int id) const;

  /// For each node whether one of the roots depends on it.
  std::vector<char> needed_by(const std::vector<int>& roots) const;

 private:
  int make(Op op, std::int32_t a, std::int32_t b = 0, std::int32_t c = 0);
  int sum(int a, bool minus_a, int b, bool minus_b);
  int scaled(double factor, int a);
  int join(int a, int term, bool minus, int depth);
  int join_parts(int a, int term, bool minus);
  void strip_sign(int& a, bool& minus);
  double split_factor(int& a) const;
  void grow();

  std::vector<Node> nodes_;
  std::vector<std::int32_t> table_;  ///< open addressing: node or -1
};

}  // namespace limb::codegen
