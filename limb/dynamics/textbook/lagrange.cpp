#include "limb/dynamics/textbook/lagrange_impl.hpp"

namespace limb::textbook::lagrange {

using Vector = VectorIn<double>;
template std::vector<MassCenter<double>> mass_centers(const Model<double>&, Vector&);
template MatrixX<double> mass_matrix(const Model<double>&, Vector&);
template VectorX<double> gravity(const Model<double>&, Vector&);
template double kinetic_energy(const Model<double>&, Vector&, Vector&);
template double potential_energy(const Model<double>&, Vector&);

}  // namespace limb::textbook::lagrange
