#include "limb/dynamics/derivatives/centroidal_derivatives_impl.hpp"

namespace limb {

template void center_of_mass_velocity_derivatives(const Model<double>&, const Kinematics<double>&,
                                                  SubtreeScratch<double>&, PointJacobianOut<double>,
                                                  PointJacobianOut<double>);
template void center_of_mass_acceleration_derivatives(
    const Model<double>&, const Kinematics<double>&, SubtreeScratch<double>&,
    PointJacobianOut<double>, PointJacobianOut<double>, PointJacobianOut<double>);
template void centroidal_momentum_derivatives(const Model<double>&, const Kinematics<double>&,
                                              SubtreeScratch<double>&, JacobianOut<double>,
                                              JacobianOut<double>);
template void centroidal_momentum_rate_derivatives(const Model<double>&, const Kinematics<double>&,
                                                   SubtreeScratch<double>&, JacobianOut<double>,
                                                   JacobianOut<double>, JacobianOut<double>);

}  // namespace limb
