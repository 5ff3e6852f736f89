#include "limb/codegen/record/split_planner.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

// The derivatives of forward dynamics are X = -M^-1 A, where A holds those of inverse dynamics. An
// entry of A is nonzero only if one of its two velocities is an ancestor of the other. M = L^T D L.
// For a column a of A, x = M^-1 a is
//
//   x_r = -K x_P + Lambda a_s
//
// for the velocities r of a branch, P those on the path to it, s those of the branch's subtree. K
// follows from L: -(L_rP - sum of L_rj K_j over j between P and r); Lambda is the inverse of the
// block of M that belongs to the branch. Where the branch is unrelated to the column, a_s is zero:
// six products per entry for the limbs of a floating robot instead of one per joint of the path.

namespace limb::codegen {
namespace {

using Factor = kernel::PackedFactor<Traced>;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// Consecutive velocities without a branch between them.
struct Chain {
  int first, count;
  int end() const { return first + count; }
};

std::vector<Chain> chains_of(const Factor& F) {
  const int n = static_cast<int>(F.depth.size());
  const auto parent = [&](int k) {
    return F.depth[at(k)] > 1 ? F.path_of(k)[F.depth[at(k)] - 2] : -1;
  };
  std::vector<int> children(at(n), 0);
  for (int k = 0; k < n; ++k) {
    if (parent(k) >= 0) ++children[at(parent(k))];
  }
  std::vector<Chain> chains;
  for (int k = 0; k < n; ++k) {
    const bool follows = k > 0 && parent(k) == k - 1 && children[at(k - 1)] == 1;
    if (!follows) chains.push_back({k, 0});
    ++chains.back().count;
  }
  return chains;
}

/// K and Lambda, see the top of the file.
class BranchInverse {
 public:
  explicit BranchInverse(const Factor& F) : F_(F) {}

  /// Row r of K, for the first `shared` velocities on its path.
  const std::vector<Traced>& K_row(int r, int shared) {
    const auto [found, is_new] = K_.try_emplace({r, shared});
    if (!is_new) return found->second;
    const Traced* const L = F_.row(r);
    std::vector<Traced> K(L, L + shared);
    for (int d = shared; d + 1 < F_.depth[at(r)]; ++d) {
      const std::vector<Traced>& other = K_row(F_.path_of(r)[d], shared);
      for (int m = 0; m < shared; ++m) K[at(m)] -= L[d] * other[at(m)];
    }
    return K_.at({r, shared}) = std::move(K);
  }

  /// Entry of Lambda of a chain and its subtree: row i of the chain, column j.
  Traced Lambda(const Chain& chain, int i, int j) {
    Traced sum(0);
    for (int k = chain.first; k < chain.end() && k <= std::min(i, j); ++k) {
      sum += L_inverse(i, k) * F_.inverse[k] * L_inverse(j, k);
    }
    return sum;
  }

 private:
  /// Entry (i, k) of L^-1.
  Traced L_inverse(int i, int k) {
    const int depth = F_.depth[at(k)];
    return i == k ? Traced(1) : -K_row(i, depth)[at(depth - 1)];
  }

  const Factor& F_;
  std::map<std::pair<int, int>, std::vector<Traced>> K_;
};

class SplitPlanner {
 public:
  SplitPlanner(const DerivativeFactors& factors, Split& split)
      : x_(factors),
        n_(static_cast<int>(factors.M_inverse.rows())),
        chains_(chains_of(factors.F)),
        branches_(factors.F),
        split_(split) {
    for (auto& indices : results_) indices.assign(at(n_ * n_), index_of(Traced(0)));
  }

  /// Plans all products. @returns the values of the first step.
  MatrixX<Traced> run() {
    for (const Chain& chain : chains_) plan(chain);
    std::vector<int> inverse;
    for (int c = 0; c < n_; ++c) {
      for (int r = 0; r < n_; ++r) inverse.push_back(index_of(x_.M_inverse(r, c)));
    }
    return finish(inverse);
  }

 private:
  struct Column {
    const MatrixX<Traced>* A;
    int array, index;
  };

  /// The index of a recorded value in the list.
  int index_of(const Traced& x) {
    const auto [found, is_new] = indices_.try_emplace(x.node(), static_cast<int>(values_.size()));
    if (is_new) values_.push_back(x);
    return found->second;
  }
  static bool is_zero(const Traced& x) { return x.is_constant() && x.constant() == 0; }
  int& result(const Column& c, int r) { return results_[c.array][at(r + c.index * n_)]; }

  bool is_nonzero(const std::vector<Column>& columns, int k) const {
    for (const Column& c : columns) {
      if (!is_zero((*c.A)(k, c.index))) return true;
    }
    return false;
  }

  /// All rows of the columns of a chain.
  void plan(const Chain& chain) {
    const Factor& F = x_.F;
    std::vector<Column> columns;
    for (int c = chain.first; c < chain.end(); ++c) {
      int array = 0;
      for (const MatrixX<Traced>* A : {&x_.dtau_dq, &x_.dtau_dv}) {
        bool zero = true;
        for (int r = 0; r < n_; ++r) zero = zero && is_zero((*A)(r, c));
        if (!zero) columns.push_back({A, array, c});
        ++array;
      }
    }
    std::vector<int> rows(F.path_of(chain.first),
                          F.path_of(chain.first) + F.depth[at(chain.first)]);
    for (int r = chain.first + 1; r < chain.end(); ++r) rows.push_back(r);
    std::vector<int> inner;
    for (const int k : rows) {
      if (is_nonzero(columns, k)) inner.push_back(k);
    }
    for (int k = chain.end(); k < F.end[at(chain.first)]; ++k) {
      if (is_nonzero(columns, k)) inner.push_back(k);
    }
    multiply(rows, 0, {}, inner, columns, [&](int r, int k) { return x_.M_inverse(r, k); });
    std::map<int, std::vector<int>> unrelated;  // by the length of the shared path
    for (const Chain& other : chains_) {
      const int r = other.first, before = F.depth[at(r)] - 1;
      if (r >= chain.end() && r < F.end[at(chain.first)]) {
        std::vector<int> in_subtree;
        for (const int k : inner) {
          if (k >= r && k < F.end[at(r)]) in_subtree.push_back(k);
        }
        std::vector<int> chain_rows;
        for (int i = r; i < other.end(); ++i) chain_rows.push_back(i);
        multiply(chain_rows, before, F.path_of(r), in_subtree, columns,
                 [&](int i, int k) { return branches_.Lambda(other, i, k); });
      } else if (!contains(rows, r)) {
        int shared = 0;
        while (shared < before && shared < F.depth[at(chain.first)] &&
               F.path_of(r)[shared] == F.path_of(chain.first)[shared]) {
          ++shared;
        }
        for (int i = r; shared > 0 && i < other.end(); ++i) unrelated[shared].push_back(i);
      }
    }
    for (const auto& [shared, others] : unrelated) {
      multiply(others, shared, F.path_of(chain.first), {}, columns,
               [](int, int) { return Traced(0); });
    }
  }

  static bool contains(const std::vector<int>& rows, int r) {
    return std::find(rows.begin(), rows.end(), r) != rows.end();
  }

  /// Rows from the first `shared` velocities on a path, by K, and from entries `inner` of the
  /// columns.
  template <typename Inverse>
  void multiply(const std::vector<int>& rows, int shared, const int* path,
                const std::vector<int>& inner, const std::vector<Column>& columns,
                const Inverse& inverse) {
    Product p;
    p.rows = static_cast<int>(rows.size());
    p.inner = shared + static_cast<int>(inner.size());
    p.columns = static_cast<int>(columns.size());
    if (p.columns == 0 || p.inner == 0) return;
    for (int m = 0; m < shared; ++m) {
      for (const int r : rows) p.left.push_back(index_of(branches_.K_row(r, shared)[at(m)]));
    }
    for (const int k : inner) {
      for (const int r : rows) p.left.push_back(index_of(inverse(r, k)));
    }
    for (const Column& c : columns) {
      for (int m = 0; m < shared; ++m) p.right.push_back(result(c, path[m]));
      for (const int k : inner) p.right.push_back(index_of((*c.A)(k, c.index)));
    }
    for (const Column& c : columns) {
      for (const int r : rows) p.result.push_back(result(c, r) = -1 - computed_++);
    }
    split_.products.push_back(std::move(p));
  }

  /// Results come after the values of the first step, whose number is known only now.
  MatrixX<Traced> finish(const std::vector<int>& inverse) {
    const int count = static_cast<int>(values_.size());
    const auto resolve = [&](std::vector<int>& indices) {
      for (int& index : indices) index = index < 0 ? count - 1 - index : index;
    };
    for (Product& p : split_.products) {
      resolve(p.right);
      resolve(p.result);
    }
    for (const auto* indices :
         std::initializer_list<const std::vector<int>*>{&results_[0], &results_[1], &inverse}) {
      split_.results.insert(split_.results.end(), indices->begin(), indices->end());
    }
    resolve(split_.results);
    split_.size = count + computed_;
    MatrixX<Traced> list(count, 1);
    for (int k = 0; k < count; ++k) list(k, 0) = values_[at(k)];
    return list;
  }

  const DerivativeFactors& x_;
  int n_;
  std::vector<Chain> chains_;
  BranchInverse branches_;
  Split& split_;
  std::unordered_map<int, int> indices_;  ///< by node
  std::vector<Traced> values_;
  int computed_ = 0;
  std::vector<int> results_[2];  ///< by columns; -1 - k: result k of the products
};

}  // namespace

MatrixX<Traced> plan_products(const DerivativeFactors& factors, Split& split) {
  return SplitPlanner(factors, split).run();
}

}  // namespace limb::codegen
