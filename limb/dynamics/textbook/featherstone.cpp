#include "limb/dynamics/textbook/featherstone_impl.hpp"

namespace limb::textbook::featherstone {

using Vector = VectorIn<double>;
template VectorX<double> rnea(const Model<double>&, Vector&, Vector&, Vector&, WrenchesIn<double>);
template MatrixX<double> crba(const Model<double>&, Vector&);
template VectorX<double> aba(const Model<double>&, Vector&, Vector&, Vector&, WrenchesIn<double>);

}  // namespace limb::textbook::featherstone
