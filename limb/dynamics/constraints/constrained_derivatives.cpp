#include "limb/dynamics/constraints/constrained_derivatives_impl.hpp"

namespace limb {

template struct ConstrainedDerivatives<double>;
template struct ImpactDerivatives<double>;
template class ConstrainedDerivativeWorkspace<double>;
template ConstrainedReport<double> constrained_derivatives(
    const Model<double>&, const ConstraintSet<double>&, ConstrainedDerivativeWorkspace<double>&,
    VectorIn<double>&, VectorIn<double>&, VectorIn<double>&, ConstrainedDerivatives<double>&,
    const ConstrainedOptions&);
template ConstrainedReport<double> constrained_derivatives(
    const Model<double>&, const ConstraintSet<double>&, ConstrainedDerivativeWorkspace<double>&,
    VectorIn<double>&, VectorIn<double>&, VectorIn<double>&, WrenchesIn<double>,
    ConstrainedDerivatives<double>&, const ConstrainedOptions&);
template ConstrainedReport<double> impact_derivatives(const Model<double>&,
                                                      const ConstraintSet<double>&,
                                                      ConstrainedDerivativeWorkspace<double>&,
                                                      VectorIn<double>&, VectorIn<double>&,
                                                      VectorIn<double>&, ImpactDerivatives<double>&,
                                                      const ConstrainedOptions&);

}  // namespace limb
