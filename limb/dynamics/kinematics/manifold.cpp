#include "limb/dynamics/kinematics/manifold_impl.hpp"

namespace limb {

template void integrate(const Model<double>&, VectorIn<double>&, VectorIn<double>&,
                        VectorOut<double>);
template void difference(const Model<double>&, VectorIn<double>&, VectorIn<double>&,
                         VectorOut<double>);
template void interpolate(const Model<double>&, VectorIn<double>&, VectorIn<double>&, const double&,
                          VectorOut<double>);
template double distance(const Model<double>&, VectorIn<double>&, VectorIn<double>&);
template void normalize(const Model<double>&, VectorOut<double>);
template void neutral(const Model<double>&, VectorOut<double>);
template void random_configuration(const Model<double>&, std::mt19937_64&, VectorOut<double>);
template void integrate_jacobians(const Model<double>&, VectorIn<double>&, MatrixOut<double>,
                                  MatrixOut<double>);
template void difference_jacobians(const Model<double>&, VectorIn<double>&, VectorIn<double>&,
                                   MatrixOut<double>, MatrixOut<double>);

}  // namespace limb
