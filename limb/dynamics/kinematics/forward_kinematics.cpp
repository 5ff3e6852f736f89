#include "limb/dynamics/kinematics/forward_kinematics_impl.hpp"

namespace limb {

template struct Kinematics<double>;
template void forward_kinematics(const Model<double>&, VectorIn<double>&, Kinematics<double>&);
template void forward_kinematics(const Model<double>&, VectorIn<double>&, VectorIn<double>&,
                                 Kinematics<double>&);
template void forward_kinematics(const Model<double>&, VectorIn<double>&, VectorIn<double>&,
                                 VectorIn<double>&, Kinematics<double>&);
template void check_order(const char*, const Kinematics<double>&, Kinematics<double>::Order);
template void check_kinematics(const char*, const Model<double>&, const Kinematics<double>&,
                               Kinematics<double>::Order);

}  // namespace limb
