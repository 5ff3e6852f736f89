#pragma once

#include <Eigen/Core>
#include <unordered_map>

#include "limb/symbolic/algebra/polynomial.hpp"

/// The scalar of recursive forms: each operation on it is recorded as an assignment on a tape.
/// Common subexpressions are shared; sums with 0 and products with 0 and 1 are simplified.
namespace limb::symbolic {

/// An assignment, an input or a constant. Operands are indices of earlier nodes.
struct TapeNode {
  enum class Op { input, constant, negate, add, subtract, multiply, divide, sin, cos, sqrt, sign };
  Op op;
  int a = -1, b = -1;
  double value = 0;  ///< of a constant
};

class Tape {
 public:
  static constexpr std::size_t kMaxNodes = 5'000'000;

  int input(const std::string& name);
  int constant(double value);
  /// The node of this operation, simplified; @throws Error beyond kMaxNodes.
  int add(TapeNode::Op op, int a, int b = -1);

  const std::vector<TapeNode>& nodes() const { return nodes_; }
  /// Names of the inputs, by node.
  const std::unordered_map<int, std::string>& names() const { return names_; }

 private:
  int intern(const TapeNode& node);
  bool is(int node, double value) const;

  std::vector<TapeNode> nodes_;
  std::unordered_map<int, std::string> names_;
  std::unordered_map<std::string, int> by_name_;
  std::unordered_multimap<std::uint64_t, int> by_hash_;
};

/// Sets the tape on which this thread records, until the end of the block.
class Recording {
 public:
  explicit Recording(Tape& tape);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  /// @throws Error outside any recording.
  static Tape& tape();

 private:
  Tape* outer_;
};

/// A number, or a node of the tape.
class Traced {
 public:
  Traced() = default;
  Traced(int value) : value_(value) {}     // NOLINT: implicit on purpose
  Traced(double value) : value_(value) {}  // NOLINT
  static Traced of_node(int node) {
    Traced x;
    x.node_ = node;
    return x;
  }
  static Traced input(const std::string& name) { return of_node(Recording::tape().input(name)); }
  /// Records the evaluation of x, with the symbols as inputs of the same names.
  explicit Traced(const Polynomial& x);

  bool is_constant() const { return node_ < 0; }
  double constant() const { return value_; }
  /// The node; a constant gets one.
  int node() const { return node_ >= 0 ? node_ : Recording::tape().constant(value_); }

  Traced operator-() const;
  friend Traced operator+(const Traced& a, const Traced& b);
  friend Traced operator-(const Traced& a, const Traced& b);
  friend Traced operator*(const Traced& a, const Traced& b);
  friend Traced operator/(const Traced& a, const Traced& b);
  Traced& operator+=(const Traced& b) { return *this = *this + b; }
  Traced& operator-=(const Traced& b) { return *this = *this - b; }
  Traced& operator*=(const Traced& b) { return *this = *this * b; }
  Traced& operator/=(const Traced& b) { return *this = *this / b; }
  friend Traced sin(const Traced& a);
  friend Traced cos(const Traced& a);
  friend Traced sqrt(const Traced& a);
  /// -1, 0 or 1
  friend Traced sign(const Traced& a);

 private:
  int node_ = -1;
  double value_ = 0;
};

/// Result of a < b. Branches on values cannot be recorded: select() throws.
struct TracedComparison {};
inline TracedComparison operator<(const Traced&, const Traced&) {
  return {};
}
Traced select(TracedComparison, const Traced& a, const Traced& b);

}  // namespace limb::symbolic

namespace Eigen {

template <>
struct NumTraits<limb::symbolic::Traced> : NumTraits<double> {
  using Real = limb::symbolic::Traced;
  using NonInteger = limb::symbolic::Traced;
  using Nested = limb::symbolic::Traced;
  enum { RequireInitialization = 1 };
};

}  // namespace Eigen
