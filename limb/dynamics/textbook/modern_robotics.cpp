#include "limb/dynamics/textbook/modern_robotics_impl.hpp"

namespace limb::textbook::modern_robotics {

using Vector = VectorIn<double>;
template std::vector<ScrewLink<double>> screw_links(const Model<double>&);
template std::vector<Pose<double>> forward_kinematics(const Model<double>&, Vector&);
template VectorX<double> inverse_dynamics(const Model<double>&, Vector&, Vector&, Vector&,
                                          WrenchesIn<double>);

}  // namespace limb::textbook::modern_robotics
