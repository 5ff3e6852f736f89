#include "limb/sim/cvode.hpp"

// Where limb is built without SUNDIALS.
namespace limb {

struct Cvode::Memory {};

bool Cvode::is_available() {
  return false;
}

Cvode::Cvode(const ConfigurationSpace<double>&, int, const IntegratorOptions<double>&) {
  throw Error(
      "cvode: limb was built without SUNDIALS (Debian: libsundials-dev, then build again); "
      "implicit-midpoint is for stiff motions, too");
}

Cvode::~Cvode() = default;
void Cvode::forget() {}
long Cvode::evaluations() const {
  return 0;
}
void Cvode::advance(Equation<double>&, State<double>&, const double&) {}
void Cvode::inside(const double&, State<double>&) {}

}  // namespace limb
