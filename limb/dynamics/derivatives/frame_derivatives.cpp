#include "limb/dynamics/derivatives/frame_derivatives_impl.hpp"

namespace limb {

template void frame_velocity_derivatives(const Model<double>&, const Kinematics<double>&,
                                         FrameIn<double>, FrameAxes, JacobianOut<double>,
                                         JacobianOut<double>);
template void frame_acceleration_derivatives(const Model<double>&, const Kinematics<double>&,
                                             FrameIn<double>, FrameAxes, AccelerationKind,
                                             JacobianOut<double>, JacobianOut<double>,
                                             JacobianOut<double>);

}  // namespace limb
