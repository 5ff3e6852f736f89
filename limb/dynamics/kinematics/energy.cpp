#include "limb/dynamics/kinematics/energy_impl.hpp"

namespace limb {

template double kinetic_energy(const Model<double>&, const Kinematics<double>&,
                               const JointEffects&);
template double potential_energy(const Model<double>&, const Kinematics<double>&);

}  // namespace limb
