#include "cli/state_quantities.hpp"

#include <fmt/format.h>

#include <map>

#include "limb/base/check.hpp"
#include "limb/dynamics/constraints/jacobian_rows.hpp"
#include "limb/dynamics/constraints/operational_space.hpp"
#include "limb/dynamics/derivatives/aba_derivatives.hpp"
#include "limb/dynamics/kinematics/acceleration_split.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/kinematics/check_state.hpp"
#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/lagrange/torque_budget.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::json;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

Json json_of(const Vector& x) {
  return Json(std::vector<double>(x.begin(), x.end()));
}

Json rows_of(const Matrix& M) {
  Json rows = Json::array();
  for (Eigen::Index r = 0; r < M.rows(); ++r) rows.push_back(json_of(M.row(r).transpose()));
  return rows;
}

}  // namespace

const std::vector<std::string>& state_fields() {
  static const std::vector<std::string> fields = {"tau_rnea",
                                                  "nle",
                                                  "g",
                                                  "M",
                                                  "C",
                                                  "Minv",
                                                  "dtau_dq",
                                                  "dtau_dv",
                                                  "ddq_dq",
                                                  "ddq_dv",
                                                  "regressor",
                                                  "ddq_aba",
                                                  "kinetic_energy",
                                                  "potential_energy",
                                                  "com",
                                                  "vcom",
                                                  "acom",
                                                  "hg",
                                                  "Ag",
                                                  "dhg",
                                                  "q_integrate_v",
                                                  "difference_neutral_q",
                                                  "fext",
                                                  "frames"};
  return fields;
}

const std::vector<QuantityName>& quantity_names() {
  static const std::vector<QuantityName> names = {
      {"inverse_dynamics", {"tau_rnea"}},
      {"rnea", {"tau_rnea"}},
      {"forward_dynamics", {"ddq_aba"}},
      {"aba", {"ddq_aba"}},
      {"mass_matrix", {"M"}},
      {"crba", {"M"}},
      {"mass_inverse", {"Minv"}},
      {"bias", {"nle"}},
      {"gravity", {"g"}},
      {"coriolis_matrix", {"C"}},
      {"inverse_dynamics_derivatives", {"dtau_dq", "dtau_dv"}},
      {"rnea_derivatives", {"dtau_dq", "dtau_dv"}},
      {"forward_dynamics_derivatives", {"ddq_dq", "ddq_dv"}},
      {"aba_derivatives", {"ddq_dq", "ddq_dv"}},
      {"da_dq", {"ddq_dq"}},
      {"da_dv", {"ddq_dv"}},
      {"frame_pose", {"R", "p"}},
      {"frame_jacobian", {"J_local", "J_world", "J_lwa"}},
      {"frame_velocity", {"v_local", "v_world", "v_lwa"}},
      {"frame_acceleration", {"acc_lwa_classical", "acc_local_spatial"}},
      {"frame_bias_acceleration", {"Jdotv_lwa_classical", "Jdotv_lwa_spatial"}},
      {"external", {"fext"}},
      {"center_of_mass", {"com"}},
      {"center_of_mass_velocity", {"vcom"}},
      {"center_of_mass_acceleration", {"acom"}},
      {"centroidal_momentum", {"hg"}},
      {"centroidal_momentum_rate", {"dhg"}},
      {"centroidal_matrix", {"Ag"}},
      {"integrate", {"q_integrate_v"}},
      {"difference", {"difference_neutral_q"}}};
  return names;
}

namespace {

/// The keys of a field in the vocabulary of the library. Those of frames have a function and its
/// arguments.
std::vector<std::string> key_path(const std::string& field) {
  static const std::map<std::string, std::vector<std::string>> paths = {
      {"J_local", {"frame_jacobian", "local"}},
      {"J_world", {"frame_jacobian", "world"}},
      {"J_lwa", {"frame_jacobian", "local_world_aligned"}},
      {"v_local", {"frame_velocity", "local"}},
      {"v_world", {"frame_velocity", "world"}},
      {"v_lwa", {"frame_velocity", "local_world_aligned"}},
      {"acc_lwa_classical", {"frame_acceleration", "local_world_aligned", "classical"}},
      {"acc_local_spatial", {"frame_acceleration", "local", "spatial"}},
      {"Jdotv_lwa_classical", {"frame_bias_acceleration", "local_world_aligned", "classical"}},
      {"Jdotv_lwa_spatial", {"frame_bias_acceleration", "local_world_aligned", "spatial"}}};
  if (const auto found = paths.find(field); found != paths.end()) return found->second;
  // The first name of a field alone; the aliases follow.
  for (const QuantityName& one : quantity_names()) {
    if (one.fields == std::vector<std::string>{field}) return {one.name};
  }
  return {field};
}

}  // namespace

const std::vector<std::string>& frame_fields() {
  static const std::vector<std::string> fields = {"R",
                                                  "p",
                                                  "J_local",
                                                  "J_world",
                                                  "J_lwa",
                                                  "v_local",
                                                  "v_world",
                                                  "v_lwa",
                                                  "Jdotv_lwa_classical",
                                                  "Jdotv_lwa_spatial",
                                                  "acc_lwa_classical",
                                                  "acc_local_spatial"};
  return fields;
}

const std::vector<std::string>& named_fields() {
  static const std::vector<std::string> fields = {"V", "torque_budget", "operational_space",
                                                  "acceleration_split"};
  return fields;
}

StateQuantities::StateQuantities(Model<double> model, std::unique_ptr<Convention> convention,
                                 const JointEffects& effects, std::set<std::string> requested,
                                 std::set<std::string> short_names, std::vector<int> task_rows)
    : model_(std::move(model)),
      convention_(std::move(convention)),
      effects_(effects),
      requested_(std::move(requested)),
      short_names_(std::move(short_names)),
      task_rows_(std::move(task_rows)),
      work_(model_),
      kinematics_(model_),
      zero_acceleration_(model_),
      subtree_(model_),
      lagrange_(model_),
      factor_(model_),
      derivatives_(model_),
      regressor_(model_) {}

int StateQuantities::nq() const {
  return convention_ ? convention_->nq() : model_.nq();
}
int StateQuantities::nv() const {
  return convention_ ? convention_->nv() : model_.nv();
}

StateQuantities::State StateQuantities::read(const StateInput& input) const {
  const char* hint = convention_ ? "in the chosen convention" : kSizeHint;
  check_size("limb eval", "q", input.q.size(), nq(), hint);
  const Vector zero = Vector::Zero(nv());
  const auto given = [&](const char* name, const std::optional<Vector>& x) -> const Vector& {
    if (!x) return zero;
    check_size("limb eval", name, x->size(), nv(), hint);
    return *x;
  };
  const Vector &v = given("v", input.v), &a = given("a", input.a), &tau = given("tau", input.tau);
  State s;
  if (convention_) {
    s.q = convention_->q_from(input.q);
    s.v = convention_->v_from(s.q, v);
    s.a = convention_->a_from(s.q, s.v, a);
    s.tau = convention_->tau_from(s.q, tau);
    s.a_zero = convention_->a_from(s.q, s.v, zero);
    return s;
  }
  s = {input.q, v, a, tau, zero};
  check_configuration("limb eval", "q", model_, s.q);
  return s;
}

Vector StateQuantities::to_tau(const State& s, const Vector& tau) const {
  return convention_ ? convention_->tau_to(s.q, tau) : tau;
}
Vector StateQuantities::to_a(const State& s, const Vector& a) const {
  return convention_ ? convention_->a_to(s.q, s.v, a) : a;
}
Matrix StateQuantities::to_matrix(const State& s, const Matrix& M) const {
  return convention_ ? convention_->mass_matrix_to(s.q, M) : M;
}
Matrix StateQuantities::to_jacobian(const State& s, const Matrix& J) const {
  return convention_ ? convention_->jacobian_to(s.q, J) : J;
}
Vector StateQuantities::to_spatial(const Vector6<double>& x) const {
  return convention_ ? Vector(convention_->jacobian_rows_to(x)) : Vector(x);
}

void StateQuantities::fail_singular(int velocity) const {
  std::string joint;
  for (const auto& row : model_.coupling().rows()) {
    for (const auto& term : row.terms) {
      if (term.y != velocity || !joint.empty()) continue;
      for (const Body<double>& body : model_.bodies()) {
        if (body.v_start == row.v && body.joint.nv() == row.nv) joint = body.name;
      }
    }
  }
  fail_computation(
      "limb eval",
      fmt::format("the mass matrix is singular: no inertia opposes joint '{}'", joint));
}

Vector StateQuantities::forward(const State& s, std::span<const FrameWrench<double>> external) {
  Vector a(s.v.size());
  const FactorReport report = aba(model_, work_, s.q, s.v, s.tau, external, a, effects_);
  if (!report.ok()) fail_singular(report.velocity);
  return a;
}

void StateQuantities::add_dynamics(const State& s, Json& result) {
  Vector tau(s.v.size());
  if (is_requested("tau_rnea")) {
    rnea(model_, work_, s.q, s.v, s.a, tau, effects_);
    result["tau_rnea"] = json_of(to_tau(s, tau));
  }
  if (is_requested("nle")) {
    rnea(model_, work_, s.q, s.v, s.a_zero, tau, effects_);
    result["nle"] = json_of(to_tau(s, tau));
  }
  if (is_requested("g")) {
    gravity(model_, work_, s.q, tau);
    result["g"] = json_of(to_tau(s, tau));
  }
  if (is_requested("ddq_aba")) result["ddq_aba"] = json_of(to_a(s, forward(s, {})));
}

void StateQuantities::add_matrices(const State& s, Json& result) {
  const Eigen::Index n = s.v.size();
  Matrix M(n, n);
  if (is_requested("M")) {
    crba(model_, work_, s.q, M, effects_);
    result["M"] = rows_of(to_matrix(s, M));
  }
  if (is_requested("Minv")) {
    const FactorReport report = mass_inverse(model_, work_, s.q, factor_, M, effects_);
    if (!report.ok()) fail_singular(report.velocity);
    result["Minv"] = rows_of(to_matrix(s, M));
  }
  if (is_requested("C")) {
    coriolis_matrix(model_, kinematics_, lagrange_, M);
    result["C"] = rows_of(to_matrix(s, M));
  }
}

void StateQuantities::add_derivatives(const State& s, Json& result) {
  const Eigen::Index n = s.v.size();
  Matrix dq(n, n), dv(n, n), last(n, n);
  const auto put = [&](const char* name, const Matrix& x) {
    if (is_requested(name)) result[name] = rows_of(to_matrix(s, x));
  };
  if (is_requested("dtau_dq") || is_requested("dtau_dv")) {
    rnea_derivatives(model_, derivatives_, s.q, s.v, s.a, dq, dv, last, effects_);
    put("dtau_dq", dq);
    put("dtau_dv", dv);
  }
  if (model_.loops().empty() && (is_requested("ddq_dq") || is_requested("ddq_dv"))) {
    Vector a(n);
    const FactorReport report =
        aba_derivatives(model_, derivatives_, s.q, s.v, s.tau, a, dq, dv, last, effects_);
    if (!report.ok()) fail_singular(report.velocity);
    put("ddq_dq", dq);
    put("ddq_dv", dv);
  }
  if (is_requested("regressor")) {
    Matrix Y(n, parameter_count(model_)), ordered(n, Y.cols());
    torque_regressor(model_, kinematics_, regressor_, Y);
    int position = 0;
    for (const int body : bodies_in_order()) {
      for (int k = 0; k < kBodyParameters; ++k) {
        ordered.col(kBodyParameters * position + k) =
            to_tau(s, Y.col(kBodyParameters * (body - 1) + k));
      }
      ++position;
    }
    result["regressor"] = rows_of(ordered);
  }
}

/// Bodies in the joint order of the convention.
std::vector<int> StateQuantities::bodies_in_order() const {
  std::vector<int> bodies;
  if (convention_) {
    for (const Convention::JointLayout& joint : convention_->joints()) {
      bodies.push_back(joint.body.value());
    }
  } else {
    for (int i = 1; i < model_.body_count(); ++i) bodies.push_back(i);
  }
  return bodies;
}

void StateQuantities::add_totals(const State& s, Json& result) {
  const auto put = [&](const char* name, const auto& compute) {
    if (is_requested(name)) result[name] = compute();
  };
  put("kinetic_energy", [&] { return Json(kinetic_energy(model_, kinematics_, effects_)); });
  put("potential_energy", [&] { return Json(potential_energy(model_, kinematics_)); });
  if (model_.total_mass() <= 0) return;  // no mass centre
  put("com", [&] { return json_of(center_of_mass(model_, kinematics_)); });
  put("vcom", [&] { return json_of(center_of_mass_velocity(model_, kinematics_)); });
  put("acom", [&] { return json_of(center_of_mass_acceleration(model_, kinematics_)); });
  put("hg", [&] { return json_of(to_spatial(centroidal_momentum(model_, kinematics_).vector())); });
  put("dhg",
      [&] { return json_of(to_spatial(centroidal_momentum_rate(model_, kinematics_).vector())); });
  put("Ag", [&] {
    Matrix6X<double> A(6, s.v.size());
    centroidal_matrix(model_, kinematics_, subtree_, A);
    return rows_of(to_jacobian(s, A));
  });
}

void StateQuantities::add_manifold(const State& s, Json& result) {
  if (is_requested("q_integrate_v")) {
    Vector q(s.q.size());
    integrate(model_, s.q, s.v, q);
    result["q_integrate_v"] = json_of(convention_ ? convention_->q_to(q) : q);
  }
  if (is_requested("difference_neutral_q")) {
    Vector q(s.q.size()), d(s.v.size());
    neutral(model_, q);
    difference(model_, q, s.q, d);
    result["difference_neutral_q"] = json_of(convention_ ? convention_->v_to(s.q, d) : d);
  }
}

FrameWrench<double> StateQuantities::wrench_of(const StateInput::External& input) const {
  const Vector6<double> f = input.f_local;
  return {model_.find_frame(input.frame),
          convention_ ? convention_->wrench_from(f) : Force<double>::from_vector(f)};
}

/// V = C v of the rigid bodies, and the terms of tau = inverse dynamics, with the external wrench.
void StateQuantities::add_named(const State& s, const StateInput& input, Json& result) {
  if (requested_.count("V") > 0) {
    Vector h(s.v.size()), g(s.v.size());
    rnea(model_, work_, s.q, s.v, Vector(Vector::Zero(s.v.size())), h, JointEffects::none());
    gravity(model_, work_, s.q, g);
    result["V"] = json_of(h - g);
  }
  if (requested_.count("torque_budget") > 0) {
    TorqueBudgetScratch<double> scratch(model_);
    TorqueBudget<double> budget(model_);
    std::vector<FrameWrench<double>> wrenches;
    if (input.external) wrenches.push_back(wrench_of(*input.external));
    torque_budget<double>(model_, kinematics_, scratch, wrenches, budget, effects_);
    result["torque_budget"] = {{"inertial", json_of(budget.inertial)},
                               {"centrifugal", json_of(budget.centrifugal)},
                               {"coriolis", json_of(budget.coriolis)},
                               {"gravity", json_of(budget.gravity)},
                               {"damping", json_of(budget.damping)},
                               {"friction", json_of(budget.friction)},
                               {"armature", json_of(budget.armature)},
                               {"external", json_of(budget.external)},
                               {"tau", json_of(budget.tau)}};
  }
}

Json StateQuantities::external(const State& s, const StateInput::External& input) {
  const Vector6<double> f = input.f_local;
  const FrameWrench<double> wrench[] = {wrench_of(input)};
  Vector tau(s.v.size());
  rnea(model_, work_, s.q, s.v, s.a, wrench, tau, effects_);
  return {{"frame", input.frame},
          {"f_local", json_of(f)},
          {"tau_rnea", json_of(to_tau(s, tau))},
          {"ddq_aba", json_of(to_a(s, forward(s, wrench)))}};
}

Json StateQuantities::frame(const State& s, const std::string& name) {
  const FrameId id = model_.find_frame(name);
  Json result;
  const auto put = [&](const char* field, const auto& compute) {
    if (is_requested("frames") || is_requested(field)) result[field] = compute();
  };
  const Pose<double> X = frame_pose(model_, kinematics_, id);
  put("R", [&] { return rows_of(X.R); });
  put("p", [&] { return json_of(X.p); });
  constexpr std::pair<const char*, FrameAxes> kAxes[] = {{"local", FrameAxes::local},
                                                         {"world", FrameAxes::world},
                                                         {"lwa", FrameAxes::local_world_aligned}};
  for (const auto& [suffix, axes] : kAxes) {
    put(("J_" + std::string(suffix)).c_str(), [&, a = axes] {
      Matrix6X<double> J(6, s.v.size());
      frame_jacobian(model_, kinematics_, id, a, J);
      return rows_of(to_jacobian(s, J));
    });
    put(("v_" + std::string(suffix)).c_str(), [&, a = axes] {
      return json_of(to_spatial(frame_velocity(model_, kinematics_, id, a).vector()));
    });
  }
  const auto acceleration = [&](const Kinematics<double>& k, FrameAxes axes,
                                AccelerationKind kind) {
    return json_of(to_spatial(frame_acceleration(model_, k, id, axes, kind).vector()));
  };
  constexpr FrameAxes kAligned = FrameAxes::local_world_aligned;
  put("Jdotv_lwa_classical",
      [&] { return acceleration(zero_acceleration_, kAligned, AccelerationKind::classical); });
  put("Jdotv_lwa_spatial",
      [&] { return acceleration(zero_acceleration_, kAligned, AccelerationKind::spatial); });
  put("acc_lwa_classical",
      [&] { return acceleration(kinematics_, kAligned, AccelerationKind::classical); });
  put("acc_local_spatial",
      [&] { return acceleration(kinematics_, FrameAxes::local, AccelerationKind::spatial); });
  // Only if it is named: it needs a regular mass matrix.
  if (requested_.count("operational_space") > 0) result["operational_space"] = operational(s, id);
  if (requested_.count("acceleration_split") > 0) {
    const auto split =
        frame_acceleration_split<double>(model_, kinematics_, s.v, s.a, id, kAligned);
    result["acceleration_split"] = {{"tangential", json_of(split.tangential.vector())},
                                    {"centripetal", json_of(split.centripetal.vector())},
                                    {"coriolis", json_of(split.coriolis.vector())}};
  }
  return result;
}

/// Lambda, mu and rho of a frame in world axes, of the requested rows of its Jacobian.
Json StateQuantities::operational(const State& s, FrameId id) {
  constexpr FrameAxes kAxes = FrameAxes::local_world_aligned;
  Matrix6X<double> all(6, s.v.size());
  frame_jacobian(model_, kinematics_, id, kAxes, all);
  const MatrixX<double> J = all(task_rows_, Eigen::all);
  const Vector drift =
      frame_jacobian_rate_times_v(model_, kinematics_, id, kAxes).vector()(task_rows_);
  OperationalSpace<double> task(model_, static_cast<int>(task_rows_.size()));
  OperationalOptions options;
  options.effects = effects_;
  const FactorReport report = operational_space(model_, work_, s.q, s.v, J, drift, task, options);
  if (!report.ok()) fail_singular(report.velocity);
  Json names = Json::array();
  for (const int row : task_rows_) {
    names.push_back(jacobian_row_names()[static_cast<std::size_t>(row)]);
  }
  return {{"rows", names},
          {"Lambda", rows_of(task.Lambda)},
          {"mu", json_of(task.mu)},
          {"rho", json_of(task.rho)},
          {"damped", task.damped}};
}

Json StateQuantities::evaluate(const StateInput& input, const std::vector<std::string>& frames) {
  const State s = read(input);
  forward_kinematics(model_, s.q, s.v, s.a, kinematics_);
  forward_kinematics(model_, s.q, s.v, s.a_zero, zero_acceleration_);
  Json result = {{"q", json_of(input.q)}};
  const Vector zero = Vector::Zero(nv());
  result["v"] = json_of(input.v.value_or(zero));
  result["a"] = json_of(input.a.value_or(zero));
  result["tau"] = json_of(input.tau.value_or(zero));
  add_dynamics(s, result);
  add_matrices(s, result);
  add_derivatives(s, result);
  add_totals(s, result);
  add_manifold(s, result);
  add_named(s, input, result);
  if (input.external && is_requested("fext")) result["fext"] = external(s, *input.external);
  for (const std::string& name : frames) {
    Json found = frame(s, name);
    if (!found.is_null()) result["frames"][name] = std::move(found);
  }
  return result;
}

Json StateQuantities::with_names(const Json& fields) const {
  Json named = Json::object();
  const bool has_pose = fields.contains("R") && fields.contains("p") &&
                        short_names_.count("R") == 0 && short_names_.count("p") == 0;
  for (const auto& [field, value] : fields.items()) {
    if (field == "frames") {
      for (const auto& [frame, own] : value.items()) named["frames"][frame] = with_names(own);
      continue;
    }
    if (short_names_.count(field) > 0) {
      named[field] = value;
    } else if (field == "fext") {
      named["external"] = with_names(value);
    } else if (has_pose && field == "p") {
      continue;
    } else if (has_pose && field == "R") {
      Json pose = value;  // the homogeneous matrix
      for (std::size_t i = 0; i < 3; ++i) pose[i].push_back(fields["p"][i]);
      pose.push_back({0, 0, 0, 1});
      named["frame_pose"] = pose;
    } else {
      Json* place = &named;
      for (const std::string& key : key_path(field)) place = &(*place)[key];
      *place = value;
    }
  }
  return named;
}

}  // namespace limb::cli
