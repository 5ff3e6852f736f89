#pragma once

#include <string>

#include "limb/dynamics/arguments.hpp"

/// From joint velocities to generalized velocities: J_y = J_joint G, column by column, without
/// forming the coupling matrix G.
namespace limb {

/// Calls use(column, ratio) for each generalized velocity that moves velocity j of the joint of
/// this body: one for an independent joint, those of its leaders for a follower.
template <typename T, typename Use>
void for_each_column(const Model<T>& model, std::size_t body, int j, const Use& use) {
  const auto& row = model.coupling().rows()[body - 1];
  if (row.yq >= 0) {
    const auto& term = row.terms[static_cast<std::size_t>(j)];
    use(term.y, term.ratio);
    return;
  }
  for (const auto& term : row.terms) use(term.y, term.ratio);
}

/// Calls use(body, j, index) for every joint velocity that moves body i: j counts inside its joint,
/// index among all joint velocities. From the body to the root.
template <typename T, typename Use>
void for_each_ancestor(const Model<T>& model, std::size_t i, const Use& use) {
  while (i > 0) {
    const Body<T>& body = model.bodies()[i];
    for (int j = 0; j < body.joint.nv(); ++j) {
      use(i, j, static_cast<std::size_t>(body.v_start + j));
    }
    i = static_cast<std::size_t>(body.parent.value());
  }
}

/// @throws Error "call: argument is 6 x 5, expected 6 x 7" unless there is one column per velocity.
template <typename T, typename Derived>
void check_columns(const char* call, const char* argument, const Model<T>& model,
                   const Eigen::MatrixBase<Derived>& J) {
  if (J.cols() == model.nv()) return;
  const std::string rows = std::to_string(J.rows()) + " x ";
  fail(call, argument, rows + std::to_string(J.cols()), rows + std::to_string(model.nv()),
       "a column for each velocity of the robot");
}

}  // namespace limb
