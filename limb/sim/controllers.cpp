#include "limb/sim/controllers.hpp"

#include <cmath>
#include <numbers>

#include "limb/dynamics/check_state.hpp"
#include "limb/dynamics/crba.hpp"
#include "limb/dynamics/manifold.hpp"
#include "limb/dynamics/motors.hpp"
#include "limb/dynamics/rnea.hpp"

namespace limb {
namespace {

using Kind = ControllerSetup::Kind;
using Vector = VectorX<double>;

/// What the feedback controllers share: made once, then nothing allocates.
struct Feedback {
  Feedback(const Model<double>& m, const ControllerSetup& s)
      : model(m),
        work(m, Loops::open),
        setup(s),
        driven(Vector::Zero(m.velocity_size())),
        error(driven),
        other(driven) {
    for (int i = 0; i < driven.size(); ++i) driven[i] = is_driven(m, i) ? 1 : 0;
  }
  /// kp (target - q) - kd v
  void pd(const ControlInput& now, Vector& result) {
    difference(model, now.q, setup.target, error);
    result = setup.kp.cwiseProduct(error) - setup.kd.cwiseProduct(now.v);
  }

  const Model<double>& model;
  Workspace<double> work;
  ControllerSetup setup;
  Vector driven;  ///< 1 where there is a motor, else 0
  Vector error, other;
};

void check_gain(const Model<double>& model, const char* name, const Vector& gain) {
  check_velocity("make_controller", name, model, gain);
  for (Eigen::Index i = 0; i < gain.size(); ++i) {
    check_not_negative("make_controller", name, gain[i]);
  }
}

}  // namespace

void set_gains(const Model<double>& model, VectorIn<double>& q, double frequency,
               double damping_ratio, ControllerSetup& setup) {
  check_positive("set_gains", "frequency", frequency);
  check_not_negative("set_gains", "damping_ratio", damping_ratio);
  const int n = model.velocity_size();
  const double w = 2 * std::numbers::pi * frequency;
  Vector inertia = Vector::Ones(n);
  if (setup.kind != Kind::computed_torque) {
    Workspace<double> work(model, Loops::open);
    MatrixX<double> M(n, n);
    crba(model, work, q, M);
    inertia = M.diagonal();
  }
  setup.kp = w * w * inertia;
  setup.kd = 2 * damping_ratio * w * inertia;
}

Controller make_controller(const Model<double>& model, const ControllerSetup& setup) {
  const int n = model.velocity_size();
  if (setup.kind == Kind::none) return [](const ControlInput&, Vector& tau) { tau.setZero(); };
  if (setup.kind == Kind::open_loop) {
    check_velocity("make_controller", "torque", model, setup.torque);
    check_velocity("make_controller", "amplitude", model, setup.amplitude);
    check_velocity("make_controller", "frequency", model, setup.frequency);
    return [setup](const ControlInput& now, Vector& tau) {
      for (Eigen::Index i = 0; i < tau.size(); ++i) {
        tau[i] = setup.torque[i] +
                 setup.amplitude[i] * std::sin(2 * std::numbers::pi * setup.frequency[i] * now.t);
      }
    };
  }
  check_configuration("make_controller", "target", model, setup.target);
  check_gain(model, "kp", setup.kp);
  check_gain(model, "kd", setup.kd);
  const auto shared = std::make_shared<Feedback>(model, setup);
  switch (setup.kind) {
    case Kind::pd:
      return [shared](const ControlInput& now, Vector& tau) {
        shared->pd(now, tau);
        tau = tau.cwiseProduct(shared->driven);
      };
    case Kind::gravity:
      return [shared](const ControlInput& now, Vector& tau) {
        shared->pd(now, tau);
        gravity(shared->model, shared->work, now.q, shared->other);
        tau = (tau + shared->other).cwiseProduct(shared->driven);
      };
    default:
      if (shared->driven.sum() < n) {
        throw Error(
            "make_controller: computed torque needs a motor for every velocity, and this robot has "
            "some without");
      }
      return [shared](const ControlInput& now, Vector& tau) {
        shared->pd(now, shared->other);
        rnea(shared->model, shared->work, now.q, now.v, shared->other, tau);
      };
  }
}

}  // namespace limb
