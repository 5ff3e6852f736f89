#include "limb/dynamics/identify/parameter_derivatives_impl.hpp"

namespace limb {

template class ParameterDerivativeWorkspace<double>;
template ConstrainedReport<double> constrained_parameter_derivatives(
    const Model<double>&, const ConstraintSet<double>&, ConstrainedDerivativeWorkspace<double>&,
    VectorIn<double>&, VectorIn<double>&, VectorIn<double>&, WrenchesIn<double>, VectorOut<double>,
    VectorOut<double>, MatrixOut<double>, MatrixOut<double>, const ConstrainedOptions&);
template FactorReport aba_parameter_derivatives(const Model<double>&,
                                                ParameterDerivativeWorkspace<double>&,
                                                VectorIn<double>&, VectorIn<double>&,
                                                VectorIn<double>&, WrenchesIn<double>,
                                                VectorOut<double>, MatrixOut<double>,
                                                const JointEffects&);

}  // namespace limb
