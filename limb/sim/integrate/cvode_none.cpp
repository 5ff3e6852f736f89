#include "limb/sim/integrate/cvode.hpp"

// For builds without SUNDIALS.
namespace limb {

struct Cvode::Memory {};

bool Cvode::is_available() {
  return false;
}

Cvode::Cvode(const ConfigurationSpace<double>&, int, const IntegratorOptions<double>&) {
  throw Error(
      "cvode: limb was built without SUNDIALS (Debian: libsundials-dev, then build again); "
      "implicit-midpoint also handles stiff motions");
}

Cvode::~Cvode() = default;
void Cvode::reset() {}
long Cvode::evaluations() const {
  return 0;
}
void Cvode::advance(Equation<double>&, RobotState<double>&, const double&) {}
void Cvode::state_at(const double&, RobotState<double>&) {}

}  // namespace limb
