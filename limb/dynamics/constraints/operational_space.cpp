#include "limb/dynamics/constraints/operational_space_impl.hpp"

namespace limb {

template struct OperationalSpace<double>;
template FactorReport operational_space(const Model<double>&, Workspace<double>&, VectorIn<double>&,
                                        VectorIn<double>&, MatrixIn<double>&, VectorIn<double>&,
                                        OperationalSpace<double>&, const OperationalOptions&);
template FactorReport operational_space(const Model<double>&, const ConstraintSet<double>&,
                                        ConstraintWorkspace<double>&, VectorIn<double>&,
                                        VectorIn<double>&, MatrixIn<double>&, VectorIn<double>&,
                                        OperationalSpace<double>&, const OperationalOptions&);

}  // namespace limb
