#include "limb/dynamics/recursive/rnea_impl.hpp"

namespace limb {

template class Workspace<double>;
template void rnea(const Model<double>&, Workspace<double>&, VectorIn<double>&, VectorIn<double>&,
                   VectorIn<double>&, VectorOut<double>, const JointEffects&);
template void rnea(const Model<double>&, Workspace<double>&, VectorIn<double>&, VectorIn<double>&,
                   VectorIn<double>&, WrenchesIn<double>, VectorOut<double>, const JointEffects&);
template void bias(const Model<double>&, Workspace<double>&, VectorIn<double>&, VectorIn<double>&,
                   VectorOut<double>, const JointEffects&);
template void gravity(const Model<double>&, Workspace<double>&, VectorIn<double>&,
                      VectorOut<double>);

}  // namespace limb
