#include "limb/dynamics/derivatives/aba_derivatives_impl.hpp"

namespace limb {

template FactorReport aba_derivatives(const Model<double>&, DerivativeWorkspace<double>&,
                                      VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                                      VectorOut<double>, MatrixOut<double>, MatrixOut<double>,
                                      MatrixOut<double>, const JointEffects&);
template FactorReport aba_derivatives(const Model<double>&, DerivativeWorkspace<double>&,
                                      VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                                      WrenchesIn<double>, VectorOut<double>, MatrixOut<double>,
                                      MatrixOut<double>, MatrixOut<double>, const JointEffects&);

}  // namespace limb
