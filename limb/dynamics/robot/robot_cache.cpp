#include "limb/dynamics/robot/robot_cache.hpp"

#include <algorithm>

#include "limb/dynamics/kinematics/check_state.hpp"
#include "limb/dynamics/kinematics/forward_kinematics_impl.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/model/core/model_impl.hpp"

namespace limb {
namespace {

using Names = std::vector<std::pair<std::string_view, int>>;

int look_up(const char* call, const char* kind, const Names& names, std::string_view name) {
  const auto found =
      std::lower_bound(names.begin(), names.end(), name,
                       [](const auto& entry, std::string_view key) { return entry.first < key; });
  if (found == names.end() || found->first != name) {
    model_detail::fail_lookup(call, kind, name, names);
  }
  return found->second;
}

}  // namespace

Robot::Cache::Cache(std::shared_ptr<const Model<double>> robot,
                    const JointEffects& effects_of_joints)
    : model(std::move(robot)),
      effects(effects_of_joints),
      kinematics(*model),
      work(*model),
      subtree(*model),
      budget_scratch(*model),
      factor(*model),
      budget{TorqueBudget<double>(*model)},
      partition{BaseJointPartition<double>(*model)} {
  const int n = model->nv();
  const auto add = [](Names& names, const auto& things, std::size_t first) {
    for (std::size_t i = first; i < things.size(); ++i) {
      names.emplace_back(things[i].name, static_cast<int>(i));
    }
    std::sort(names.begin(), names.end());
  };
  add(frames, model->frames(), 0);
  add(joints, model->bodies(), 1);

  q.resize(model->nq());
  neutral(*model, q);
  v = a = a_given = tau_given = VectorX<double>::Zero(n);
  external.reserve(frames.size());
  version.fill(latest_version);

  jacobians.resize(3 * frames.size());
  for (auto& jacobian : jacobians) jacobian.value.resize(6, n);
  for (auto* matrix : {&M.value, &M_inverse.value, &C.value}) matrix->resize(n, n);
  for (auto* vector : {&bias, &gravity, &tau, &tau_of_a, &a_of_tau}) vector->value.resize(n);
  com_jacobian.value.resize(3, n);
  A_G.value.resize(6, n);
  dA_G.value.resize(6, n);
  jacobian_rate.value.resize(6, n);
  q_moved = q;
  v_between = motion_tau = torques_a = derivatives_tau = v;
  constrained_tau = parameter_tau = constrained_parameter_tau = a_by_parameters = v;
  for (auto* vector : {&motion.value.a, &torques.value.tau, &impact.value.v}) vector->resize(n);
  make_constraints();
}

void Robot::Cache::make_constraints() {
  set.emplace(*model, contacts, all_loops(*model));
  constraint_work.emplace(*model, *set);
  constrained_work.reset();
  constrained.value.reset();
  impact_derivatives.value.reset();
  for (auto* f : {&motion.value.f, &torques.value.f, &impact.value.impulse}) f->resize(set->rows());
  changed(kExternal);
}

void Robot::Cache::changed(Level level) {
  ++latest_version;
  for (int i = level; i < kLevels; ++i) version[static_cast<std::size_t>(i)] = latest_version;
  // Order::position corresponds to kPosition and so on: orders below the change stay valid.
  using Order = Kinematics<double>::Order;
  kinematics.order = std::min(kinematics.order, static_cast<Order>(level));
}

const Kinematics<double>& Robot::Cache::updated_kinematics(Kinematics<double>::Order order) {
  using Order = Kinematics<double>::Order;
  const Coupling<double>& coupling = model->coupling();
  while (kinematics.order < order) {
    switch (kinematics.order) {
      case Order::none:
        coupling.expand_position(q.data(), kinematics.q.data());
        kinematics_detail::positions(*model, kinematics);
        kinematics.order = Order::position;
        break;
      case Order::position:
        coupling.expand_velocity(v.data(), kinematics.v.data());
        kinematics_detail::velocities(*model, kinematics);
        kinematics.order = Order::velocity;
        break;
      default:
        coupling.expand_velocity(a.data(), kinematics.a.data());
        kinematics_detail::accelerations(*model, kinematics, kinematics.a.data(),
                                         kinematics.A_WB_B);
        kinematics.order = Order::acceleration;
    }
    ++evaluations;
  }
  return kinematics;
}

void Robot::Cache::inverse_dynamics(VectorIn<double>& acceleration, VectorOut<double> torque) {
  if (external.empty()) {
    limb::rnea(*model, work, q, v, acceleration, torque, effects);
  } else {
    limb::rnea(*model, work, q, v, acceleration, external, torque, effects);
  }
}

FrameId Robot::Cache::frame(const char* call, std::string_view name) const {
  return FrameId(look_up(call, "frame", frames, name));
}

const Coupling<double>::Row& Robot::Cache::own_row(const char* call, std::string_view joint) const {
  const int body = look_up(call, "joint", joints, joint);
  const auto& row = model->coupling().rows()[static_cast<std::size_t>(body - 1)];
  if (row.yq < 0) {
    throw Error(std::string(call) + ": joint '" + std::string(joint) +
                "' follows others and has no coordinate of its own");
  }
  return row;
}

void Robot::Cache::check_v(const char* call, const char* argument, VectorIn<double>& given) const {
  check_velocity(call, argument, *model, given);
  check_finite(call, argument, std::span(given.data(), static_cast<std::size_t>(given.size())));
}

void Robot::Cache::store_q(VectorIn<double>& given) {
  q = given;
  const auto& rows = model->coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int offset = quaternion_offset(model->bodies()[i + 1].joint.type());
    if (offset < 0) continue;
    auto quaternion = q.segment<4>(rows[i].yq + offset);
    // Unit to rounding is left unchanged, so that q() returns the given numbers.
    const double excess = quaternion.squaredNorm() - 1;
    if (std::abs(excess) > 4 * epsilon<double>()) quaternion /= quaternion.norm();
  }
}

void Robot::Cache::fail_singular(const char* call, int y) {
  // The factorization starts at the tips, also for coupled robots, so it names the joint without
  // inertia and not one that only becomes singular because of it.
  const FactorReport report = factorize_mass(*model, work, q, factor, effects);
  if (!report.ok()) y = report.velocity;
  const auto& rows = model->coupling().rows();
  std::size_t i = 0;
  const auto has_y = [&](const Coupling<double>::Row& row) {
    return row.yq >= 0 && std::any_of(row.terms.begin(), row.terms.end(),
                                      [&](const auto& term) { return term.y == y; });
  };
  while (!has_y(rows[i])) ++i;
  fail_computation(call, "the mass matrix is singular: no inertia opposes joint '" +
                             model->bodies()[i + 1].name + "', velocity " + std::to_string(y));
}

}  // namespace limb
