// Tasks in the order of their priority: a program for each level, in which the tasks before keep
// what they have reached. [Escande 2014] solves all levels at once; here they are solved one by
// one, each from its own solution before.
#include <algorithm>

#include "limb/control/whole_body.hpp"

namespace limb {

/// Rows of all tasks with a priority below this.
int WholeBody::task_rows(int before) const {
  const TaskPriorities& first = options_.priority;
  int swing = 0;
  for (const Foot& foot : feet_) swing += foot.is_sole() ? 6 : 3;
  return (first.mass_center < before ? 3 : 0) + (first.turn < before ? 3 : 0) +
         (first.swing < before ? swing : 0) +
         (first.posture < before ? static_cast<int>(joints_.size()) : 0) +
         (first.force < before ? 3 * points_ : 0);
}

void WholeBody::make_levels() {
  const TaskPriorities& first = options_.priority;
  std::vector<int> numbers = {first.mass_center, first.turn, first.swing, first.posture,
                              first.force};
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  const int equations = places_.back().first_row + places_.back().rows;
  const int inequalities =
      points_ * (options_.cone_faces + 1) + 2 * static_cast<int>(joints_.size());
  // What a level leaves of its constraints to its tolerance, the next one must make good: each is
  // solved ten times as well as the next.
  QpOptions qp = options_.qp;
  for (std::size_t i = 1; i < numbers.size(); ++i) qp.tolerance *= 0.1;
  for (const int priority : numbers) {
    const int kept = task_rows(priority);
    levels_.push_back({priority, kept, Qp(n_ + 3 * points_, equations + kept, inequalities, qp)});
    qp.tolerance *= 10;
    qp.surely_feasible = true;  // the solution of this level is a point of the next one
  }
}

// Equations J x = J x_ for the tasks of the levels before. A foot that stands has none: 0 = 0.
void WholeBody::write_kept(const WholeBodyTargets& targets, const Level& level, Qp& qp) {
  if (level.kept == 0) return;
  const TaskPriorities& first = options_.priority;
  auto A = qp.A();
  int row = qp.equalities() - level.kept;
  const auto keep = [&](const auto& J) {
    A.block(row, 0, J.rows(), n_) = J;
    qp.b().segment(row, J.rows()).noalias() = J.lazyProduct(x_.head(n_));
    row += static_cast<int>(J.rows());
  };
  const auto keep_variable = [&](int i) {
    A(row, i) = 1;
    qp.b()[row++] = x_[i];
  };
  qp.b().tail(level.kept).setZero();
  if (first.mass_center < level.priority) keep(J_com_);
  if (first.turn < level.priority) keep(J_base_.bottomRows<3>());
  for (std::size_t i = 0; i < feet_.size() && first.swing < level.priority; ++i) {
    if (targets.feet[i].stands) {
      row += places_[i].rows;
    } else {
      keep(J_feet_[i].topRows(places_[i].rows));
    }
  }
  if (first.posture < level.priority) {
    for (const Joint& joint : joints_) keep_variable(joint.velocity);
  }
  if (first.force < level.priority) {
    for (int i = 0; i < 3 * points_; ++i) keep_variable(n_ + i);
  }
}

}  // namespace limb
