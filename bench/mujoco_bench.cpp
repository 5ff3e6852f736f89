// For reference: times of the same quantities in MuJoCo, on the same robots and states, with MJCF
// written from limb's model. MuJoCo's functions compute a little more (they need the positions of
// all bodies in the world first), so this is an order of magnitude, not a comparison.
#include <cstdio>
#include <filesystem>

#include "bench/mujoco_model.hpp"
#include "bench/reference_robots.hpp"
#include "bench/side_by_side.hpp"
#include "limb/batch/compiled.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/model/convert/convert_mujoco.hpp"

namespace limb::bench {
namespace {

void measure(const char* name, const Model<double>& model) {
  mjModel* m = mujoco_model(name, model);
  if (m == nullptr) return;
  mjData* d = mj_makeData(m);
  std::mt19937_64 engine(7);
  const VectorX<double> q = model.random_configuration(engine),
                        v = VectorX<double>::LinSpaced(model.nv(), -1, 1);
  const MujocoConvention convention(model);
  const VectorX<double> qm = convention.q_to(q), vm = convention.v_to(q, v);
  std::copy(qm.begin(), qm.end(), d->qpos);
  std::copy(vm.begin(), vm.end(), d->qvel);
  Workspace<double> work(model);
  const int n = model.nv();
  VectorX<double> out(n), tau = 3 * v, x(n);
  MatrixX<double> M(n, n);
  const JointEffects none = JointEffects::none();
  const auto positions = [&] {
    mj_kinematics(m, d);
    mj_comPos(m, d);
  };
  // First check that the torques are the same.
  rnea(model, work, q, v, convention.a_from(q, v, VectorX<double>::Zero(n)), out, none);
  positions();
  mj_comVel(m, d);
  mj_rne(m, d, 0, x.data());
  const double difference = (convention.tau_to(q, out) - x).norm() / (1 + x.norm());
  std::printf("%s, %d dof: relative difference of the bias %.1e\n", name, n, difference);
  const auto mujoco_rnea = [&](int) {
    positions();
    mj_comVel(m, d);
    mj_rne(m, d, 1, x.data());
  };
  const auto mujoco_crba = [&](int) {
    positions();
    mj_makeM(m, d);
  };
  const auto mujoco_aba = [&](int) {
    positions();
    mj_comVel(m, d);
    mj_rne(m, d, 0, x.data());
    mj_makeM(m, d);
    mj_factorM(m, d);
    mj_solveM(m, d, x.data(), tau.data(), 1);
  };
  print(name, "MuJoCo",
        {side_by_side(
             "rnea", [&](int) { rnea(model, work, q, v, v, out, none); }, mujoco_rnea),
         side_by_side(
             "crba", [&](int) { crba(model, work, q, M, none); }, mujoco_crba),
         side_by_side(
             "aba (MuJoCo: factored mass matrix)",
             [&](int) { aba(model, work, q, v, tau, out, none); }, mujoco_aba)});
  CompileOptions options;
  options.effects = none;
  const Compiled fast = compile(
      model, {DynamicsFunction::rnea, DynamicsFunction::crba, DynamicsFunction::aba}, options);
  print(std::string(name) + ", compiled", "MuJoCo",
        {side_by_side(
             "rnea", [&](int) { fast.rnea(q, v, v, out); }, mujoco_rnea),
         side_by_side(
             "crba", [&](int) { fast.crba(q, M); }, mujoco_crba),
         side_by_side(
             "aba", [&](int) { fast.aba(q, v, tau, out); }, mujoco_aba)});
  mj_deleteData(d);
  mj_deleteModel(m);
}

}  // namespace
}  // namespace limb::bench

int main() {
  for (const auto& [name, model] : limb::bench::reference_robots()) {
    limb::bench::measure(name.c_str(), model);
  }
}
