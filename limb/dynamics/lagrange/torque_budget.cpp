#include "limb/dynamics/lagrange/torque_budget_impl.hpp"

namespace limb {

template struct TorqueBudget<double>;
template struct TorqueBudgetScratch<double>;
template void torque_budget(const Model<double>&, const Kinematics<double>&,
                            TorqueBudgetScratch<double>&, WrenchesIn<double>, TorqueBudget<double>&,
                            const JointEffects&);

}  // namespace limb
