#include <algorithm>
#include <bit>
#include <unordered_map>

#include "limb/codegen/atan2_lowering.hpp"
#include "limb/codegen/fusion.hpp"
#include "limb/codegen/sincos_lowering.hpp"

namespace limb::codegen {

int Code::operation_count() const {
  int n = 0;
  for (const Instruction& i : instructions) {
    n += i.act != Act::constant && i.act != Act::input && i.act != Act::lane &&
         i.act != Act::store && i.act != Act::four_constants;
  }
  return n;
}

int Code::count(Act act) const {
  return static_cast<int>(std::count_if(instructions.begin(), instructions.end(),
                                        [&](const Instruction& i) { return i.act == act; }));
}

double sincos_bound(Precision precision) {
  return precision == Precision::f64 ? 1e6 : 31622;
}

namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

/// Of each node: whether a result needs it, how often it is used, whether it is computed the other
/// way round, and with which product.
struct Lowerer::Uses {
  std::vector<char> needed, turned;
  std::vector<int> count;
  Fusion fusion;

  Uses(const Trace& trace, bool fuse) : needed(trace.graph.needed_by(trace.roots)) {
    const Graph& graph = trace.graph;
    count.assign(needed.size(), 0);
    turned.assign(needed.size(), 0);
    for (int i = 0; i < graph.size(); ++i) {
      if (needed[at(i)] == 0) continue;
      const Node& n = graph[i];
      const int operands[] = {n.a, n.b, n.c};
      for (int k = 0; k < operand_count(n.op); ++k) ++count[at(operands[k])];
    }
    for (const int root : trace.roots) ++count[at(root)];
    // A difference of which only the negative is used is computed the other way round.
    for (int i = 0; i < graph.size(); ++i) {
      const Node& n = graph[i];
      if (needed[at(i)] == 0 || n.op != Op::neg) continue;
      if (graph[n.a].op == Op::sub && count[at(n.a)] == 1) turned[at(n.a)] = 1;
    }
    if (fuse) {
      // Code that computes matrices waits for its instructions and for stores, not for products.
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
        turned_(uses.turned),
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
    if (code_.options.inline_sincos) sines_of_inputs();
    for (int i = 0; i < graph_.size(); ++i) {
      if (needed_[at(i)] != 0 && turned_[at(i)] == 0) value(i);
    }
    return std::move(code_);
  }

 private:
  int emit(Act act, int a, int b = -1, int c = -1, bool four = false) {
    code_.instructions.push_back({act, four, a, b, c});
    return static_cast<int>(code_.instructions.size()) - 1;
  }

  int constant(double x, bool four = false) {
    const auto [found, is_new] = constants_[four].try_emplace(std::bit_cast<std::uint64_t>(x), -1);
    if (is_new) {
      code_.constants.push_back(x);
      found->second =
          emit(Act::constant, static_cast<int>(code_.constants.size()) - 1, -1, -1, four);
    }
    return found->second;
  }

  /// Results of each node as a list, next_result_[k] after k.
  void list_results() {
    first_result_.assign(needed_.size(), -1);
    next_result_.assign(trace_.roots.size(), -1);
    for (std::size_t k = trace_.roots.size(); k-- > 0;) {
      next_result_[k] = first_result_[at(trace_.roots[k])];
      first_result_[at(trace_.roots[k])] = static_cast<int>(k);
    }
  }

  /// The value of a node; makes it, and what it needs, where that has not happened.
  int value(int node) {
    int& known = value_[at(node)];
    if (known >= 0 || fusion_.fused[at(node)] != 0) return known;
    const Node& n = graph_[node];
    switch (n.op) {
      case Op::constant:
        known = constant(graph_.constant_value(node));
        break;
      case Op::input:
        known = emit(Act::input, n.a);
        break;
      case Op::add:
      case Op::sub:
        known = sum(node, n, false);
        break;
      case Op::mul:
        known = binary(Act::mul, n);
        break;
      case Op::div:
        known = binary(Act::div, n);
        break;
      case Op::neg:
        known = turned_[at(n.a)] != 0 ? sum(n.a, graph_[n.a], true) : emit(Act::neg, value(n.a));
        break;
      case Op::abs:
        known = emit(Act::abs, value(n.a));
        break;
      case Op::sqrt:
        known = emit(Act::sqrt, value(n.a));
        break;
      case Op::sine:
      case Op::cosine:
        known = sine_or_cosine(n);
        break;
      case Op::atan2:
        known = code_.options.inline_sincos ? arc_tangent(n) : binary(Act::atan2, n);
        break;
      case Op::less:
        known = binary(Act::less, n);
        break;
      case Op::less_equal:
        known = binary(Act::less_equal, n);
        break;
      case Op::both:
        known = binary(Act::both, n);
        break;
      case Op::either:
        known = binary(Act::either, n);
        break;
      case Op::complement:
        known = emit(Act::complement, value(n.a));
        break;
      case Op::select: {
        const int mask = value(n.a), a = value(n.b), b = value(n.c);
        known = emit(Act::select, mask, a, b);
        break;
      }
    }
    for (int k = first_result_[at(node)]; k >= 0; k = next_result_[at(k)]) {
      emit(Act::store, known, k);
    }
    return known;
  }

  int binary(Act act, const Node& n) {
    const int a = value(n.a), b = value(n.b);
    return emit(act, a, b);
  }

  /// a + b or a - b; `turned`: b - a.
  int sum(int node, const Node& n, bool turned) {
    const int fused = fusion_.product[at(node)];
    if (fused < 0) {
      const int a = value(n.a), b = value(n.b);
      return emit(n.op == Op::add ? Act::add : Act::sub, turned ? b : a, turned ? a : b);
    }
    const bool left = fused == n.a;
    const Node& product = graph_[left ? n.a : n.b];
    const int x = value(product.a), y = value(product.b), z = value(left ? n.b : n.a);
    const Act act = n.op == Op::add ? Act::fma : left != turned ? Act::fms : Act::fnma;
    return emit(act, x, y, z);
  }

  int sine_or_cosine(const Node& n) {
    const bool sine = n.op == Op::sine;
    if (!code_.options.inline_sincos) {
      return emit(sine ? Act::sine : Act::cosine, value(n.a));
    }
    const auto known = angles_.find(n.a);
    SinCos<int> both{};
    if (known != angles_.end()) {
      both = known->second;
    } else {
      const int x = value(n.a);
      emit(Act::bound, emit(Act::abs, x), constant(sincos_bound(code_.options.precision)));
      both = angles_[n.a] = sincos(x, false);
    }
    return sine ? both.sine : both.cosine;
  }

  /// Appends instructions, for make_sincos.
  struct Maker {
    Lowering& lowering;
    bool four;
    int constant(double c) const { return lowering.constant(c, four); }
    int operator()(Act act, int a, int b, int c = -1) const {
      return lowering.emit(act, a, b, c, four);
    }
    int of_one(Act act, int a) const { return lowering.emit(act, a, -1, -1, four); }
    int sign(int t, int x, int more) const {
      return lowering.emit(Act::quadrant_sign, t, x, more, four);
    }
  };
  SinCos<int> sincos(int x, bool four) {
    return make_sincos(code_.options.precision, x, Maker{*this, four});
  }

  int arc_tangent(const Node& n) {
    const int y = value(n.a), x = value(n.b);
    return make_atan2(code_.options.precision, y, x, Maker{*this, false});
  }

  /// Angles that need no other sine: all at the beginning, with one check of their size.
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
    emit(Act::bound, sizes, constant(sincos_bound(code_.options.precision)));
  }

  /// Sums have units of their own in many processors; sizes would take those of products.
  void add_size(int x, int& sizes, bool four) {
    const int size = emit(Act::abs, x, -1, -1, four);
    sizes = sizes < 0 ? size : emit(Act::add, sizes, size, -1, four);
  }

  /// An angle that is an input, plus a constant perhaps.
  struct Plain {
    int angle, input;
    double offset;
  };
  bool is_plain(int angle, Plain& plain) const {
    const Node& n = graph_[angle];
    if (n.op == Op::input) {
      plain = {angle, n.a, 0};
      return true;
    }
    if (n.op != Op::add) return false;
    const bool first = graph_.is_constant(n.a);
    const int constant = first ? n.a : n.b, other = first ? n.b : n.a;
    if (!graph_.is_constant(constant) || graph_[other].op != Op::input) return false;
    plain = {angle, graph_[other].a, graph_.constant_value(constant)};
    return true;
  }

  /// Which array an input belongs to.
  int array_of(int input) const {
    int k = 0;
    for (; input >= trace_.inputs[at(k)].size(); ++k) input -= trace_.inputs[at(k)].size();
    return k;
  }

  void by_fours(const std::vector<int>& angles) {
    std::vector<Plain> plain;
    std::vector<int> others;
    for (const int angle : angles) {
      Plain p{};
      if (is_plain(angle, p)) {
        plain.push_back(p);
      } else {
        others.push_back(angle);
      }
    }
    std::stable_sort(plain.begin(), plain.end(),
                     [](const Plain& x, const Plain& y) { return x.input < y.input; });
    int sizes = -1;
    for (std::size_t k = 0; k < plain.size();) {
      std::array<int, 4> group{};
      std::array<double, 4> offset{};
      std::size_t count = 0;
      const int first = plain[k].input;
      while (k < plain.size() && count < 4 && plain[k].input == first + static_cast<int>(count) &&
             array_of(plain[k].input) == array_of(first)) {
        group[count] = plain[k].angle;
        offset[count++] = plain[k++].offset;
      }
      int x = emit(Act::four_inputs, first, static_cast<int>(count), -1, true);
      if (offset != std::array<double, 4>{}) {
        code_.fours.push_back(offset);
        x = emit(Act::add, x,
                 emit(Act::four_constants, static_cast<int>(code_.fours.size()) - 1, -1, -1, true),
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
      const int x = emit(Act::four_values, static_cast<int>(code_.groups.size()) - 1, -1, -1, true);
      four_sines(x, group, count, sizes);
    }
    emit(Act::bound, sizes, constant(sincos_bound(code_.options.precision), true), -1, true);
  }

  void four_sines(int x, const std::array<int, 4>& group, std::size_t count, int& sizes) {
    add_size(x, sizes, true);
    const SinCos<int> both = sincos(x, true);
    const int sines = emit(Act::spread, both.sine, -1, -1, true);
    const int cosines = emit(Act::spread, both.cosine, -1, -1, true);
    for (std::size_t j = 0; j < count; ++j) {
      const int lane = static_cast<int>(j);
      angles_[group[j]] = {emit(Act::lane, sines, lane), emit(Act::lane, cosines, lane)};
    }
  }

  const Trace& trace_;
  const Graph& graph_;
  const std::vector<char>&needed_, &turned_;
  const Fusion& fusion_;
  Code code_;
  std::vector<int> value_, first_result_, next_result_;
  std::unordered_map<std::uint64_t, int> constants_[2];  ///< of one, of four
  std::unordered_map<int, SinCos<int>> angles_;          ///< of the node of an angle
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
