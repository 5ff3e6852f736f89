#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <limits>

#include "limb/codegen/record/graph.hpp"

namespace limb::codegen {

/// While it exists, Traced numbers of this thread record into the graph.
class Recording {
 public:
  explicit Recording(Graph& graph);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// @throws Error if nothing is being recorded.
  static Graph& graph();

 private:
  Graph* before_;
};

/// The result of a comparison of Traced numbers. A program cannot branch on it, see choose().
struct TracedMask {
  int node;

  friend TracedMask operator!(TracedMask a) { return {Recording::graph().complement(a.node)}; }
  friend TracedMask operator&&(TracedMask a, TracedMask b) {
    return {Recording::graph().both(a.node, b.node)};
  }
  friend TracedMask operator||(TracedMask a, TracedMask b) {
    return {Recording::graph().either(a.node, b.node)};
  }
};

/// A scalar that records operations instead of computing: run any template with it, and the graph
/// contains its computation. Constants need no recording; operations on them are folded.
class Traced {
 public:
  Traced() = default;
  Traced(double value) : value_(value) {}  // NOLINT: numbers are constants
  static Traced of_node(const Graph& graph, int node) {
    if (graph.is_constant(node)) return {graph.constant_value(node)};
    Traced x;
    x.node_ = node;
    return x;
  }

  bool is_constant() const { return node_ < 0; }
  double constant() const { return value_; }
  /// Its node in the graph that is being recorded.
  int node() const { return node_ >= 0 ? node_ : Recording::graph().constant(value_); }

  friend Traced operator+(const Traced& a, const Traced& b) {
    if (a.is_constant() && b.is_constant()) return {a.value_ + b.value_};
    if (a.is_zero()) return b;
    if (b.is_zero()) return a;
    return record([&](Graph& g) { return g.add(a.node(), b.node()); });
  }
  friend Traced operator-(const Traced& a, const Traced& b) {
    if (a.is_constant() && b.is_constant()) return {a.value_ - b.value_};
    if (b.is_zero()) return a;
    return record([&](Graph& g) { return g.sub(a.node(), b.node()); });
  }
  friend Traced operator*(const Traced& a, const Traced& b) {
    if (a.is_constant() && b.is_constant()) return {a.value_ * b.value_};
    if (a.is_zero() || b.is_zero()) return {0.0};
    return record([&](Graph& g) { return g.mul(a.node(), b.node()); });
  }
  friend Traced operator/(const Traced& a, const Traced& b) {
    if (a.is_constant() && b.is_constant()) return {a.value_ / b.value_};
    return record([&](Graph& g) { return g.div(a.node(), b.node()); });
  }
  friend Traced operator-(const Traced& a) {
    if (a.is_constant()) return {-a.value_};
    return record([&](Graph& g) { return g.neg(a.node()); });
  }
  friend const Traced& operator+(const Traced& a) { return a; }
  Traced& operator+=(const Traced& b) { return *this = *this + b; }
  Traced& operator-=(const Traced& b) { return *this = *this - b; }
  Traced& operator*=(const Traced& b) { return *this = *this * b; }
  Traced& operator/=(const Traced& b) { return *this = *this / b; }

  friend TracedMask operator<(const Traced& a, const Traced& b) {
    return {Recording::graph().less(a.node(), b.node())};
  }
  friend TracedMask operator<=(const Traced& a, const Traced& b) {
    return {Recording::graph().less_equal(a.node(), b.node())};
  }
  friend TracedMask operator>(const Traced& a, const Traced& b) { return b < a; }
  friend TracedMask operator>=(const Traced& a, const Traced& b) { return b <= a; }
  friend TracedMask operator==(const Traced& a, const Traced& b) { return a <= b && b <= a; }
  friend TracedMask operator!=(const Traced& a, const Traced& b) { return !(a == b); }
  friend Traced select(const TracedMask& mask, const Traced& a, const Traced& b) {
    return record([&](Graph& g) { return g.select(mask.node, a.node(), b.node()); });
  }

  friend Traced sqrt(const Traced& a) {
    return record([&](Graph& g) { return g.sqrt(a.node()); });
  }
  friend Traced sin(const Traced& a) {
    return record([&](Graph& g) { return g.sine(a.node()); });
  }
  friend Traced cos(const Traced& a) {
    return record([&](Graph& g) { return g.cosine(a.node()); });
  }
  friend Traced abs(const Traced& a) {
    return record([&](Graph& g) { return g.abs(a.node()); });
  }
  friend Traced atan2(const Traced& y, const Traced& x) {
    return record([&](Graph& g) { return g.atan2(y.node(), x.node()); });
  }

 private:
  template <typename Make>
  static Traced record(const Make& make) {
    Graph& graph = Recording::graph();
    return of_node(graph, make(graph));
  }
  bool is_zero() const { return node_ < 0 && value_ == 0; }

  int node_ = -1;
  double value_ = 0;
};

}  // namespace limb::codegen

namespace limb {
using codegen::Traced;
}

namespace Eigen {
template <>
struct NumTraits<limb::codegen::Traced> {
  using Real = limb::codegen::Traced;
  using NonInteger = limb::codegen::Traced;
  using Nested = limb::codegen::Traced;
  using Literal = double;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 1,
    AddCost = 10,
    MulCost = 10
  };
  static Real epsilon() { return std::numeric_limits<double>::epsilon(); }
  static Real dummy_precision() { return 1e-12; }
  static Real highest() { return std::numeric_limits<double>::max(); }
  static Real lowest() { return std::numeric_limits<double>::lowest(); }
  static int digits10() { return std::numeric_limits<double>::digits10; }
};
}  // namespace Eigen
