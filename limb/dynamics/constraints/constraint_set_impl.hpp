#pragma once

#include <algorithm>

#include "limb/dynamics/constraints/constraint_workspace_data.hpp"
#include "limb/dynamics/factor/mass_factor_impl.hpp"
#include "limb/dynamics/kinematics/columns.hpp"
#include "limb/dynamics/kinematics/frames_impl.hpp"
#include "limb/math/so3.hpp"

namespace limb {
namespace constraint_detail {

inline int lanes_of(int rows) {
  return rows <= 3 ? 4 : 8;
}

template <typename T>
void check_gains(const Stabilization<T>& s) {
  if constexpr (Real<T>) {
    check_not_negative("ConstraintSet", "stiffness", double(s.stiffness));
    check_not_negative("ConstraintSet", "damping", double(s.damping));
  }
}

}  // namespace constraint_detail

template <typename T>
std::vector<LoopClosure<T>> all_loops(const Model<T>& model,
                                      std::type_identity_t<Stabilization<T>> stabilization) {
  std::vector<LoopClosure<T>> loops;
  for (int i = 0; i < static_cast<int>(model.loops().size()); ++i) {
    loops.push_back({i, stabilization});
  }
  return loops;
}

template <typename T>
ConstraintSet<T>::ConstraintSet(const Model<T>& model, std::vector<Contact<T>> contacts,
                                std::vector<LoopClosure<T>> loops)
    : contacts_(std::move(contacts)), loops_(std::move(loops)) {
  for (int y = 0; y < model.nv(); ++y) driven_.push_back(is_actuated(model, y));
  const MassFactor<T> shape(model);
  const auto add_item = [&](int rows, int count) {
    Item item;
    item.rows = rows;
    item.first_branch = static_cast<int>(branches_.size());
    item.branches = count;
    items_.push_back(item);
    max_rows_ += rows;
    return constraint_detail::lanes_of(rows);
  };
  for (const Contact<T>& contact : contacts_) {
    const auto placement = contact.frame.resolve("ConstraintSet", model);
    if (placement.body == 0) {
      fail("ConstraintSet", "frame of contact " + std::to_string(items_.size()),
           "fixed to the world", "a frame that moves");
    }
    constraint_detail::check_gains(contact.stabilization);
    const int lanes = add_item(contact.kind == ContactKind::point ? 3 : 6, 1);
    add_branch(model, shape, placement.body, lanes, placement.X_BF * contact.X_FC, T(1));
  }
  for (const LoopClosure<T>& closure : loops_) {
    const int count = static_cast<int>(model.loops().size());
    if (closure.loop < 0 || closure.loop >= count) {
      fail("ConstraintSet", "loop", std::to_string(closure.loop),
           "one of the " + std::to_string(count) + " loops of the model");
    }
    constraint_detail::check_gains(closure.stabilization);
    const Loop<T>& loop = model.loops()[at(closure.loop)];
    const int lanes = add_item(loop.rows(), 2);
    const std::size_t a = at(loop.body_a.value()), b = at(loop.body_b.value());
    if (loop.kind == LoopKind::polynomial) {
      add_branch(model, shape, b, lanes, T(1));
      add_branch(model, shape, a, lanes, T(-1));
      continue;
    }
    add_branch(model, shape, b, lanes, loop.X_BL, T(1));
    add_branch(model, shape, a, lanes, loop.X_AL, T(-1));
  }

  const auto& joints = model.canonical().joints;
  std::vector<bool> needed(joints.size(), false);
  for (const Branch& branch : branches_) {
    for (int i = branch.joint; i > 0; i = joints[at(i)].parent) needed[at(i)] = true;
  }
  for (std::size_t i = 1; i < needed.size(); ++i) {
    if (needed[i]) support_.push_back(static_cast<int>(i));
  }
  for (const Branch& a : branches_) {
    for (const Branch& b : branches_) {
      int count = 0;
      if (a.length > 0 && b.length > 0) {
        const int *path_a = shape.packed().path_of(a.leaf),
                  *path_b = shape.packed().path_of(b.leaf);
        const int both = std::min(a.length, b.length);
        while (count < both && path_a[count] == path_b[count]) ++count;
      }
      shared_.push_back(count);
    }
  }
  count_rows();
}

/// For a constraint that does not depend on the pose of the body.
template <typename T>
typename ConstraintSet<T>::Branch& ConstraintSet<T>::add_branch(const Model<T>& model,
                                                                const MassFactor<T>& shape,
                                                                std::size_t body, int lanes,
                                                                const T& sign) {
  Branch branch;
  branch.sign = sign;
  branch.start = column_size_;
  if (body > 0) {
    const Body<T>& b = model.bodies()[body];
    branch.leaf = model.coupling().is_identity() ? b.v_start + b.joint.nv() - 1 : model.nv() - 1;
    branch.length = branch.leaf < 0 ? 0 : shape.packed().depth[at(branch.leaf)];
  }
  column_size_ += branch.length * lanes;
  branches_.push_back(branch);
  return branches_.back();
}

template <typename T>
void ConstraintSet<T>::add_branch(const Model<T>& model, const MassFactor<T>& shape,
                                  std::size_t body, int lanes, const Pose<T>& X_BC, const T& sign) {
  Branch& branch = add_branch(model, shape, body, lanes, sign);
  branch.X_JC = X_BC;
  if (body == 0) return;
  const Canonical<T>& robot = model.canonical();
  branch.joint = robot.joint_of_body[body];
  branch.X_JC = robot.joints[at(branch.joint)].X_BC.inverse() * X_BC;
}

template <typename T>
const typename ConstraintSet<T>::Item& ConstraintSet<T>::item(const char* call, int i) const {
  if (i < 0 || i >= size()) {
    fail(std::string("ConstraintSet::") + call, "i", std::to_string(i),
         "one of the " + std::to_string(size()) + " constraints");
  }
  return items_[at(i)];
}

template <typename T>
void ConstraintSet<T>::set_active(int i, bool active) {
  item("set_active", i);
  items_[at(i)].active = active;
  count_rows();
}

template <typename T>
void ConstraintSet<T>::set_target(int i, const Motion<T>& A_target, const Pose<T>& X_WC_target) {
  if (i < 0 || i >= static_cast<int>(contacts_.size())) {
    fail("ConstraintSet::set_target", "i", std::to_string(i),
         "one of the " + std::to_string(contacts_.size()) + " contacts");
  }
  contacts_[at(i)].A_target = A_target;
  contacts_[at(i)].X_WC_target = X_WC_target;
}

template <typename T>
void ConstraintSet<T>::count_rows() {
  rows_ = 0;
  row_groups_.resize(at(max_rows_));
  int group = 0;
  for (Item& item : items_) {
    item.first_row = item.active ? rows_ : -1;
    if (!item.active) continue;
    for (int r = 0; r < item.rows; ++r) row_groups_[at(rows_ + r)] = group + r / 3;
    group += 2;
    rows_ += item.rows;
  }
}

template <typename T>
ConstraintWorkspaceData<T>::ConstraintWorkspaceData(const Model<T>& model,
                                                    const ConstraintSet<T>& set)
    : tree(model, Loops::open),
      factor(model),
      q(VectorX<T>::Constant(model.uncoupled_nq(), T(0))),
      v(VectorX<T>::Constant(model.uncoupled_nv(), T(0))),
      h(VectorX<T>::Constant(model.nv(), T(0))),
      y(h),
      angle((set.support().size() + 3) / 4 * 4, T(0)),
      cosine(angle.size(), T(1)),
      sine(angle),
      bodies(model.canonical().joints.size()),
      S(static_cast<std::size_t>(model.uncoupled_nv())),
      J(static_cast<std::size_t>(set.column_size()), T(0)),
      Y(J),
      Z(J),
      R_W(static_cast<std::size_t>(set.size()), Matrix3<T>::Identity()),
      velocity(VectorX<T>::Constant(set.max_rows(), T(0))),
      drift(velocity),
      rhs(velocity),
      force(velocity),
      dense(MatrixX<T>::Constant(set.max_rows(), model.nv(), T(0))),
      A(MatrixX<T>::Constant(std::max(set.max_rows(), model.nv()),
                             std::max(set.max_rows(), model.nv()), T(0))),
      solve(static_cast<int>(A.rows())) {}

template <typename T>
ConstraintWorkspace<T>::ConstraintWorkspace(const Model<T>& model, const ConstraintSet<T>& set)
    : data_(CopyablePtr<ConstraintWorkspaceData<T>>::make(model, set)) {}

}  // namespace limb
