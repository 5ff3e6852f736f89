#pragma once

#include "limb/dynamics/branch_inverse_impl.hpp"
#include "limb/dynamics/constrained_derivatives_impl.hpp"
#include "limb/dynamics/derivative_workspace.hpp"
#include "limb/dynamics/loop_derivatives.hpp"
#include "limb/dynamics/mass_factor_impl.hpp"
#include "limb/dynamics/place_impl.hpp"
#include "limb/dynamics/workspace_impl.hpp"

namespace limb {
namespace kernel {

/// Masses and axis of freedom k of a step, into a lane.
template <typename T>
void fill_lane(const CanonicalStep<T>& step, int k, int lane,
               typename DerivativeWorkspace<T>::Bunch& bunch) {
  T unit[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
  unit[k] = T(1);
  const Pair<T> S = motion_of(step, unit);
  const T axis[6] = {S.angular.x, S.angular.y, S.angular.z, S.linear.x, S.linear.y, S.linear.z};
  for (int c = 0; c < 3; ++c) {
    bunch.angular[c][lane] = axis[c];
    bunch.linear[c][lane] = axis[3 + c];
  }
  if (k + 1 < freedoms(step)) return;
  const Matrix3<T>& M = step.second_moments;
  const T moments[6] = {M(0, 0), M(1, 0), M(2, 0), M(1, 1), M(2, 1), M(2, 2)};
  bunch.m[lane] = step.mass;
  for (int c = 0; c < 3; ++c) bunch.h[c][lane] = step.first_moment[c];
  for (int c = 0; c < 6; ++c) bunch.S[c][lane] = moments[c];
}

/// The steps of a robot in bunches: a new one where the way branches, where four lanes are full,
/// and where a joint of several freedoms would not fit in one.
template <typename T>
std::vector<typename DerivativeWorkspace<T>::Bunch> bunches(const Canonical<T>& robot,
                                                            bool floating) {
  using Bunch = typename DerivativeWorkspace<T>::Bunch;
  const auto& steps = robot.steps;
  const int count = static_cast<int>(steps.size()), root = floating ? 1 : 0;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  std::vector<int> children(steps.size(), 0), ends_in(steps.size(), 0);
  for (int i = 1; i < count; ++i) ++children[at(steps[at(i)].parent)];
  std::vector<Bunch> all(1);
  for (int i = root + 1; i < count; ++i) {
    const CanonicalStep<T>& step = steps[at(i)];
    const int own = freedoms(step), parent = step.parent;
    const bool follows = parent > root && children[at(parent)] == 1 &&
                         step.v == steps[at(parent)].v + freedoms(steps[at(parent)]) &&
                         all.back().count + std::min(own, 4) <= 4;
    for (int k = 0; k < own; ++k) {
      if (k == 0 ? !follows : all.back().count == 4) {
        Bunch next;
        next.v = step.v + k;
        next.v_end = step.v_end;
        next.parent = k > 0 ? static_cast<int>(all.size()) - 1 : ends_in[at(parent)];
        next.level = all[at(next.parent)].level + 1;
        ++all[at(next.parent)].children;
        all.push_back(next);
      }
      Bunch& bunch = all.back();
      const int lane = bunch.count++;
      for (int m = lane; m < 4; ++m) {
        bunch.step[m] = i;
        bunch.first[m] = bunch.last[m] = m;
      }
      bunch.first[lane] = k > lane ? -1 : lane - k;
      bunch.last[lane] = lane + own - 1 - k;
      bunch.turning = bunch.turning && step.kind == CanonicalStep<T>::Kind::revolute;
      bunch.several = bunch.several || own > 1;
      bunch.light = bunch.light && step.regrouped;
      fill_lane(step, k, lane, bunch);
    }
    ends_in[at(i)] = static_cast<int>(all.size()) - 1;
  }
  for (Bunch& bunch : all) {
    for (int c = 0; c < 4; ++c) {
      for (int r = 0; r < 4; ++r) bunch.row[c][r] = r >= bunch.first[c] ? -1 : 0;
    }
  }
  return all;
}

}  // namespace kernel

template <typename T>
DerivativeWorkspace<T>::DerivativeWorkspace(const Model<T>& model, Loops loops_of_model)
    : tree(model, Loops::open), factor(model) {
  if (loops_of_model == Loops::closed && !model.loops().empty()) {
    loops = Owned<LoopDerivatives<T>>::make(model);
  }
  const Canonical<T>& robot = model.canonical();
  using Kind = typename CanonicalStep<T>::Kind;
  floating = robot.steps.size() > 1 && robot.steps[1].kind == Kind::free &&
             robot.steps[1].parent == 0 && robot.steps[1].v_end == robot.nv;
  stands.resize(robot.steps.size());
  bunches = kernel::bunches(robot, floating);
  seen.resize(bunches.size() + 1);  // one more, of which nothing is used, behind the last
  for (std::size_t i = 1; i < bunches.size(); ++i) {
    Bunch& bunch = bunches[i];
    // All velocities but those on the way, its own, and those it carries.
    std::vector<bool> related(static_cast<std::size_t>(robot.nv), false);
    const auto mark = [&](int begin, int end) {
      std::fill(related.begin() + begin, related.begin() + end, true);
    };
    if (floating) mark(0, 6);
    mark(bunch.v, bunch.v_end);
    for (int b = bunch.parent; b > 0; b = bunches[static_cast<std::size_t>(b)].parent) {
      const Bunch& before = bunches[static_cast<std::size_t>(b)];
      mark(before.v, before.v + before.count);
    }
    bunch.zeros_begin = static_cast<int>(zeros.size());
    for (int v = 0; v < robot.nv; ++v) {
      if (related[static_cast<std::size_t>(v)]) continue;
      const int begin = v;
      while (v < robot.nv && !related[static_cast<std::size_t>(v)]) ++v;
      zeros.push_back({begin, v});
    }
    bunch.zeros_end = static_cast<int>(zeros.size());
  }
  inverse = kernel::BranchInverse<T>(factor.packed());
  const int n = model.velocity_size();
  a = rest = VectorX<T>::Constant(n, T(0));
  own_q = own_v = own_a = MatrixX<T>::Constant(n, n, T(0));
  if (!model.coupling().is_identity()) {
    dq = dv = da = MatrixX<T>::Constant(model.nv(), model.nv(), T(0));
  }
}

}  // namespace limb
