#include "limb/dynamics/kinematics/jacobian_impl.hpp"

namespace limb {

template void frame_jacobian(const Model<double>&, const Kinematics<double>&, FrameIn<double>,
                             FrameAxes, JacobianOut<double>);
template void frame_jacobian_rate(const Model<double>&, const Kinematics<double>&, FrameIn<double>,
                                  FrameAxes, JacobianOut<double>);
template Motion<double> frame_jacobian_rate_times_v(const Model<double>&, const Kinematics<double>&,
                                                    FrameIn<double>, FrameAxes);
template void point_jacobian(const Model<double>&, const Kinematics<double>&, FrameIn<double>,
                             const Vector3<double>&, PointJacobianOut<double>);
template Vector3<double> point_jacobian_rate_times_v(const Model<double>&,
                                                     const Kinematics<double>&, FrameIn<double>,
                                                     const Vector3<double>&);
template class KinematicHessian<double>;
template void frame_hessian(const Model<double>&, const Kinematics<double>&, FrameIn<double>,
                            FrameAxes, KinematicHessian<double>&);

}  // namespace limb
