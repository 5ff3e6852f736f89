#include "limb/dynamics/robot/robot.hpp"

#include <algorithm>

#include "limb/dynamics/kinematics/check_state.hpp"
#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/robot/robot_cache.hpp"
#include "limb/model/core/load.hpp"

namespace limb {

using Order = Kinematics<double>::Order;

Robot Robot::load(const std::string& path, Base base, const JointEffects& effects) {
  return Robot(load_model(path, base), effects);
}

Robot::Robot(Model<double> model, const JointEffects& effects)
    : cache_(std::make_unique<Cache>(std::make_shared<const Model<double>>(std::move(model)),
                                     effects)) {}
Robot::Robot(const Robot& other)
    : cache_(std::make_unique<Cache>(other.cache_->model, other.cache_->effects)) {
  cache_->q = other.cache_->q;
  cache_->v = other.cache_->v;
  cache_->a = other.cache_->a;
  cache_->external.assign(other.cache_->external.begin(), other.cache_->external.end());
  cache_->contacts = other.cache_->contacts;
  cache_->make_constraints();
}
Robot& Robot::operator=(const Robot& other) {
  return *this = Robot(other);
}
Robot::Robot(Robot&& other) noexcept = default;
Robot& Robot::operator=(Robot&& other) noexcept = default;
Robot::~Robot() = default;

const Model<double>& Robot::model() const {
  return *cache_->model;
}
const JointEffects& Robot::effects() const {
  return cache_->effects;
}

// Arguments may alias the stored state, so each part is stored before the following ones are
// zeroed.
void Robot::set_state(VectorIn<double>& q, VectorIn<double>& v) {
  check_configuration("Robot::set_state", "q", *cache_->model, q);
  cache_->check_v("Robot::set_state", "v", v);
  cache_->store_q(q);
  set_velocity(v);
  cache_->changed(Cache::kPosition);
}
void Robot::set_state(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& a) {
  check_configuration("Robot::set_state", "q", *cache_->model, q);
  cache_->check_v("Robot::set_state", "v", v);
  cache_->check_v("Robot::set_state", "a", a);
  cache_->store_q(q);
  cache_->v = v;
  set_acceleration(a);
  cache_->changed(Cache::kPosition);
}
void Robot::set_position(VectorIn<double>& q) {
  check_configuration("Robot::set_position", "q", *cache_->model, q);
  cache_->store_q(q);
  cache_->v.setZero();
  cache_->a.setZero();
  cache_->external.clear();
  cache_->changed(Cache::kPosition);
}
void Robot::set_velocity(VectorIn<double>& v) {
  cache_->check_v("Robot::set_velocity", "v", v);
  cache_->v = v;
  cache_->a.setZero();
  cache_->external.clear();
  cache_->changed(Cache::kVelocity);
}
void Robot::set_acceleration(VectorIn<double>& a) {
  cache_->check_v("Robot::set_acceleration", "a", a);
  cache_->a = a;
  cache_->external.clear();
  cache_->changed(Cache::kAcceleration);
}
void Robot::set_external(std::string_view frame, const Force<double>& F_F) {
  const FrameId id = cache_->frame("Robot::set_external", frame);
  check_finite("Robot::set_external", "f", std::span(F_F.f.data(), 3));
  check_finite("Robot::set_external", "n", std::span(F_F.n.data(), 3));
  cache_->changed(Cache::kExternal);
  for (FrameWrench<double>& wrench : cache_->external) {
    if (wrench.frame == id) {
      wrench.F_F = F_F;
      return;
    }
  }
  cache_->external.push_back({id, F_F});
}
void Robot::clear_external() {
  cache_->changed(Cache::kExternal);
  cache_->external.clear();
}

const VectorX<double>& Robot::q() const {
  return cache_->q;
}
const VectorX<double>& Robot::v() const {
  return cache_->v;
}
const VectorX<double>& Robot::a() const {
  return cache_->a;
}
int Robot::position_index(std::string_view joint) const {
  return cache_->own_row("Robot::position_index", joint).yq;
}
int Robot::velocity_index(std::string_view joint) const {
  return cache_->own_row("Robot::velocity_index", joint).terms[0].y;
}

const MatrixX<double>& Robot::mass_matrix() const {
  Cache& c = *cache_;
  return c.get(c.M, Cache::kPosition,
               [&](MatrixX<double>& M) { limb::crba(*c.model, c.work, c.q, M, c.effects); });
}
const MatrixX<double>& Robot::mass_inverse() const {
  Cache& c = *cache_;
  return c.get(c.M_inverse, Cache::kPosition, [&](MatrixX<double>& inverse) {
    const FactorReport report =
        limb::mass_inverse(*c.model, c.work, c.q, c.factor, inverse, c.effects);
    if (!report.ok()) c.fail_singular("Robot::mass_inverse", report.velocity);
  });
}
const VectorX<double>& Robot::bias() const {
  Cache& c = *cache_;
  return c.get(c.bias, Cache::kVelocity,
               [&](VectorX<double>& h) { limb::bias(*c.model, c.work, c.q, c.v, h, c.effects); });
}
const VectorX<double>& Robot::gravity() const {
  Cache& c = *cache_;
  return c.get(c.gravity, Cache::kPosition,
               [&](VectorX<double>& g) { limb::gravity(*c.model, c.work, c.q, g); });
}
const VectorX<double>& Robot::inverse_dynamics() const {
  Cache& c = *cache_;
  return c.get(c.tau, Cache::kExternal,
               [&](VectorX<double>& tau) { c.inverse_dynamics(c.a, tau); });
}
const VectorX<double>& Robot::inverse_dynamics(VectorIn<double>& a) const {
  Cache& c = *cache_;
  c.check_v("Robot::inverse_dynamics", "a", a);
  return c.get(c.tau_of_a, c.a_given, a, Cache::kExternal,
               [&](VectorX<double>& tau) { c.inverse_dynamics(c.a_given, tau); });
}
const VectorX<double>& Robot::forward_dynamics(VectorIn<double>& tau) const {
  Cache& c = *cache_;
  c.check_v("Robot::forward_dynamics", "tau", tau);
  return c.get(c.a_of_tau, c.tau_given, tau, Cache::kExternal, [&](VectorX<double>& a) {
    const FactorReport report =
        c.external.empty()
            ? limb::aba(*c.model, c.work, c.q, c.v, c.tau_given, a, c.effects)
            : limb::aba(*c.model, c.work, c.q, c.v, c.tau_given, c.external, a, c.effects);
    if (!report.ok()) c.fail_singular("Robot::forward_dynamics", report.velocity);
  });
}

const MatrixX<double>& Robot::coriolis_matrix() const {
  Cache& c = *cache_;
  return c.get(c.C, Cache::kVelocity, [&](MatrixX<double>& C) {
    limb::coriolis_matrix(*c.model, c.updated_kinematics(Order::velocity),
                          c.budget_scratch.lagrange, C);
  });
}
const ChristoffelTensor<double>& Robot::christoffel() const {
  Cache& c = *cache_;
  return *c.get(c.gamma, Cache::kPosition, [&](std::optional<ChristoffelTensor<double>>& gamma) {
    if (!gamma) gamma.emplace(c.model->nv());
    limb::christoffel(*c.model, c.updated_kinematics(Order::position), c.budget_scratch.lagrange,
                      *gamma);
  });
}
const VelocitySplit& Robot::centrifugal_coriolis_split() const {
  Cache& c = *cache_;
  return c.get(c.split, Cache::kPosition, [&](VelocitySplit& split) {
    const Eigen::Index n = c.model->nv();
    split.squares.resize(n, n);
    split.products.resize(n, n * (n - 1) / 2);
    limb::centrifugal_coriolis_split(*c.model, c.updated_kinematics(Order::position),
                                     c.budget_scratch.lagrange, split.squares, split.products);
  });
}
const TorqueBudget<double>& Robot::torque_budget() const {
  Cache& c = *cache_;
  return c.get(c.budget, Cache::kExternal, [&](TorqueBudget<double>& budget) {
    limb::torque_budget(*c.model, c.updated_kinematics(Order::acceleration), c.budget_scratch,
                        c.external, budget, c.effects);
  });
}

double Robot::kinetic_energy() const {
  Cache& c = *cache_;
  return c.get(c.kinetic, Cache::kVelocity, [&](double& energy) {
    energy = limb::kinetic_energy(*c.model, c.updated_kinematics(Order::velocity), c.effects);
  });
}
double Robot::potential_energy() const {
  Cache& c = *cache_;
  return c.get(c.potential, Cache::kPosition, [&](double& energy) {
    energy = limb::potential_energy(*c.model, c.updated_kinematics(Order::position));
  });
}
const Vector3<double>& Robot::center_of_mass() const {
  Cache& c = *cache_;
  return c.get(c.com, Cache::kPosition, [&](Vector3<double>& p) {
    p = limb::center_of_mass(*c.model, c.updated_kinematics(Order::position));
  });
}
const Vector3<double>& Robot::center_of_mass_velocity() const {
  Cache& c = *cache_;
  return c.get(c.com_velocity, Cache::kVelocity, [&](Vector3<double>& v) {
    v = limb::center_of_mass_velocity(*c.model, c.updated_kinematics(Order::velocity));
  });
}
const Vector3<double>& Robot::center_of_mass_acceleration() const {
  Cache& c = *cache_;
  return c.get(c.com_acceleration, Cache::kAcceleration, [&](Vector3<double>& a) {
    a = limb::center_of_mass_acceleration(*c.model, c.updated_kinematics(Order::acceleration));
  });
}
const Matrix3X<double>& Robot::center_of_mass_jacobian() const {
  Cache& c = *cache_;
  return c.get(c.com_jacobian, Cache::kPosition, [&](Matrix3X<double>& J) {
    limb::center_of_mass_jacobian(*c.model, c.updated_kinematics(Order::position), c.subtree, J);
  });
}
const Force<double>& Robot::centroidal_momentum() const {
  Cache& c = *cache_;
  return c.get(c.momentum, Cache::kVelocity, [&](Force<double>& h) {
    h = limb::centroidal_momentum(*c.model, c.updated_kinematics(Order::velocity));
  });
}
const Force<double>& Robot::centroidal_momentum_rate() const {
  Cache& c = *cache_;
  return c.get(c.momentum_rate, Cache::kAcceleration, [&](Force<double>& dh) {
    dh = limb::centroidal_momentum_rate(*c.model, c.updated_kinematics(Order::acceleration));
  });
}
const Matrix6X<double>& Robot::centroidal_matrix() const {
  Cache& c = *cache_;
  return c.get(c.A_G, Cache::kPosition, [&](Matrix6X<double>& A_G) {
    limb::centroidal_matrix(*c.model, c.updated_kinematics(Order::position), c.subtree, A_G);
  });
}
const Matrix6X<double>& Robot::centroidal_matrix_rate() const {
  Cache& c = *cache_;
  return c.get(c.dA_G, Cache::kVelocity, [&](Matrix6X<double>& dA_G) {
    limb::centroidal_matrix_rate(*c.model, c.updated_kinematics(Order::velocity), c.subtree, dA_G);
  });
}

long Robot::evaluations() const {
  return cache_->evaluations;
}

}  // namespace limb
