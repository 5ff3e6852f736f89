#include "limb/dynamics/derivatives/rnea_derivatives_impl.hpp"

namespace limb {

template class DerivativeWorkspace<double>;
template void rnea_derivatives(const Model<double>&, DerivativeWorkspace<double>&,
                               VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                               MatrixOut<double>, MatrixOut<double>, MatrixOut<double>,
                               const JointEffects&);
template void rnea_derivatives(const Model<double>&, DerivativeWorkspace<double>&,
                               VectorIn<double>&, VectorIn<double>&, VectorIn<double>&,
                               WrenchesIn<double>, MatrixOut<double>, MatrixOut<double>,
                               MatrixOut<double>, const JointEffects&);

}  // namespace limb
