#include "limb/dynamics/second_derivatives_impl.hpp"

namespace limb {

template class SecondDerivativeWorkspace<double>;
template void rnea_derivatives_along(const Model<double>&, SecondDerivativeWorkspace<double>&,
                                     VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                                     VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                                     MatrixOut<double>, MatrixOut<double>, MatrixOut<double>,
                                     WrenchesIn<double>, const JointEffects&);
template int aba_derivatives_along(const Model<double>&, SecondDerivativeWorkspace<double>&,
                                   VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                                   VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                                   MatrixOut<double>, MatrixOut<double>, MatrixOut<double>,
                                   WrenchesIn<double>, const JointEffects&);
template void rnea_hessian(const Model<double>&, SecondDerivativeWorkspace<double>&,
                           VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                           VectorIn<double>&, MatrixOut<double>, MatrixOut<double>,
                           MatrixOut<double>, MatrixOut<double>, WrenchesIn<double>,
                           const JointEffects&);
template int aba_hessian(const Model<double>&, SecondDerivativeWorkspace<double>&,
                         VectorIn<double>&, VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                         MatrixOut<double>, MatrixOut<double>, MatrixOut<double>, MatrixOut<double>,
                         WrenchesIn<double>, const JointEffects&);
template void rnea_second_derivatives(const Model<double>&, SecondDerivativeWorkspace<double>&,
                                      VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                                      SecondDerivatives<double>&, WrenchesIn<double>,
                                      const JointEffects&);
template int aba_second_derivatives(const Model<double>&, SecondDerivativeWorkspace<double>&,
                                    VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                                    SecondDerivatives<double>&, WrenchesIn<double>,
                                    const JointEffects&);

}  // namespace limb
