#include "limb/dynamics/constraints/constrained_dynamics_impl.hpp"

namespace limb {

template class ConstraintSet<double>;
template class ConstraintWorkspace<double>;
template std::vector<LoopClosure<double>> all_loops(const Model<double>&, Stabilization<double>);
template void constraint_jacobian(const Model<double>&, const ConstraintSet<double>&,
                                  ConstraintWorkspace<double>&, VectorIn<double>&,
                                  VectorIn<double>&, MatrixOut<double>, VectorOut<double>);
template ConstrainedReport<double> constrained_forward_dynamics(
    const Model<double>&, const ConstraintSet<double>&, ConstraintWorkspace<double>&,
    VectorIn<double>&, VectorIn<double>&, VectorIn<double>&, VectorOut<double>, VectorOut<double>,
    const ConstrainedOptions&);
template ConstrainedReport<double> constrained_forward_dynamics(
    const Model<double>&, const ConstraintSet<double>&, ConstraintWorkspace<double>&,
    VectorIn<double>&, VectorIn<double>&, VectorIn<double>&, WrenchesIn<double>, VectorOut<double>,
    VectorOut<double>, const ConstrainedOptions&);
template ConstrainedReport<double> constrained_inverse_dynamics(
    const Model<double>&, const ConstraintSet<double>&, ConstraintWorkspace<double>&,
    VectorIn<double>&, VectorIn<double>&, VectorIn<double>&, VectorOut<double>, VectorOut<double>,
    const ConstrainedOptions&);
template ConstrainedReport<double> constrained_inverse_dynamics(
    const Model<double>&, const ConstraintSet<double>&, ConstraintWorkspace<double>&,
    VectorIn<double>&, VectorIn<double>&, VectorIn<double>&, WrenchesIn<double>, VectorOut<double>,
    VectorOut<double>, const ConstrainedOptions&);
template ConstrainedReport<double> impact(const Model<double>&, const ConstraintSet<double>&,
                                          ConstraintWorkspace<double>&, VectorIn<double>&,
                                          VectorIn<double>&, VectorIn<double>&, VectorOut<double>,
                                          VectorOut<double>, const ConstrainedOptions&);

}  // namespace limb
