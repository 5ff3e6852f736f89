#include "limb/dynamics/constraints/actuation.hpp"

#include <Eigen/SVD>

#include "limb/dynamics/constraints/actuation_impl.hpp"
#include "limb/dynamics/kinematics/frames_impl.hpp"

namespace limb {

template <Real T>
Underactuation<T> underactuation(const Model<T>& model, const ConstraintSet<T>& set,
                                 ConstraintWorkspace<T>& work, VectorIn<T>& q) {
  check_position("underactuation", "q", model, q);
  const int n = model.nv();
  MatrixX<T> J(set.rows(), n);
  VectorX<T> drift(set.rows());
  constraint_jacobian<T>(model, set, work, q, VectorX<T>::Zero(n), J, drift);
  Underactuation<T> report;
  report.velocities = n;
  report.rows = set.rows();
  report.motors = actuation_detail::for_each_motor(model, [&](int velocity, int motor) {
    if (motor < 0) report.unactuated.push_back(velocity);
  });
  const Eigen::Index free = static_cast<Eigen::Index>(report.unactuated.size());
  MatrixX<T> J_u(set.rows(), free);
  for (Eigen::Index c = 0; c < free && J.rows() > 0; ++c) {
    J_u.col(c) = J.col(report.unactuated[static_cast<std::size_t>(c)]);
  }
  Eigen::Index rank = 0;
  MatrixX<T> V = MatrixX<T>::Identity(free, free);
  if (J_u.size() > 0) {
    Eigen::JacobiSVD<MatrixX<T>> svd(J_u, Eigen::ComputeFullV);
    // The entries are known to rounding only: smaller singular values count as zero.
    svd.setThreshold(T(64) * epsilon<T>() * T(std::max(J_u.rows(), J_u.cols())));
    rank = svd.rank();
    V = svd.matrixV();
  }
  report.rank = report.motors + static_cast<int>(rank);
  report.free_directions = MatrixX<T>::Zero(n, free - rank);
  for (Eigen::Index r = 0; r < free && free > rank; ++r) {
    report.free_directions.row(report.unactuated[static_cast<std::size_t>(r)]) =
        V.row(r).tail(free - rank);
  }
  return report;
}

template int motor_count(const Model<double>&);
template void selection_matrix(const Model<double>&, MatrixOut<double>);
template int base_size(const Model<double>&);
template struct BaseJointPartition<double>;
template void base_joint_partition(const Model<double>&, MatrixIn<double>&, VectorIn<double>&,
                                   BaseJointPartition<double>&);
template void equation_of_motion_residual(const Model<double>&, Workspace<double>&,
                                          VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                                          VectorIn<double>&, WrenchesIn<double>, VectorOut<double>,
                                          const JointEffects&);
template Force<double> transfer_wrench(const Model<double>&, const Kinematics<double>&,
                                       FrameIn<double>, const Force<double>&, FrameIn<double>);
template Underactuation<double> underactuation(const Model<double>&, const ConstraintSet<double>&,
                                               ConstraintWorkspace<double>&, VectorIn<double>&);

}  // namespace limb
