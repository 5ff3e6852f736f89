#include "limb/dynamics/lagrange/christoffel_impl.hpp"

namespace limb {

template struct LagrangeScratch<double>;
template void christoffel(const Model<double>&, const Kinematics<double>&, LagrangeScratch<double>&,
                          ChristoffelTensor<double>&);
template void coriolis_matrix(const Model<double>&, const Kinematics<double>&,
                              LagrangeScratch<double>&, MatrixOut<double>);
template void centrifugal_coriolis_split(const Model<double>&, const Kinematics<double>&,
                                         LagrangeScratch<double>&, MatrixOut<double>,
                                         MatrixOut<double>);

}  // namespace limb
