// For reference: what the same quantities cost in MuJoCo, on the same robots and states, built into
// MJCF from limb's model. Its functions compute a little more than limb's (positions of all bodies
// in the world come first, and are needed), so this is no contest, only a size to compare with.
#include <cstdio>
#include <filesystem>

#include "bench/mujoco_model.hpp"
#include "bench/reference_robots.hpp"
#include "bench/side_by_side.hpp"
#include "limb/batch/compiled.hpp"
#include "limb/dynamics/aba.hpp"
#include "limb/dynamics/crba.hpp"
#include "limb/dynamics/rnea.hpp"
#include "limb/model/convert_mujoco.hpp"

namespace limb::bench {
namespace {

void measure(const char* name, const Model<double>& model) {
  mjModel* m = mujoco_model(name, model);
  if (m == nullptr) return;
  mjData* d = mj_makeData(m);
  std::mt19937_64 engine(7);
  const VectorX<double> q = model.random(engine), v = VectorX<double>::LinSpaced(model.nv(), -1, 1);
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
  // The same torques first.
  rnea(model, work, q, v, convention.a_from(q, v, VectorX<double>::Zero(n)), out, none);
  positions();
  mj_comVel(m, d);
  mj_rne(m, d, 0, x.data());
  const double difference = (convention.tau_to(q, out) - x).norm() / (1 + x.norm());
  std::printf("%s, %d dof: relative difference of the bias %.1e\n", name, n, difference);
  const auto their_rnea = [&](int) {
    positions();
    mj_comVel(m, d);
    mj_rne(m, d, 1, x.data());
  };
  const auto their_crba = [&](int) {
    positions();
    mj_makeM(m, d);
  };
  const auto their_aba = [&](int) {
    positions();
    mj_comVel(m, d);
    mj_rne(m, d, 0, x.data());
    mj_makeM(m, d);
    mj_factorM(m, d);
    mj_solveM(m, d, x.data(), tau.data(), 1);
  };
  print(name, "MuJoCo",
        {side_by_side(
             "rnea", [&](int) { rnea(model, work, q, v, v, out, none); }, their_rnea),
         side_by_side(
             "crba", [&](int) { crba(model, work, q, M, none); }, their_crba),
         side_by_side(
             "aba (there: factored mass matrix)",
             [&](int) { aba(model, work, q, v, tau, out, none); }, their_aba)});
  CompileOptions options;
  options.effects = none;
  const Compiled fast = compile(model, {Function::rnea, Function::crba, Function::aba}, options);
  print(std::string(name) + ", compiled", "MuJoCo",
        {side_by_side(
             "rnea", [&](int) { fast.rnea(q, v, v, out); }, their_rnea),
         side_by_side(
             "crba", [&](int) { fast.crba(q, M); }, their_crba),
         side_by_side(
             "aba", [&](int) { fast.aba(q, v, tau, out); }, their_aba)});
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
