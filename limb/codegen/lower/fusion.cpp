#include "limb/codegen/lower/fusion.hpp"

namespace limb::codegen {
namespace {

constexpr int kMaxCopies = 4;  ///< of a shared product

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

class FusionChooser {
 public:
  FusionChooser(const Graph& graph, const std::vector<char>& needed, const std::vector<int>& uses,
                bool copy)
      : graph_(graph),
        uses_(uses),
        sums_(needed.size(), 0),
        first_sum_(needed.size(), -1),
        next_sum_(2 * needed.size(), -1) {
    fusion_.product.assign(needed.size(), -1);
    fusion_.fused.assign(needed.size(), 0);
    for (int i = graph.size() - 1; i >= 0; --i) {
      if (needed[at(i)] == 0 || !is_sum(i)) continue;
      for (const int side : {1, 0}) {
        const int k = operand(2 * i + side);
        ++sums_[at(k)];
        next_sum_[at(2 * i + side)] = first_sum_[at(k)];
        first_sum_[at(k)] = 2 * i + side;
      }
    }
    // Shared products first, where no product with a single use could be fused instead.
    for (int k = 0; copy && k < graph.size(); ++k) {
      if (needed[at(k)] != 0 && is_product(k) && uses[at(k)] > 1 && can_fuse(k)) fuse(k);
    }
    for (int i = 0; i < graph.size(); ++i) {
      if (needed[at(i)] == 0 || !is_sum(i) || fusion_.product[at(i)] >= 0) continue;
      // The later product: the other one is likely to be finished.
      const int a = graph[i].a, b = graph[i].b;
      int product = is_single_product(b) ? b : -1;
      if (is_single_product(a) && a > product) product = a;
      if (product >= 0) fuse(product);
    }
  }

  Fusion take() { return std::move(fusion_); }

 private:
  bool is_sum(int i) const { return graph_[i].op == Op::add || graph_[i].op == Op::sub; }
  bool is_product(int k) const {
    return graph_[k].op == Op::mul && uses_[at(k)] == sums_[at(k)] && uses_[at(k)] <= kMaxCopies;
  }
  bool is_single_product(int k) const { return is_product(k) && uses_[at(k)] == 1; }
  /// The operand of a use, which is 2 sum + 0 (left) or 1 (right).
  int operand(int use) const { return use % 2 == 1 ? graph_[use / 2].b : graph_[use / 2].a; }

  bool can_fuse(int k) const {
    for (int use = first_sum_[at(k)]; use >= 0; use = next_sum_[at(use)]) {
      const int other = operand(use ^ 1);
      if (fusion_.product[at(use / 2)] >= 0 || other == k || is_single_product(other)) return false;
    }
    return true;
  }

  void fuse(int k) {
    fusion_.fused[at(k)] = 1;
    for (int use = first_sum_[at(k)]; use >= 0; use = next_sum_[at(use)]) {
      fusion_.product[at(use / 2)] = k;
    }
  }

  const Graph& graph_;
  const std::vector<int>& uses_;
  std::vector<int> sums_;                  ///< how many sums use a node
  std::vector<int> first_sum_, next_sum_;  ///< the uses of a node in sums, as lists
  Fusion fusion_;
};

}  // namespace

Fusion choose_fusion(const Graph& graph, const std::vector<char>& needed,
                     const std::vector<int>& uses, bool copy) {
  return FusionChooser(graph, needed, uses, copy).take();
}

}  // namespace limb::codegen
