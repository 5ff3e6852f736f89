#include "limb/dynamics/derivatives/rnea_gradient_impl.hpp"

namespace limb {

template class GradientWorkspace<double>;
template void rnea_gradient(const Model<double>&, GradientWorkspace<double>&, VectorIn<double>&,
                            VectorIn<double>&, VectorIn<double>&, WrenchesIn<double>,
                            VectorIn<double>&, VectorOut<double>, VectorOut<double>,
                            VectorOut<double>, const JointEffects&);

}  // namespace limb
