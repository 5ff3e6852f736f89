#include "limb/codegen/split.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "limb/codegen/functions.hpp"
#include "limb/codegen/record_factors.hpp"

// Derivatives of forward dynamics are X = -M^-1 A, where A holds those of inverse dynamics, with
// entries for related velocities alone (one carries the other). M = L^T D L. Of x = M^-1 a:
//
//   x_r = -K x_P + Lambda a_s
//
// for the velocities r of a branch, P those on the way to it, s those that the branch carries. K
// comes from L alone: -(L_rP - sum of L_rj K_j over j between P and r); Lambda is the inverse of
// the branch's own part of M. Where the branch is not related to the column, a_s is zero: six
// products an entry for a floating robot's limbs instead of as many as a limb's way is long.

namespace limb::codegen {
namespace {

using Factor = kernel::PackedFactor<Traced>;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// Velocities that follow each other without a branch between them.
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

/// Parts of the inverse that the file's head names.
class Branches {
 public:
  explicit Branches(const Factor& F) : F_(F) {}

  /// K of row r, for the first `shared` velocities on its path.
  const std::vector<Traced>& following(int r, int shared) {
    const auto [found, is_new] = following_.try_emplace({r, shared});
    if (!is_new) return found->second;
    const Traced* const L = F_.row(r);
    std::vector<Traced> K(L, L + shared);
    for (int d = shared; d + 1 < F_.depth[at(r)]; ++d) {
      const std::vector<Traced>& other = following(F_.path_of(r)[d], shared);
      for (int m = 0; m < shared; ++m) K[at(m)] -= L[d] * other[at(m)];
    }
    return following_.at({r, shared}) = std::move(K);
  }

  /// Lambda of a chain and what it carries: row i of the chain, column j.
  Traced own_inverse(const Chain& chain, int i, int j) {
    Traced sum(0);
    for (int k = chain.first; k < chain.end() && k <= std::min(i, j); ++k) {
      sum += to_root(i, k) * F_.inverse[k] * to_root(j, k);
    }
    return sum;
  }

 private:
  /// L^-1, entry (i, k).
  Traced to_root(int i, int k) {
    const int depth = F_.depth[at(k)];
    return i == k ? Traced(1) : -following(i, depth)[at(depth - 1)];
  }

  const Factor& F_;
  std::map<std::pair<int, int>, std::vector<Traced>> following_;
};

class Planner {
 public:
  Planner(const Factors& factors, Split& split)
      : x_(factors),
        n_(static_cast<int>(factors.M_inverse.rows())),
        chains_(chains_of(factors.F)),
        branches_(factors.F),
        split_(split) {
    for (auto& numbers : results_) numbers.assign(at(n_ * n_), number_of(Traced(0)));
  }

  /// All products, and the list of numbers that they begin with.
  MatrixX<Traced> run() {
    for (const Chain& chain : chains_) plan(chain);
    std::vector<int> inverse;
    for (int c = 0; c < n_; ++c) {
      for (int r = 0; r < n_; ++r) inverse.push_back(number_of(x_.M_inverse(r, c)));
    }
    return finish(inverse);
  }

 private:
  struct Column {
    const MatrixX<Traced>* A;
    int array, index;
  };

  /// The number of a recorded value.
  int number_of(const Traced& x) {
    const auto [found, is_new] = numbers_.try_emplace(x.node(), static_cast<int>(kept_.size()));
    if (is_new) kept_.push_back(x);
    return found->second;
  }
  static bool is_zero(const Traced& x) { return x.is_constant() && x.constant() == 0; }
  int& result(const Column& c, int r) { return results_[c.array][at(r + c.index * n_)]; }

  bool differs(const std::vector<Column>& columns, int k) const {
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
      if (differs(columns, k)) inner.push_back(k);
    }
    for (int k = chain.end(); k < F.end[at(chain.first)]; ++k) {
      if (differs(columns, k)) inner.push_back(k);
    }
    multiply(rows, 0, {}, inner, columns, [&](int r, int k) { return x_.M_inverse(r, k); });
    std::map<int, std::vector<int>> unrelated;  // by how much of the way is shared
    for (const Chain& other : chains_) {
      const int r = other.first, before = F.depth[at(r)] - 1;
      if (r >= chain.end() && r < F.end[at(chain.first)]) {
        std::vector<int> carried;
        for (const int k : inner) {
          if (k >= r && k < F.end[at(r)]) carried.push_back(k);
        }
        std::vector<int> own;
        for (int i = r; i < other.end(); ++i) own.push_back(i);
        multiply(own, before, F.path_of(r), carried, columns,
                 [&](int i, int k) { return branches_.own_inverse(other, i, k); });
      } else if (!is_on(rows, r)) {
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

  static bool is_on(const std::vector<int>& rows, int r) {
    return std::find(rows.begin(), rows.end(), r) != rows.end();
  }

  /// Rows from the first `shared` on a path, by K, and from entries `inner` of the columns.
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
      for (const int r : rows) p.left.push_back(number_of(branches_.following(r, shared)[at(m)]));
    }
    for (const int k : inner) {
      for (const int r : rows) p.left.push_back(number_of(inverse(r, k)));
    }
    for (const Column& c : columns) {
      for (int m = 0; m < shared; ++m) p.right.push_back(result(c, path[m]));
      for (const int k : inner) p.right.push_back(number_of((*c.A)(k, c.index)));
    }
    for (const Column& c : columns) {
      for (const int r : rows) p.result.push_back(result(c, r) = -1 - computed_++);
    }
    split_.products.push_back(std::move(p));
  }

  /// Results come after all that is kept, whose number is known only now.
  MatrixX<Traced> finish(const std::vector<int>& inverse) {
    const int kept = static_cast<int>(kept_.size());
    const auto settle = [&](std::vector<int>& numbers) {
      for (int& number : numbers) number = number < 0 ? kept - 1 - number : number;
    };
    for (Product& p : split_.products) {
      settle(p.right);
      settle(p.result);
    }
    for (const auto* numbers :
         std::initializer_list<const std::vector<int>*>{&results_[0], &results_[1], &inverse}) {
      split_.results.insert(split_.results.end(), numbers->begin(), numbers->end());
    }
    settle(split_.results);
    split_.size = kept + computed_;
    MatrixX<Traced> list(kept, 1);
    for (int k = 0; k < kept; ++k) list(k, 0) = kept_[at(k)];
    return list;
  }

  const Factors& x_;
  int n_;
  std::vector<Chain> chains_;
  Branches branches_;
  Split& split_;
  std::unordered_map<int, int> numbers_;  ///< of nodes
  std::vector<Traced> kept_;
  int computed_ = 0;
  std::vector<int> results_[2];  ///< by columns; -1 - k: result k of the products
};

}  // namespace

bool can_split(Function function) {
  return function == Function::aba_derivatives;
}

namespace {

/// Leaves of each result the entries of its pattern.
void keep(Split& split, const std::vector<Pattern>& patterns) {
  std::vector<int> kept;
  std::size_t start = 0;
  for (std::size_t k = 0; k < patterns.size(); ++k) {
    Array& x = split.outputs[k];
    for (int j = 0; j < patterns[k].size(); ++j) {
      kept.push_back(split.results[start + at(patterns[k].place(j))]);
    }
    kept.insert(kept.end(), at(patterns[k].zeros), 0);
    start += at(x.size());
    x = {x.name, patterns[k].length()};
  }
  split.results = std::move(kept);
}

}  // namespace

Split FunctionTracer::split(Function function, const std::vector<Pattern>& patterns) const {
  const Signature shape = signature(model_, function, options_);
  if (!can_split(function)) {
    fail("FunctionTracer::split", "function", name(function), "aba_derivatives");
  }
  Split split;
  split.outputs = shape.outputs;
  Tracer tracer(name(function));
  const Factors factors = with_arguments(
      tracer, shape, [&](const Model<Traced>& model, const std::vector<VectorX<Traced>>& in) {
        return record_factors(model, in, options_);
      });
  tracer.output("numbers", Planner(factors, split).run());
  split.trace = tracer.finish();
  if (!patterns.empty()) keep(split, patterns);
  return split;
}

}  // namespace limb::codegen
