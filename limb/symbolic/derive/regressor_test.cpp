// The regressor of the dynamics module with the scalar of closed forms gives exactly the torques.
#include "limb/dynamics/identify/regressor_impl.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/kinematics/forward_kinematics_impl.hpp"
#include "limb/symbolic/testing/closed_forms.hpp"

namespace limb {
namespace {

using symbolic::Polynomial;

TEST(Regressor, TimesParametersIsTheTorques) {
  for (const char* path : {"builtin:pendulum", "builtin:2r", "builtin:rr", "builtin:rp",
                           "builtin:craig-rp", "builtin:cartpole", "builtin:belt-leg"}) {
    SCOPED_TRACE(path);
    const testing::ClosedForms forms(path);
    const Model<Polynomial>& model = forms.robot.model;
    const int n = model.nv(), count = parameter_count(model);
    VectorX<Polynomial> p(count);
    Kinematics<Polynomial> k(model);
    forward_kinematics<Polynomial>(model, forms.robot.q(), forms.robot.v(), forms.robot.a(), k);
    RegressorScratch<Polynomial> scratch(model);
    MatrixX<Polynomial> Y(n, count);
    torque_regressor<Polynomial>(model, k, scratch, Y);
    inertial_parameters<Polynomial>(model, p);
    for (int i = 0; i < n; ++i) {
      Polynomial tau(0);
      for (int c = 0; c < count; ++c) tau = tau + Y(i, c) * p[c];
      EXPECT_EQ(to_text(tau - forms.newton_euler[i]), "0") << i;
    }
  }
}

}  // namespace
}  // namespace limb
