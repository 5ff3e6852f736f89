#include "limb/dynamics/factor/mass_factor_impl.hpp"

namespace limb {

template class MassFactor<double>;
template FactorReport factorize_mass(const Model<double>&, MatrixIn<double>&, MassFactor<double>&);
template FactorReport factorize_mass(const Model<double>&, Workspace<double>&, VectorIn<double>&,
                                     MassFactor<double>&, const JointEffects&);
template void solve_mass(const MassFactor<double>&, VectorIn<double>&, VectorOut<double>);
template void solve_mass_columns(const MassFactor<double>&, MatrixIn<double>&, MatrixOut<double>);
template FactorReport mass_inverse(const Model<double>&, Workspace<double>&, VectorIn<double>&,
                                   MassFactor<double>&, MatrixOut<double>, const JointEffects&);

}  // namespace limb
