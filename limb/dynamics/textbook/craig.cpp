#include "limb/dynamics/textbook/craig_impl.hpp"

namespace limb::textbook::craig {

using Vector = VectorIn<double>;
template VectorX<double> inverse_dynamics(const Model<double>&, Vector&, Vector&, Vector&,
                                          WrenchesIn<double>);

}  // namespace limb::textbook::craig
