// The templates for a scalar of the user: the derivative of gravity(q) by q, against
// rnea_derivatives.
#define LIMB_INLINE inline
#include "limb/dynamics/derivatives/any_scalar.hpp"
#include "limb/model/core/load.hpp"

int main() {
  using Scalar = limb::Dual<double, 1>;
  const limb::Model<double> model = limb::load_model("builtin:pendulum");
  const limb::Model<Scalar> dual = model.cast<Scalar>();
  limb::Workspace<Scalar> work(dual);
  limb::VectorX<Scalar> q(1), tau(1);
  q << Scalar(0.5, 1);
  limb::gravity(dual, work, q, tau);

  limb::DerivativeWorkspace<double> derivatives(model);
  const limb::VectorX<double> angle = limb::VectorX<double>::Constant(1, 0.5);
  const limb::VectorX<double> zero = limb::VectorX<double>::Zero(1);
  limb::MatrixX<double> dq(1, 1), dv(1, 1), da(1, 1);
  limb::rnea_derivatives(model, derivatives, angle, zero, zero, dq, dv, da);
  const double error = tau[0].tangent[0] - dq(0, 0);
  return dq(0, 0) != 0 && error * error < 1e-24 ? 0 : 1;
}
