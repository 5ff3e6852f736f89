#include "limb/dynamics/kinematics/frames_impl.hpp"

namespace limb {

template class AnyFrame<double>;
template Pose<double> frame_pose(const Model<double>&, const Kinematics<double>&, FrameIn<double>);
template Motion<double> frame_velocity(const Model<double>&, const Kinematics<double>&,
                                       FrameIn<double>, FrameAxes);
template Motion<double> frame_acceleration(const Model<double>&, const Kinematics<double>&,
                                           FrameIn<double>, FrameAxes, AccelerationKind);
template Motion<double> frame_bias_acceleration(const Model<double>&, const Kinematics<double>&,
                                                FrameIn<double>, FrameAxes, AccelerationKind);

}  // namespace limb
