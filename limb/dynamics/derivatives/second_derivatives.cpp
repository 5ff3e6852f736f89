#include "limb/dynamics/derivatives/second_derivatives_impl.hpp"

namespace limb {

template class SecondDerivativeWorkspace<double>;
template void rnea_derivatives_along(const Model<double>&, SecondDerivativeWorkspace<double>&,
                                     VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                                     WrenchesIn<double>, VectorIn<double>&, VectorIn<double>&,
                                     VectorIn<double>&, MatrixOut<double>, MatrixOut<double>,
                                     MatrixOut<double>, const JointEffects&);
template FactorReport aba_derivatives_along(
    const Model<double>&, SecondDerivativeWorkspace<double>&, VectorIn<double>&, VectorIn<double>&,
    VectorIn<double>&, WrenchesIn<double>, VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
    MatrixOut<double>, MatrixOut<double>, MatrixOut<double>, const JointEffects&);
template void rnea_hessian(const Model<double>&, SecondDerivativeWorkspace<double>&,
                           VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                           WrenchesIn<double>, VectorIn<double>&, MatrixOut<double>,
                           MatrixOut<double>, MatrixOut<double>, MatrixOut<double>,
                           const JointEffects&);
template FactorReport aba_hessian(const Model<double>&, SecondDerivativeWorkspace<double>&,
                                  VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                                  WrenchesIn<double>, VectorIn<double>&, MatrixOut<double>,
                                  MatrixOut<double>, MatrixOut<double>, MatrixOut<double>,
                                  const JointEffects&);
template void rnea_second_derivatives(const Model<double>&, SecondDerivativeWorkspace<double>&,
                                      VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                                      WrenchesIn<double>, SecondDerivatives<double>&,
                                      const JointEffects&);
template FactorReport aba_second_derivatives(const Model<double>&,
                                             SecondDerivativeWorkspace<double>&, VectorIn<double>&,
                                             VectorIn<double>&, VectorIn<double>&,
                                             WrenchesIn<double>, SecondDerivatives<double>&,
                                             const JointEffects&);

}  // namespace limb
