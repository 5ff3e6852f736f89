// The front header of every module, from the installed package.
#include "limb/base/base.hpp"
#include "limb/batch/batch.hpp"
#include "limb/codegen/codegen.hpp"
#include "limb/control/control.hpp"
#include "limb/dynamics/dynamics.hpp"
#include "limb/estimate/estimate.hpp"
#include "limb/legged/legged.hpp"
#include "limb/math/math.hpp"
#include "limb/model/model.hpp"
#include "limb/sim/sim.hpp"
#include "limb/symbolic/symbolic.hpp"

int main() {
  const limb::Model<double> model = limb::load_model("builtin:pendulum");
  limb::Workspace<double> work(model), copy = work;
  limb::VectorX<double> q(1), tau(1), expected(1);
  q << 0.5;
  limb::gravity(model, work, q, expected);
  limb::gravity(model, copy, q, tau);
  return tau == expected && tau[0] != 0 ? 0 : 1;
}
