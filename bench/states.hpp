#pragma once

#include <random>
#include <vector>

#include "limb/batch/rows.hpp"
#include "limb/model/core/model.hpp"

/// Random states of a robot, the same in all benchmarks.
namespace limb::bench {

/// Random configurations, v up to 2, a up to 5, tau up to 20.
class StateSource {
 public:
  explicit StateSource(const Model<double>& model)
      : v(model.nv()), a(model.nv()), tau(model.nv()), model_(model) {}
  void next() {
    std::uniform_real_distribution<double> uniform(-1, 1);
    q = model_.random_configuration(engine_);
    for (double& x : v) x = 2 * uniform(engine_);
    for (double& x : a) x = 5 * uniform(engine_);
    for (double& x : tau) x = 20 * uniform(engine_);
  }
  VectorX<double> q, v, a, tau;

 private:
  const Model<double>& model_;
  std::mt19937_64 engine_{7};
};

struct States {
  States(const Model<double>& model, int count) {
    StateSource source(model);
    for (int i = 0; i < count; ++i) {
      source.next();
      q.push_back(source.q);
      v.push_back(source.v);
      a.push_back(source.a);
      tau.push_back(source.tau);
    }
  }
  std::vector<VectorX<double>> q, v, a, tau;
};

/// Matrices with one state per row, and one for results.
template <typename T>
struct RowStates {
  RowStates(const Model<double>& model, int count, int results)
      : q(count, model.nq()),
        v(count, model.nv()),
        a(count, model.nv()),
        out(RowMatrix<T>::Zero(count, results)) {
    StateSource source(model);
    for (int i = 0; i < count; ++i) {
      source.next();
      q.row(i) = source.q.transpose().template cast<T>();
      v.row(i) = source.v.transpose().template cast<T>();
      a.row(i) = source.a.transpose().template cast<T>();
    }
  }
  RowMatrix<T> q, v, a, out;
};

}  // namespace limb::bench
