#include "limb/dynamics/recursive/crba_impl.hpp"

namespace limb {

template void crba(const Model<double>&, Workspace<double>&, VectorIn<double>&, MatrixOut<double>,
                   const JointEffects&);

}  // namespace limb
