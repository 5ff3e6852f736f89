#include "limb/codegen/record/differentiate.hpp"

#include "limb/base/error.hpp"

namespace limb::codegen {
namespace {

constexpr int kZero = -1;

class Forward {
 public:
  Forward(Graph& graph, std::vector<int> derivative)
      : graph_(graph), derivative_(std::move(derivative)) {}

  int of(int node) const { return derivative_[static_cast<std::size_t>(node)]; }

  void set(int node) {
    const Node n = graph_[node];
    const int found = rule(node, n);
    const bool zero = found < 0 || graph_.is_constant(found, 0);
    derivative_[static_cast<std::size_t>(node)] = zero ? kZero : found;
  }

 private:
  int times(int factor, int d) { return d < 0 ? kZero : graph_.mul(factor, d); }
  int plus(int a, int b) { return a < 0 ? b : b < 0 ? a : graph_.add(a, b); }
  int minus(int a, int b) {
    if (b < 0) return a;
    return a < 0 ? graph_.neg(b) : graph_.sub(a, b);
  }

  int rule(int node, const Node& n) {
    const int count = operand_count(n.op);
    const int a = count > 0 ? of(n.a) : kZero, b = count > 1 ? of(n.b) : kZero;
    const int c = count > 2 ? of(n.c) : kZero;
    if (a < 0 && b < 0 && c < 0) return kZero;
    switch (n.op) {
      case Op::add:
        return plus(a, b);
      case Op::sub:
        return minus(a, b);
      case Op::mul:
        return plus(times(n.b, a), times(n.a, b));
      case Op::div: {  // (a' - (a/b) b') / b, by the reciprocal, which all directions share
        const int inverse = graph_.div(graph_.constant(1), n.b);
        return graph_.mul(minus(a, times(node, b)), inverse);
      }
      case Op::neg:
        return graph_.neg(a);
      case Op::abs:
        return graph_.select(graph_.less(n.a, graph_.constant(0)), graph_.neg(a), a);
      case Op::sqrt:
        return graph_.mul(a, graph_.div(graph_.constant(0.5), node));
      case Op::sine:
        return times(graph_.cosine(n.a), a);
      case Op::cosine:
        return graph_.neg(times(graph_.sine(n.a), a));
      case Op::atan2: {  // atan2(y, x): (x y' - y x') / (x^2 + y^2)
        const int square = graph_.add(graph_.mul(n.a, n.a), graph_.mul(n.b, n.b));
        return graph_.div(minus(times(n.b, a), times(n.a, b)), square);
      }
      case Op::select: {
        const int zero = graph_.constant(0);
        return graph_.select(n.a, b < 0 ? zero : b, c < 0 ? zero : c);
      }
      default:
        return kZero;  // masks are constant
    }
  }

  Graph& graph_;
  std::vector<int> derivative_;
};

}  // namespace

std::vector<int> differentiate(Graph& graph, const std::vector<int>& roots,
                               const Direction& direction, const std::vector<int>& fixed) {
  const int size = graph.size();
  const std::vector<char> needed = graph.needed_by(roots);
  std::vector<int> start(static_cast<std::size_t>(size), kZero);
  std::vector<char> given(static_cast<std::size_t>(size), 0);
  for (const int node : fixed) given[static_cast<std::size_t>(node)] = 1;
  for (const auto& [node, derivative] : direction) {
    if (graph.is_constant(node)) throw Error("differentiate: the direction contains a constant");
    start[static_cast<std::size_t>(node)] = graph.is_constant(derivative, 0) ? kZero : derivative;
    given[static_cast<std::size_t>(node)] = 1;
  }
  Forward forward(graph, std::move(start));
  for (int i = 0; i < size; ++i) {
    if (needed[static_cast<std::size_t>(i)] != 0 && given[static_cast<std::size_t>(i)] == 0) {
      forward.set(i);
    }
  }
  std::vector<int> derivatives;
  for (const int root : roots) {
    const int d = forward.of(root);
    derivatives.push_back(d < 0 ? graph.constant(0) : d);
  }
  return derivatives;
}

}  // namespace limb::codegen
