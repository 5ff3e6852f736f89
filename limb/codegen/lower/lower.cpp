#include "limb/codegen/lower/lower.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>

#include "limb/codegen/lower/atan2_lowering.hpp"
#include "limb/codegen/lower/fusion.hpp"
#include "limb/codegen/lower/sincos_lowering.hpp"

namespace limb::codegen {

namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

/// For each node: whether a result needs it, how often it is used, whether its negative is computed
/// instead, and with which product it is fused.
struct Lowerer::Uses {
  std::vector<char> needed, reversed;
  std::vector<int> count;
  Fusion fusion;

  Uses(const Trace& trace, bool fuse) : needed(trace.graph.needed_by(trace.roots)) {
    const Graph& graph = trace.graph;
    count.assign(needed.size(), 0);
    reversed.assign(needed.size(), 0);
    for (int i = 0; i < graph.size(); ++i) {
      if (needed[at(i)] == 0) continue;
      const Node& n = graph[i];
      const int operands[] = {n.a, n.b, n.c};
      for (int k = 0; k < operand_count(n.op); ++k) ++count[at(operands[k])];
    }
    for (const int root : trace.roots) ++count[at(root)];
    // If only the negative of a difference is used, b - a is computed instead of a - b.
    for (int i = 0; i < graph.size(); ++i) {
      const Node& n = graph[i];
      if (needed[at(i)] == 0 || n.op != Op::neg) continue;
      if (graph[n.a].op == Op::sub && count[at(n.a)] == 1) reversed[at(n.a)] = 1;
    }
    if (fuse) {
      // Code for matrices is limited by instructions and stores, not by products.
      const bool matrices = trace.output_size() > 2 * trace.input_size();
      fusion = choose_fusion(graph, needed, count, matrices);
    } else {
      fusion.product.assign(needed.size(), -1);
      fusion.fused.assign(needed.size(), 0);
    }
  }
};

namespace {

template <typename Uses>
class Lowering {
 public:
  Lowering(const Trace& trace, const Uses& uses, const LowerOptions& options)
      : trace_(trace),
        graph_(trace.graph),
        needed_(uses.needed),
        reversed_(uses.reversed),
        fusion_(uses.fusion) {
    code_.name = trace.name;
    code_.options = options;
    code_.inputs = trace.inputs;
    code_.outputs = trace.outputs;
    code_.instructions.reserve(trace.graph.size() > 0 ? at(trace.graph.size()) : 0);
  }

  Code run() {
    value_.assign(needed_.size(), -1);
    list_results();
    if (code_.options.inline_sincos && code_.options.range == RangeCheck::stop) sines_of_inputs();
    for (int i = 0; i < graph_.size(); ++i) {
      if (needed_[at(i)] != 0 && reversed_[at(i)] == 0) value(i);
    }
    return std::move(code_);
  }

 private:
  int emit(Opcode opcode, int a, int b = -1, int c = -1, bool four = false) {
    code_.instructions.push_back({opcode, four, a, b, c});
    return static_cast<int>(code_.instructions.size()) - 1;
  }

  int constant(double x, bool four = false) {
    const auto [found, is_new] = constants_[four].try_emplace(std::bit_cast<std::uint64_t>(x), -1);
    if (is_new) {
      code_.constants.push_back(x);
      found->second =
          emit(Opcode::constant, static_cast<int>(code_.constants.size()) - 1, -1, -1, four);
    }
    return found->second;
  }

  /// Results of each node as a linked list, next_result_[k] after k.
  void list_results() {
    first_result_.assign(needed_.size(), -1);
    next_result_.assign(trace_.roots.size(), -1);
    for (std::size_t k = trace_.roots.size(); k-- > 0;) {
      next_result_[k] = first_result_[at(trace_.roots[k])];
      first_result_[at(trace_.roots[k])] = static_cast<int>(k);
    }
  }

  /// The value of a node; emits it and its operands unless done before.
  int value(int node) {
    int& known = value_[at(node)];
    if (known >= 0 || fusion_.fused[at(node)] != 0) return known;
    const Node& n = graph_[node];
    switch (n.op) {
      case Op::constant:
        known = constant(graph_.constant_value(node));
        break;
      case Op::input:
        known = emit(Opcode::input, n.a);
        break;
      case Op::add:
      case Op::sub:
        known = sum(node, n, false);
        break;
      case Op::mul:
        known = binary(Opcode::mul, n);
        break;
      case Op::div:
        known = binary(Opcode::div, n);
        break;
      case Op::neg:
        known =
            reversed_[at(n.a)] != 0 ? sum(n.a, graph_[n.a], true) : emit(Opcode::neg, value(n.a));
        break;
      case Op::abs:
        known = emit(Opcode::abs, value(n.a));
        break;
      case Op::sqrt:
        known = emit(Opcode::sqrt, value(n.a));
        break;
      case Op::sine:
      case Op::cosine:
        known = sine_or_cosine(n);
        break;
      case Op::atan2:
        known = code_.options.inline_sincos ? arc_tangent(n) : binary(Opcode::atan2, n);
        break;
      case Op::less:
        known = binary(Opcode::less, n);
        break;
      case Op::less_equal:
        known = binary(Opcode::less_equal, n);
        break;
      case Op::both:
        known = binary(Opcode::both, n);
        break;
      case Op::either:
        known = binary(Opcode::either, n);
        break;
      case Op::complement:
        known = emit(Opcode::complement, value(n.a));
        break;
      case Op::select: {
        const int mask = value(n.a), a = value(n.b), b = value(n.c);
        known = emit(Opcode::select, mask, a, b);
        break;
      }
    }
    for (int k = first_result_[at(node)]; k >= 0; k = next_result_[at(k)]) {
      emit(Opcode::store, known, k);
    }
    return known;
  }

  int binary(Opcode opcode, const Node& n) {
    const int a = value(n.a), b = value(n.b);
    return emit(opcode, a, b);
  }

  /// a + b or a - b; `reversed`: b - a.
  int sum(int node, const Node& n, bool reversed) {
    const int fused = fusion_.product[at(node)];
    if (fused < 0) {
      const int a = value(n.a), b = value(n.b);
      return emit(n.op == Op::add ? Opcode::add : Opcode::sub, reversed ? b : a, reversed ? a : b);
    }
    const bool left = fused == n.a;
    const Node& product = graph_[left ? n.a : n.b];
    const int x = value(product.a), y = value(product.b), z = value(left ? n.b : n.a);
    const Opcode opcode = n.op == Op::add    ? Opcode::fma
                          : left != reversed ? Opcode::fms
                                             : Opcode::fnma;
    return emit(opcode, x, y, z);
  }

  int sine_or_cosine(const Node& n) {
    const bool sine = n.op == Op::sine;
    if (!code_.options.inline_sincos) {
      return emit(sine ? Opcode::sine : Opcode::cosine, value(n.a));
    }
    const auto known = angles_.find(n.a);
    SinCos<int> both{};
    if (known != angles_.end()) {
      both = known->second;
    } else {
      const int x = value(n.a);
      if (code_.options.range == RangeCheck::stop)
        emit(Opcode::bound, emit(Opcode::abs, x), bound());
      both = angles_[n.a] = sincos(x, false);
    }
    return sine ? both.sine : both.cosine;
  }

  /// Appends instructions, for make_sincos.
  struct Maker {
    Lowering& lowering;
    bool four;
    int constant(double c) const { return lowering.constant(c, four); }
    int operator()(Opcode opcode, int a, int b, int c = -1) const {
      return lowering.emit(opcode, a, b, c, four);
    }
    int unary(Opcode opcode, int a) const { return lowering.emit(opcode, a, -1, -1, four); }
    int sign(int t, int x, int shift) const {
      return lowering.emit(Opcode::quadrant_sign, t, x, shift, four);
    }
  };
  int bound() { return constant(sincos_bound(code_.options.precision)); }
  SinCos<int> sincos(int x, bool four) {
    if (code_.options.range == RangeCheck::nan) {
      const int size = emit(Opcode::abs, x), limit = bound();
      const int nan = constant(std::numeric_limits<double>::quiet_NaN());
      x = emit(Opcode::select, emit(Opcode::less_equal, size, limit), x, nan);
    }
    return make_sincos(code_.options.precision, x, Maker{*this, four});
  }

  int arc_tangent(const Node& n) {
    const int y = value(n.a), x = value(n.b);
    return make_atan2(code_.options.precision, y, x, Maker{*this, false});
  }

  /// Angles that depend on no other sine: all at the beginning, with one range check.
  void sines_of_inputs() {
    std::vector<char> after_sine(needed_.size(), 0);
    std::vector<int> angles;
    std::vector<char> seen(needed_.size(), 0);
    for (int i = 0; i < graph_.size(); ++i) {
      if (needed_[at(i)] == 0) continue;
      const Node& n = graph_[i];
      const int operands[] = {n.a, n.b, n.c};
      for (int k = 0; k < operand_count(n.op); ++k) {
        if (after_sine[at(operands[k])] != 0) after_sine[at(i)] = 1;
      }
      if (n.op != Op::sine && n.op != Op::cosine) continue;
      if (after_sine[at(n.a)] == 0 && seen[at(n.a)] == 0) {
        seen[at(n.a)] = 1;
        angles.push_back(n.a);
      }
      after_sine[at(i)] = 1;
    }
    if (angles.empty()) return;
    if (code_.options.by_fours) {
      by_fours(angles);
      return;
    }
    int sizes = -1;
    for (const int angle : angles) {
      const int x = value(angle);
      add_size(x, sizes, false);
      angles_[angle] = sincos(x, false);
    }
    emit(Opcode::bound, sizes, bound());
  }

  /// The range check adds |x|: many processors have separate units for sums.
  void add_size(int x, int& sizes, bool four) {
    const int size = emit(Opcode::abs, x, -1, -1, four);
    sizes = sizes < 0 ? size : emit(Opcode::add, sizes, size, -1, four);
  }

  /// An angle that is an input, or an input plus a constant.
  struct InputAngle {
    int angle, input;
    double offset;
  };
  bool is_input_angle(int angle, InputAngle& found) const {
    const Node& n = graph_[angle];
    if (n.op == Op::input) {
      found = {angle, n.a, 0};
      return true;
    }
    if (n.op != Op::add) return false;
    const bool first = graph_.is_constant(n.a);
    const int constant = first ? n.a : n.b, other = first ? n.b : n.a;
    if (!graph_.is_constant(constant) || graph_[other].op != Op::input) return false;
    found = {angle, graph_[other].a, graph_.constant_value(constant)};
    return true;
  }

  /// Which array an input belongs to.
  int array_of(int input) const {
    int k = 0;
    for (; input >= trace_.inputs[at(k)].size(); ++k) input -= trace_.inputs[at(k)].size();
    return k;
  }

  void by_fours(const std::vector<int>& angles) {
    std::vector<InputAngle> inputs;
    std::vector<int> others;
    for (const int angle : angles) {
      InputAngle p{};
      if (is_input_angle(angle, p)) {
        inputs.push_back(p);
      } else {
        others.push_back(angle);
      }
    }
    std::stable_sort(inputs.begin(), inputs.end(),
                     [](const InputAngle& x, const InputAngle& y) { return x.input < y.input; });
    int sizes = -1;
    for (std::size_t k = 0; k < inputs.size();) {
      std::array<int, 4> group{};
      std::array<double, 4> offset{};
      std::size_t count = 0;
      const int first = inputs[k].input;
      while (k < inputs.size() && count < 4 && inputs[k].input == first + static_cast<int>(count) &&
             array_of(inputs[k].input) == array_of(first)) {
        group[count] = inputs[k].angle;
        offset[count++] = inputs[k++].offset;
      }
      int x = emit(Opcode::four_inputs, first, static_cast<int>(count), -1, true);
      if (offset != std::array<double, 4>{}) {
        code_.fours.push_back(offset);
        x = emit(
            Opcode::add, x,
            emit(Opcode::four_constants, static_cast<int>(code_.fours.size()) - 1, -1, -1, true),
            -1, true);
      }
      four_sines(x, group, count, sizes);
    }
    for (std::size_t k = 0; k < others.size(); k += 4) {
      const std::size_t count = std::min<std::size_t>(4, others.size() - k);
      std::array<int, 4> group{}, values{};
      for (std::size_t j = 0; j < 4; ++j) {
        group[j] = others[std::min(k + j, others.size() - 1)];
        values[j] = value(group[j]);
      }
      code_.groups.push_back(values);
      const int x =
          emit(Opcode::four_values, static_cast<int>(code_.groups.size()) - 1, -1, -1, true);
      four_sines(x, group, count, sizes);
    }
    emit(Opcode::bound, sizes, constant(sincos_bound(code_.options.precision), true), -1, true);
  }

  void four_sines(int x, const std::array<int, 4>& group, std::size_t count, int& sizes) {
    add_size(x, sizes, true);
    const SinCos<int> both = sincos(x, true);
    const int sines = emit(Opcode::spread, both.sine, -1, -1, true);
    const int cosines = emit(Opcode::spread, both.cosine, -1, -1, true);
    for (std::size_t j = 0; j < count; ++j) {
      const int lane = static_cast<int>(j);
      angles_[group[j]] = {emit(Opcode::lane, sines, lane), emit(Opcode::lane, cosines, lane)};
    }
  }

  const Trace& trace_;
  const Graph& graph_;
  const std::vector<char>&needed_, &reversed_;
  const Fusion& fusion_;
  Code code_;
  std::vector<int> value_, first_result_, next_result_;
  std::unordered_map<std::uint64_t, int> constants_[2];  ///< single, and four at once
  std::unordered_map<int, SinCos<int>> angles_;          ///< by the node of the angle
};

}  // namespace

Lowerer::Lowerer(const Trace& trace, bool fuse)
    : uses_(std::make_unique<Uses>(trace, fuse)), trace_(trace) {}
Lowerer::~Lowerer() = default;

Code Lowerer::lower(const LowerOptions& options) const {
  return Lowering(trace_, *uses_, options).run();
}

Code lower(const Trace& trace, const LowerOptions& options) {
  return Lowerer(trace, options.fuse).lower(options);
}

}  // namespace limb::codegen
