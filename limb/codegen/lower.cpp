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

Operands operands_of(const Instruction& i) {
  switch (i.act) {
    case Act::constant:
    case Act::input:
    case Act::lane:
    case Act::four_inputs:
    case Act::four_constants:
    case Act::four_values:
      return {};
    case Act::neg:
    case Act::abs:
    case Act::sqrt:
    case Act::sine:
    case Act::cosine:
    case Act::complement:
    case Act::spread:
    case Act::store:
      return {1, {i.a, -1, -1}};
    case Act::fma:
    case Act::fms:
    case Act::fnma:
    case Act::select:
    case Act::quadrant_choice:
      return {3, {i.a, i.b, i.c}};
    default:  // quadrant_sign and bound, too, have two: their last field is a number
      return {2, {i.a, i.b, -1}};
  }
}

double sincos_bound(Precision precision) {
  return precision == Precision::f64 ? 1e12 : 1e9;
}

namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

class Lowering {
 public:
  Lowering(const Trace& trace, const LowerOptions& options) : trace_(trace), graph_(trace.graph) {
    code_.name = trace.name;
    code_.options = options;
    code_.inputs = trace.inputs;
    code_.outputs = trace.outputs;
    code_.instructions.reserve(trace.graph.size() > 0 ? at(trace.graph.size()) : 0);
  }

  Code run() {
    needed_ = graph_.needed_by(trace_.roots);
    value_.assign(needed_.size(), -1);
    count_uses();
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

  void count_uses() {
    uses_.assign(needed_.size(), 0);
    for (int i = 0; i < graph_.size(); ++i) {
      if (needed_[at(i)] == 0) continue;
      const Node& n = graph_[i];
      const int operands[] = {n.a, n.b, n.c};
      for (int k = 0; k < operand_count(n.op); ++k) ++uses_[at(operands[k])];
    }
    for (const int root : trace_.roots) ++uses_[at(root)];
    // A difference of which only the negative is used is computed the other way round.
    turned_.assign(needed_.size(), 0);
    for (int i = 0; i < graph_.size(); ++i) {
      const Node& n = graph_[i];
      if (needed_[at(i)] == 0 || n.op != Op::neg) continue;
      if (graph_[n.a].op == Op::sub && uses_[at(n.a)] == 1) turned_[at(n.a)] = 1;
    }
    if (code_.options.fuse) {
      // Code that computes matrices waits for its instructions and for stores, not for products.
      const bool matrices = trace_.output_size() > 2 * trace_.input_size();
      fusion_ = choose_fusion(graph_, needed_, uses_, matrices);
    } else {
      fusion_.product.assign(needed_.size(), -1);
      fusion_.fused.assign(needed_.size(), 0);
    }
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
      emit(Act::bound, emit(Act::mul, x, x), constant(sincos_bound(code_.options.precision)));
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
    int squares = -1;
    for (const int angle : angles) {
      const int x = value(angle);
      squares = squares < 0 ? emit(Act::mul, x, x) : emit(Act::fma, x, x, squares);
      angles_[angle] = sincos(x, false);
    }
    emit(Act::bound, squares, constant(sincos_bound(code_.options.precision)));
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
    int squares = -1;
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
      four_sines(x, group, count, squares);
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
      four_sines(x, group, count, squares);
    }
    emit(Act::bound, squares, constant(sincos_bound(code_.options.precision), true), -1, true);
  }

  void four_sines(int x, const std::array<int, 4>& group, std::size_t count, int& squares) {
    squares = squares < 0 ? emit(Act::mul, x, x, -1, true) : emit(Act::fma, x, x, squares, true);
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
  Code code_;
  std::vector<char> needed_, turned_;
  Fusion fusion_;
  std::vector<int> value_, uses_, first_result_, next_result_;
  std::unordered_map<std::uint64_t, int> constants_[2];  ///< of one, of four
  std::unordered_map<int, SinCos<int>> angles_;          ///< of the node of an angle
};

}  // namespace

Code lower(const Trace& trace, const LowerOptions& options) {
  return Lowering(trace, options).run();
}

}  // namespace limb::codegen
