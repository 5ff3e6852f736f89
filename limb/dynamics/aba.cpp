#include "limb/dynamics/aba_impl.hpp"

namespace limb {

template int aba(const Model<double>&, Workspace<double>&, VectorIn<double>&, VectorIn<double>&,
                 VectorIn<double>&, VectorOut<double>, const JointEffects&);
template int aba(const Model<double>&, Workspace<double>&, VectorIn<double>&, VectorIn<double>&,
                 VectorIn<double>&, WrenchesIn<double>, VectorOut<double>, const JointEffects&);

}  // namespace limb
