#include "limb/dynamics/recursive/aba_impl.hpp"

namespace limb {

template FactorReport aba(const Model<double>&, Workspace<double>&, VectorIn<double>&,
                          VectorIn<double>&, VectorIn<double>&, VectorOut<double>,
                          const JointEffects&);
template FactorReport aba(const Model<double>&, Workspace<double>&, VectorIn<double>&,
                          VectorIn<double>&, VectorIn<double>&, WrenchesIn<double>,
                          VectorOut<double>, const JointEffects&);

}  // namespace limb
