#include "limb/dynamics/kinematics/center_of_mass_impl.hpp"

namespace limb {

template struct SubtreeScratch<double>;
template Vector3<double> center_of_mass(const Model<double>&, const Kinematics<double>&);
template Vector3<double> center_of_mass_velocity(const Model<double>&, const Kinematics<double>&);
template Vector3<double> center_of_mass_acceleration(const Model<double>&,
                                                     const Kinematics<double>&);
template void center_of_mass_jacobian(const Model<double>&, const Kinematics<double>&,
                                      SubtreeScratch<double>&, PointJacobianOut<double>);
template Vector3<double> center_of_mass_jacobian_rate_times_v(const Model<double>&,
                                                              const Kinematics<double>&,
                                                              SubtreeScratch<double>&);

}  // namespace limb
