#include "limb/codegen/record/trace_step.hpp"

#include "limb/codegen/record/function_tracer.hpp"
#include "limb/dynamics/factor/packed_factor.hpp"
#include "limb/dynamics/kinematics/forward_kinematics_impl.hpp"
#include "limb/dynamics/recursive/crba_impl.hpp"
#include "limb/dynamics/recursive/rnea_impl.hpp"
#include "limb/model/canonical/canonical.hpp"

namespace limb::codegen {

namespace {

void record_poses(const Model<Traced>& model, const VectorX<Traced>& q, Tracer& tracer) {
  Kinematics<Traced> kinematics(model);
  forward_kinematics<Traced>(model, q, kinematics);
  MatrixX<Traced> X(12, model.body_count() - 1), S(6, model.uncoupled_nv());
  for (Eigen::Index i = 0; i < X.cols(); ++i) {
    const Pose<Traced>& X_WB = kinematics.X_WB[static_cast<std::size_t>(i + 1)];
    for (int k = 0; k < 9; ++k) X(k, i) = X_WB.R(k % 3, k / 3);
    for (int k = 0; k < 3; ++k) X(9 + k, i) = X_WB.p[k];
  }
  for (Eigen::Index j = 0; j < S.cols(); ++j) {
    const Motion<Traced>& S_W = kinematics.S_W[static_cast<std::size_t>(j)];
    for (int k = 0; k < 3; ++k) {
      S(k, j) = S_W.v[k];
      S(3 + k, j) = S_W.w[k];
    }
  }
  tracer.output("X", X);
  tracer.output("S", S);
}

void record_factor(const Model<Traced>& model, const VectorX<Traced>& q,
                   const VectorX<Traced>& added, Tracer& tracer) {
  if (!model.coupling().is_identity()) {
    fail("trace_step", "model", "one with couplings", "one without");
  }
  constexpr JointEffects kArmature = {true, false, false};
  const int n = model.nv();
  Workspace<Traced> work(model, Loops::open);
  MatrixX<Traced> M(n, n);
  crba<Traced>(model, work, q, M, kArmature);
  VectorX<Traced> diagonal(n);
  for (int i = 0; i < n; ++i) diagonal[i] = M(i, i) = M(i, i) + added[i];
  kernel::PackedFactor<Traced> F(model.canonical().v_parent);
  int dropped = -1;
  kernel::factorize(F, n, M.data(), M.outerStride(), Traced(0), dropped);
  VectorX<Traced> L = VectorX<Traced>::Constant(static_cast<Eigen::Index>(F.L.size()), Traced(0));
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < F.depth[F.at(i)]; ++k) L[F.start[F.at(i)] + k] = F.row(i)[k];
  }
  tracer.output("L", L);
  tracer.output("inverse", F.inverse);
  tracer.output("D", F.D);
  tracer.output("diagonal", diagonal);
}

}  // namespace

Trace trace_step(const Model<double>& robot, const JointEffects& effects, StepPoses poses) {
  const Model<Traced> model = robot.cast<Traced>();
  Tracer tracer("step");
  const VectorX<Traced> q = tracer.input("q", model.nq()), v = tracer.input("v", model.nv()),
                        added = tracer.input("added", model.nv());
  record_factor(model, q, added, tracer);
  Workspace<Traced> work(model, Loops::open);
  VectorX<Traced> tau(model.nv());
  bias<Traced>(model, work, q, v, tau, effects);
  tracer.output("tau", tau);
  if (poses == StepPoses::all) record_poses(model, q, tracer);
  return tracer.finish();
}

Trace trace_mass_factor(const Model<double>& robot) {
  const Model<Traced> model = robot.cast<Traced>();
  Tracer tracer("mass_factor");
  const VectorX<Traced> q = tracer.input("q", model.nq()),
                        added = tracer.input("added", model.nv());
  record_factor(model, q, added, tracer);
  return tracer.finish();
}

Trace trace_poses(const Model<double>& robot) {
  const Model<Traced> model = robot.cast<Traced>();
  Tracer tracer("poses");
  const VectorX<Traced> q = tracer.input("q", model.nq());
  record_poses(model, q, tracer);
  return tracer.finish();
}

Trace trace_mass_solve(const Model<double>& robot, MassSolve part) {
  const int n = robot.nv();
  kernel::PackedFactor<Traced> F(robot.canonical().v_parent);
  Tracer tracer(part == MassSolve::whole ? "mass_solve" : "mass_solve_forward");
  const VectorX<Traced> L = tracer.input("L", static_cast<int>(F.L.size()));
  std::copy_n(L.data(), L.size(), F.L.begin());
  if (part == MassSolve::whole) F.inverse = tracer.input("inverse", n);
  VectorX<Traced> x = tracer.input("b", n);
  if (part == MassSolve::whole) {
    kernel::solve(F, n, x.data());
  } else {
    kernel::solve_forward(F, n, x.data());
  }
  tracer.output("x", x);
  return tracer.finish();
}

double mass_factor_cost(const Model<double>& model) {
  const auto& parent = model.canonical().v_parent;
  std::vector<int> depth(parent.size());
  double sum = 0;
  for (std::size_t k = 0; k < parent.size(); ++k) {
    depth[k] = parent[k] < 0 ? 1 : depth[static_cast<std::size_t>(parent[k])] + 1;
    sum += 0.5 * depth[k] * depth[k];
  }
  return sum;
}

}  // namespace limb::codegen
