#include "limb/dynamics/kinematics/forward_kinematics_impl.hpp"
#include "limb/dynamics/kinematics/jacobian_impl.hpp"
#include "limb/dynamics/recursive/crba_impl.hpp"
#include "limb/dynamics/recursive/rnea_impl.hpp"
#include "limb/dynamics/textbook/lagrange_impl.hpp"
#include "limb/symbolic/derive/templates.hpp"

namespace limb {

using T = symbolic::Polynomial;

template class Workspace<T>;
template void rnea(const Model<T>&, Workspace<T>&, VectorIn<T>&, VectorIn<T>&, VectorIn<T>&,
                   VectorOut<T>, const JointEffects&);
template void crba(const Model<T>&, Workspace<T>&, VectorIn<T>&, MatrixOut<T>, const JointEffects&);
template struct Kinematics<T>;
template void forward_kinematics(const Model<T>&, VectorIn<T>&, VectorIn<T>&, Kinematics<T>&);
template Pose<T> frame_pose(const Model<T>&, const Kinematics<T>&, FrameIn<T>);
template void frame_jacobian(const Model<T>&, const Kinematics<T>&, FrameIn<T>, FrameAxes,
                             JacobianOut<T>);
template void frame_jacobian_rate(const Model<T>&, const Kinematics<T>&, FrameIn<T>, FrameAxes,
                                  JacobianOut<T>);

namespace textbook::lagrange {
template std::vector<MassCenter<T>> mass_centers(const Model<T>&, VectorIn<T>&);
}

}  // namespace limb
